"""The settings of a game of Go, as control files give them."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import Enum
from typing import Self, TypeVar

from referees.api import InvalidSettingError
from referees.go.board import MAX_SIZE, MIN_SIZE
from referees.go.handicap import fixed_handicap, free_handicap

Choice = TypeVar("Choice", bound=Enum)


class Ko(Enum):
    """Which repetitions are forbidden: the recapture in a ko, or every position that has stood before."""

    SIMPLE = "simple"
    POSITIONAL_SUPERKO = "positional_superko"


class Compensation(Enum):
    """The points White gets for Black's handicap stones: none, one for each, or for each but the first."""

    NO = "no"
    FULL = "full"
    SHORT = "short"


class HandicapStyle(Enum):
    """Who places the handicap stones: the standard layout does (`fixed`), or Black (`free`)."""

    FIXED = "fixed"
    FREE = "free"


@dataclass(frozen=True)
class GoSettings:
    """What a game of Go is played under.

    `board_size` is in rows, `komi` in points for White, `handicap` in stones for Black (None or at
    least 2; of free ones Black may place fewer). `self_capture` allows moves that take off the
    mover's own group.
    """

    board_size: int
    komi: float = 7.5
    handicap: int | None = None
    handicap_style: HandicapStyle = HandicapStyle.FIXED
    handicap_compensation: Compensation = Compensation.FULL
    ko: Ko = Ko.SIMPLE
    self_capture: bool = True

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Check every setting.

        Raises InvalidSettingError, which names the setting, its value and the rule.
        """
        known = [field.name for field in fields(cls)]
        for setting in settings:
            if setting not in known:
                near = get_close_matches(setting, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
                raise InvalidSettingError(setting, f"Go has no such setting; {hint}")
        if "board_size" not in settings:
            raise InvalidSettingError("board_size", f"is missing: give a size from {MIN_SIZE} to {MAX_SIZE}")
        size = _board_size(settings["board_size"])
        style = _choice(settings, "handicap_style", cls.handicap_style)
        return cls(
            board_size=size,
            komi=_komi(settings.get("komi", cls.komi)),
            handicap=_handicap(settings.get("handicap"), size, style),
            handicap_style=style,
            handicap_compensation=_choice(settings, "handicap_compensation", cls.handicap_compensation),
            ko=_choice(settings, "ko", cls.ko),
            self_capture=_self_capture(settings.get("self_capture", cls.self_capture)),
        )

    @property
    def free_handicap(self) -> int | None:
        """How many stones Black may place; None without a free handicap."""
        return self.handicap if self.handicap_style is HandicapStyle.FREE else None

    def compensation(self, stones: int) -> int:
        """The points White gets for so many handicap stones on the board."""
        if not stones or self.handicap_compensation is Compensation.NO:
            return 0
        return stones - (self.handicap_compensation is Compensation.SHORT)


def _board_size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not MIN_SIZE <= value <= MAX_SIZE:
        raise InvalidSettingError(
            "board_size", f"{value!r} is not a whole number from {MIN_SIZE} to {MAX_SIZE}"
        )
    return value


def _komi(value: object) -> float:
    # The comparison is false for not-a-number, and holds no surprise for an integer of 400 digits.
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value) + 0.0  # -0.0 becomes 0.0
    raise InvalidSettingError("komi", f"{value!r} is not a finite number of points")


def _handicap(value: object, size: int, style: HandicapStyle) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidSettingError("handicap", f"{value!r} is not a whole number of stones")
    if style is HandicapStyle.FIXED:
        fixed_handicap(value, size)
    else:
        free_handicap(value, size)
    return value


def _choice(settings: Mapping[str, object], setting: str, default: Choice) -> Choice:
    value = settings.get(setting, default.value)
    for choice in type(default):
        if choice.value == value:
            return choice
    allowed = ", ".join(repr(choice.value) for choice in type(default))
    raise InvalidSettingError(setting, f"{value!r} is not one of {allowed}")


def _self_capture(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidSettingError("self_capture", f"{value!r} is neither true nor false")
    return value
