"""The parameters of players under tuning, and how a tuner's numbers become engines' settings.

The Monte Carlo tuner works on numbers from 0 to 1, which a scale maps to values; the cross-entropy
tuner on real numbers, which a transform maps. The formulas are those of Gomill's tuners.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from arena.control.changed_settings import abridge


class InvalidParameterError(ValueError):
    """Parameters that a candidate can't be made of."""


@dataclass(frozen=True)
class Linear:
    """From `low` to `high` in equal steps; `integer` rounds to the nearest whole number, halves up."""

    low: float
    high: float
    integer: bool = False

    def __call__(self, place: float) -> float | int:
        """low + (high - low) * place."""
        return _rounded(self.low + (self.high - self.low) * place, self.integer)


@dataclass(frozen=True)
class Logarithmic(Linear):
    """From `low` to `high` in equal ratios; neither may be 0, and both have the same sign."""

    def __post_init__(self) -> None:
        if self.low == 0 or not 0 < self.high / self.low < math.inf:
            raise InvalidParameterError(
                f"a logarithmic scale can't go from {self.low:g} to {self.high:g}: neither end may be 0, "
                "both must have the same sign, and one may be at most 1e307 times the other"
            )

    def __call__(self, place: float) -> float | int:
        """low * (high / low) ^ place."""
        return _rounded(self.low * math.exp(place * math.log(self.high / self.low)), self.integer)


@dataclass(frozen=True)
class Explicit:
    """One of a few values."""

    values: tuple[Any, ...]

    def __call__(self, place: float) -> Any:
        """The value whose equal share of 0 to 1 holds the place."""
        return self.values[min(int(place * len(self.values)), len(self.values) - 1)]


def _rounded(value: float, integer: bool) -> float | int:
    return math.floor(value + 0.5) if integer else value


@dataclass(frozen=True)
class Bounded:
    """A transform of a control file: an optional exponential, bounds, and rounding."""

    base: float | None = None
    least: float | None = None
    most: float | None = None
    integer: bool = False

    def __call__(self, number: float) -> float | int:
        """The value of a tuner's number; the greatest that there is for too large a power."""
        try:
            value = number if self.base is None else self.base**number
        except OverflowError:
            # A single odd draw must not end a run whose parameters cannot be changed any more.
            value = sys.float_info.max
        if self.least is not None:
            value = max(value, self.least)
        if self.most is not None:
            value = min(value, self.most)
        return _rounded(value, self.integer)


@dataclass(frozen=True)
class GridParameter:
    """A parameter of the Monte Carlo tuner, whose range is split into `split` parts at every level."""

    code: str
    scale: Callable[[float], Any]
    split: int
    format: str

    def value(self, place: float) -> Any:
        """The value at a place from 0 to 1. Raises InvalidParameterError."""
        return _value(self.code, self.scale, place)

    @property
    def terms(self) -> dict[str, Any]:
        """All that its values depend on, as far as it is known: a function is a function."""
        return {f"{self.code}.split": self.split, **_terms(self.code, "scale", self.scale)}


@dataclass(frozen=True)
class NormalParameter:
    """A parameter of the cross-entropy tuner: the distribution it starts from, and its transform."""

    code: str
    mean: float
    variance: float
    transform: Callable[[float], Any]
    format: str

    def value(self, number: float) -> Any:
        """The value of a drawn number. Raises InvalidParameterError."""
        return _value(self.code, self.transform, number)

    @property
    def terms(self) -> dict[str, Any]:
        """All that its values depend on, as far as it is known: a function is a function."""
        return {
            f"{self.code}.initial_mean": self.mean,
            f"{self.code}.initial_variance": self.variance,
            **_terms(self.code, "transform", self.transform),
        }


Parameter = GridParameter | NormalParameter


def _terms(code: str, setting: str, mapping: Callable[[float], Any]) -> dict[str, Any]:
    if not is_dataclass(mapping):
        return {f"{code}.{setting}": "a function"}
    named = {f"{code}.{field.name}": getattr(mapping, field.name) for field in fields(mapping)}
    plain = {name: abridge(str(value)) for name, value in named.items()}
    return {f"{code}.{setting}": type(mapping).__name__.lower(), **plain}


def _value(code: str, scale: Callable[[float], Any], place: float) -> Any:
    try:
        return scale(place)
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        raise InvalidParameterError(f"parameter {code}: no value for {place:g}: {error}") from None


def describe(parameters: Sequence[Parameter], values: Sequence[Any]) -> str:
    """The values in one line, each in its parameter's format."""
    return "; ".join(_formatted(*pair) for pair in zip(parameters, values, strict=True))


def _formatted(parameter: Parameter, value: Any) -> str:
    try:
        return str(parameter.format % value)
    except (TypeError, ValueError, OverflowError):
        return f"[{parameter.code}?{value!r}]"
