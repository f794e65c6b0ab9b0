"""TOML from outside: control files, maps, tokens and settings, of a size and depth that they need."""

import re
import tomllib
from typing import Any, Final

MAX_CHARACTERS: Final = 2**20
MAX_NESTING: Final = 32
# Python writes no longer whole number, and reads longer ones in hexadecimal, octal and binary digits only.
_DIGITS: Final = 4300
_TOO_LARGE: Final = 10**_DIGITS
_LONG_NUMBER: Final = f"a whole number has more than {_DIGITS} digits: write a shorter one"
# The standard library's parser takes time in the square of a key's parts.
_LONG_KEY: Final = re.compile(
    rf"(?:^|[\[{{,])[ \t]*(?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MAX_NESTING},}}", re.MULTILINE
)


class InvalidTomlError(ValueError):
    """A text that can't be read as TOML; the message says why."""


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises InvalidTomlError, also for one that is too long or nested too deep."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidTomlError(f"it is longer than {MAX_CHARACTERS} characters")
    if _LONG_KEY.search(text):
        raise InvalidTomlError(f"a key has more than {MAX_NESTING} parts, or a line begins like one")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise InvalidTomlError(f"arrays or tables are nested more than {MAX_NESTING} deep") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidTomlError(f"it is not valid TOML: {error}") from None
    except ValueError:
        raise InvalidTomlError(_LONG_NUMBER) from None
    _check(tables)
    return tables


def _check(tables: dict[str, Any]) -> None:
    level: list[Any] = [tables]
    for _ in range(MAX_NESTING):
        values = [
            value
            for container in level
            for value in (container.values() if isinstance(container, dict) else container)
        ]
        if any(isinstance(value, int) and abs(value) >= _TOO_LARGE for value in values):
            raise InvalidTomlError(_LONG_NUMBER)
        level = [value for value in values if isinstance(value, dict | list)]
    if level:
        raise InvalidTomlError(f"arrays or tables are nested more than {MAX_NESTING} deep")
