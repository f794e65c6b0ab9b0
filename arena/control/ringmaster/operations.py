"""What a control file may do with values without being executed: all of it cheap and without effects.

Whatever could run long, take much memory or reach Python's insides is left out or bounded.
"""

import ast
import itertools
import math
import operator
import re
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

MAX_LENGTH: Final = 1_000_000
MAX_NUMBER: Final = 10**100

MATHEMATICS: Final[Mapping[str, Any]] = {
    name: getattr(math, name)
    for name in (
        "ceil",
        "cos",
        "exp",
        "floor",
        "log",
        "log2",
        "log10",
        "pi",
        "e",
        "pow",
        "sin",
        "sqrt",
        "tan",
    )
}


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    return list(numbers) if len(numbers) <= MAX_LENGTH else _too_long()


def _sum(items: Any, start: Any = 0) -> Any:
    if isinstance(start, list):
        # Adding them one after another copies the first ones again and again.
        return [*start, *itertools.islice(itertools.chain(*items), MAX_LENGTH + 1)]
    if not isinstance(start, int | float):
        raise TypeError(f"a sum that begins with a {type(start).__name__} is not read here")
    return sum(items, start)


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{function.__name__: function for function in (abs, bool, float, int, len, max, min)},
    **{function.__name__: function for function in (all, any, dict, list, set, sorted, tuple)},
    "str": lambda value="": str(_plain(value)),
    "range": _range,
    "sum": _sum,
    "zip": lambda *lists: _zipped(lists),
    "enumerate": lambda items, start=0: [*enumerate(items, start)],
    "reversed": lambda items: [*reversed(items)],
    "round": lambda number, digits=None: _rounded(number, digits),
}

_TEXT_METHODS: Final = ("capitalize", "endswith", "format", "isdigit", "join", "lower", "lstrip", "replace")
_MORE_TEXT_METHODS: Final = (
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
    "zfill",
)
_METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset(_TEXT_METHODS + _MORE_TEXT_METHODS),
    list: frozenset({"append", "copy", "count", "extend", "index", "insert", "sort"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"copy", "get", "items", "keys", "setdefault", "update", "values"}),
    set: frozenset({"add", "union"}),
}

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
}

UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}

COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}


class TooLarge(ValueError):
    """A value that would take too much time or memory."""


def binary(kind: ast.operator, left: Any, right: Any) -> Any:
    """The value of an operation. Raises TypeError, ArithmeticError, and ValueError for what is too large."""
    apply = _BINARY.get(type(kind))
    if apply is None:
        raise TypeError(f"the operator {type(kind).__name__} is not read here")
    if isinstance(kind, ast.Mod) and isinstance(left, str):
        _check_formatting(left, right)
    if isinstance(kind, ast.Pow) and abs(right) > 1000:
        raise TooLarge(f"an exponent of {right}: at most 1000 is allowed")
    if isinstance(kind, ast.Mult):
        for items, times in ((left, right), (right, left)):
            if isinstance(items, str | list | tuple) and len(items) * times > MAX_LENGTH:
                _too_long()
    return checked(apply(left, right))


def checked(value: Any) -> Any:
    """The value, if it is of a size that control files need. Raises TooLarge."""
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise TooLarge(f"numbers may be at most {MAX_NUMBER:.0e}")
    if isinstance(value, str | list | tuple | dict | set) and len(value) > MAX_LENGTH:
        _too_long()
    return value


def method(owner: Any, name: str) -> Callable[..., Any]:
    """A method of a value. Raises TypeError for those that are not read."""
    if name not in _METHODS.get(type(owner), ()):
        raise TypeError(f"the method {type(owner).__name__}.{name} is not read here")
    if name == "format":
        return lambda *values, **named: _format(owner, values, named)
    if name == "join":
        return lambda items: _join(owner, items)
    if name == "replace":
        return lambda old, new: _replaced(owner, old, new)
    if name == "extend":
        return lambda items: owner.extend(_no_longer(list(items), MAX_LENGTH - len(owner)))
    if name == "zfill":
        return lambda width: owner.zfill(min(width, 1000))
    found: Callable[..., Any] = getattr(owner, name)
    return found


def formatted(value: Any, specification: str) -> str:
    """The text of a value in an f-string."""
    _check_widths(specification)
    return format(_plain(value), specification)


def _format(text: str, values: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    places = [*string.Formatter().parse(text)]
    for _, name, specification, _ in places:
        if re.search(r"[.\[]", name or ""):
            raise TypeError(f"{{{name}}}: parts of values are not read here")
        _check_widths(specification or "")
    _check_filled(len(places), (*values, *named.values()))
    return text.format(*values, **named)


def _replaced(text: str, old: str, new: str) -> str:
    if not old or text.count(old) * len(new) > MAX_LENGTH:
        _too_long()
    return text.replace(old, new)


def _join(separator: str, items: Any) -> str:
    texts = list(items)
    if sum(map(len, texts)) + len(separator) * len(texts) > MAX_LENGTH:
        _too_long()
    return separator.join(texts)


def _zipped(lists: tuple[Any, ...]) -> list[Any]:
    if len(lists) * min(map(len, lists), default=0) > MAX_LENGTH:
        _too_long()
    return [*zip(*lists, strict=False)]


def _rounded(number: Any, digits: Any) -> Any:
    if isinstance(digits, int) and abs(digits) > 1000:
        raise TooLarge(f"round(..., {digits}): at most 1000 digits are allowed")
    return round(number, digits)


def _no_longer(items: list[Any], most: int) -> list[Any]:
    return items if len(items) <= most else _too_long()


def _check_formatting(text: str, given: Any) -> None:
    text = text.replace("%%", "")
    if re.search(r"%\([^()]*\(", text):
        raise TooLarge("the names within a format may hold no brackets")
    # In '%(name)s' the name is no part of the width.
    places = re.findall(r"%(?:\([^()]*\))?[^a-zA-Z%]*[a-zA-Z]", text)
    for place in places:
        _check_widths(re.sub(r"\([^()]*\)", "", place))
    by_name = isinstance(given, dict) and bool(places) and all(place[1] == "(" for place in places)
    _check_filled(len(places), given.values() if by_name else given if isinstance(given, tuple) else [given])


def _check_filled(places: int, values: Iterable[Any]) -> None:
    if places * max((len(str(_plain(value))) for value in values), default=0) > MAX_LENGTH:
        _too_long()


def _plain(value: Any) -> Any:
    # A small list can hold itself so often that its text would fill the memory.
    if value is not None and not isinstance(value, str | int | float):
        raise TypeError(f"a {type(value).__name__} can't be made text here")
    return value


def _check_widths(text: str) -> None:
    if re.search(r"\d{4}|[*{]", text.replace("%%", "")):
        raise TooLarge(f"{text!r}: formats may hold no numbers of four digits, and neither * nor nested ones")


def _too_long() -> Any:
    raise TooLarge(f"lists and texts may have at most {MAX_LENGTH} items")
