"""Readers of single values in a control file: each returns the value, made ours, or says why not.

A reader takes what the TOML parser gave and raises ValueError with a reason that follows the
setting's path and a colon: `must be a whole number from 1 to 9, not 'x'`.
"""

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import URL

from arena.control.database_urls import database_url, within

T = TypeVar("T")
Reader = Callable[[object], T]

MAX_TEXT: Final = 4096
IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!$%&*+.:;<=>?^_~-]{0,63}")
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_UNITS: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}


def text(value: object) -> str:
    """Any text without NUL, at most 4,096 characters."""
    if not isinstance(value, str):
        raise ValueError(f"must be text in quotes, not {value!r}")
    if "\0" in value or len(value) > MAX_TEXT:
        raise ValueError(f"must be at most {MAX_TEXT} characters, none of them NUL")
    return value


def results_url(folder: Path) -> Reader[URL]:
    """The URL of a results database; the path of a file may be relative to `folder`."""
    return lambda value: within(folder, database_url(text(value)))


def flag(value: object) -> bool:
    """`true` or `false`."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def whole(least: int, most: int) -> Reader[int]:
    """A whole number within limits."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}, not {value!r}")
        return value

    return read


def number(least: float, most: float) -> Reader[float]:
    """A finite number within limits."""

    def read(value: object) -> float:
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not good or not least <= value <= most:  # type: ignore[operator]
            raise ValueError(f"must be a number from {least:g} to {most:g}, not {value!r}")
        return float(value)  # type: ignore[arg-type]

    return read


def choice(*words: str) -> Reader[str]:
    """One of a few words."""

    def read(value: object) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(map(repr, words))}, not {value!r}")
        return str(value)

    return read


def identifier(value: object) -> str:
    """A player's name: at most 64 letters, digits and signs, without blanks, a letter or digit first."""
    name = text(value)
    if not IDENTIFIER.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name: at most 64 letters, digits and !$%&*+.:;<=>?^_~- without blanks, "
            "a letter or digit first"
        )
    return name


def several(reader: Reader[T], most: int) -> Reader[tuple[T, ...]]:
    """A list whose items all suit `reader`."""

    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise ValueError(f"must be a list, not {value!r}")
        if len(value) > most:
            raise ValueError(f"has {len(value)} items, at most {most} are allowed")
        items = []
        for place, item in enumerate(value, start=1):
            try:
                items.append(reader(item))
            except ValueError as error:
                raise ValueError(f"item {place} {error}") from None
        return tuple(items)

    return read


def by_name(reader: Reader[T]) -> Reader[dict[str, T]]:
    """A table whose values all suit `reader`."""

    def read(value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise ValueError(f"must be a table of names and values, not {value!r}")
        items = {}
        for name, item in value.items():
            try:
                items[name] = reader(item)
            except ValueError as error:
                raise ValueError(f"{name!r} {error}") from None
        return items

    return read


def command(value: object) -> tuple[str, ...]:
    """A program and its arguments: a list, or one text that is split as a POSIX shell would split it."""
    if isinstance(value, str):
        try:
            words = tuple(shlex.split(text(value)))
        except ValueError as error:
            raise ValueError(f"can't be split into words ({error}): {value!r}") from None
    else:
        words = several(text, 1000)(value)
    if not words or not words[0]:
        raise ValueError("is empty: it must name a program")
    return words


def memory_size(value: object) -> int:
    """Bytes: a whole number, or text with a unit (`"500 MB"`, `"2 GiB"`)."""
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    else:
        found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None or found[2].lower() not in _UNITS:
            raise ValueError(f"must be bytes or text such as '500 MB' or '2 GiB', not {value!r}")
        size = round(float(found[1]) * _UNITS[found[2].lower()])
    if not 2**20 <= size <= 2**50:
        raise ValueError(f"must be from 1 MiB to 1024 TiB, not {value!r}")
    return size
