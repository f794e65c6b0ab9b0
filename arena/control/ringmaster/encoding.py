"""Values of a control file as JSON: between the process that executes it and ours, no pickles pass.

Plain values and the ringmaster's words come over as what they are, functions as numbers to call them by, and
anything else as its description, which no setting accepts.
"""

import json
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from arena.control.parameters import Explicit, Linear, Logarithmic
from arena.control.ringmaster.definitions import Definition

MAX_DEPTH: Final = 50
MAX_ITEMS: Final = 1_000_000
_SCALES: Final = {"Linear": Linear, "Logarithmic": Logarithmic, "Explicit": Explicit}
# Lists in Python 2, where control files come from.
_LISTS: Final = (list, set, frozenset, range, map, filter, zip, reversed, types.GeneratorType)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))


class UnencodableError(ValueError):
    """Values that are nested too deeply, too many, or no text."""


@dataclass(frozen=True)
class Opaque:
    """Something that only the control file's own process has."""

    text: str

    def __repr__(self) -> str:
        return self.text


class Encoder:
    """Encodes values; `functions` are those that have been met, by the numbers they are encoded as."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []
        self._items = 0

    def text(self, value: Any) -> str:
        """The value as one line of JSON. Raises UnencodableError."""
        self._items = 0
        return json.dumps(self._encoded(value, 0))

    def _encoded(self, value: Any, depth: int) -> Any:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise UnencodableError(
                f"its values are nested more than {MAX_DEPTH} deep, or more than {MAX_ITEMS:,} in all"
            )
        if isinstance(value, str) and _SURROGATE.search(value):
            raise UnencodableError(
                f"{value[:40]!r} is no text: it holds a half of a character; leave that out"
            )
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Definition):
            return ["definition", value.word, self._encoded(dict(value.arguments), depth + 1)]
        if type(value).__name__ in _SCALES and type(value) in _SCALES.values():
            # Their fields are their arguments.
            return ["scale", type(value).__name__, self._several(vars(value).values(), depth)]
        if isinstance(value, dict):
            return ["dict", [self._several(pair, depth) for pair in value.items()]]
        if isinstance(value, tuple):
            return ["tuple", self._several(value, depth)]
        if isinstance(value, (*_LISTS, *_VIEWS)):
            return ["list", self._several(value, depth)]
        if callable(value):
            self.functions.append(value)
            return ["function", len(self.functions) - 1]
        return ["opaque", value.text if isinstance(value, Opaque) else f"a {type(value).__name__}"]

    def _several(self, values: Any, depth: int) -> list[Any]:
        return [self._encoded(value, depth + 1) for value in values]


def decoded(text: str | bytes, function: Callable[[int], Any] | None = None) -> Any:
    """The value of a line of JSON; `function` makes functions of their numbers. Raises ValueError."""
    try:
        return _decoded(json.loads(text), function)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _decoded(found: Any, function: Callable[[int], Any] | None) -> Any:
    def several(items: list[Any]) -> Iterator[Any]:
        return (_decoded(item, function) for item in items)

    match found:
        case str() if _SURROGATE.search(found):
            raise ValueError(f"{found[:40]!r} is no text")
        case None | bool() | int() | float() | str():
            return found
        case ["definition", str(word), arguments]:
            return Definition(word, _decoded(arguments, function))
        case ["scale", str(name), list(arguments)] if name in _SCALES:
            return _SCALES[name](*several(arguments))
        case ["dict", list(pairs)]:
            try:
                return {_decoded(key, function): _decoded(value, function) for key, value in pairs}
            except TypeError:
                raise ValueError(
                    "a key of a dictionary must be text or a number, not a list or a range"
                ) from None
        case ["tuple", list(items)]:
            return tuple(several(items))
        case ["list", list(items)]:
            return list(several(items))
        case ["function", int(number)] if function is not None:
            return function(number)
        case ["opaque", str(text)]:
            return Opaque(text)
    raise ValueError(f"{str(found)[:100]} is no value of a control file")
