"""TOML from outside: control files, maps, tokens and settings, of a size and depth that they need."""

import re
import tomllib
from typing import Any, Final

MAX_CHARACTERS: Final = 2**20
MAX_NESTING: Final = 32
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
    except ValueError as error:
        raise InvalidTomlError(f"it is not valid TOML: {error}") from None
    _check_nesting(tables)
    return tables


def _check_nesting(tables: dict[str, Any]) -> None:
    level: list[Any] = [tables]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for container in level
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise InvalidTomlError(f"arrays or tables are nested more than {MAX_NESTING} deep")
