"""Tokens that a control file names; their variables are kept from all programs that the arena starts."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from academy.wire.tokens import digest_of

# Where a control file names a variable with a token.
TOKEN_ENV: Final = "token_env"
_withheld: Final[dict[str, str]] = {}


class MissingTokenError(LookupError):
    """The place a token was to come from holds none."""


def token_in(variable: str) -> str:
    """The token that a variable holds, also while it is withheld; empty where it holds none."""
    return _withheld.get(variable) or os.environ.get(variable, "")


@contextmanager
def withheld_tokens(variables: Collection[str]) -> Iterator[None]:
    """Keep variables from all programs and workers that are started in the block."""
    hidden = {name: os.environ.pop(name) for name in variables if name in os.environ}
    _withheld.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            del _withheld[name]
        os.environ.update(hidden)


def variables_named(tables: Mapping[str, Any]) -> Iterator[str]:
    """The variables with tokens that a control file names, in its tables and in those of its players.

    The same word further down is a name that the user chose, as in a player's `environment`.
    """
    players = tables.get("players")
    for table in (*tables.values(), *(players.values() if isinstance(players, dict) else ())):
        if isinstance(table, dict) and isinstance(table.get(TOKEN_ENV), str):
            yield table[TOKEN_ENV]


def token_from(table: str, variable: str | None, file: str | Path | None) -> str | None:
    """The token that a variable or a file of a control file's table holds; None where neither is given.

    Raises MissingTokenError.
    """
    if variable is not None:
        if token := token_in(variable):
            return token
        raise MissingTokenError(f"{table}.token_env: the variable {variable} is not set")
    if file is None:
        return None
    try:
        token = Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as error:
        raise MissingTokenError(f"{table}.token_file: {error}") from None
    if not token:
        raise MissingTokenError(f"{table}.token_file: {file} is empty")
    return token


def token_digest(name: str, parameters: Mapping[str, Any]) -> bytes | None:
    """The digest of the token that a player must have; None where it needs none. Raises MissingTokenError."""
    token = token_from(f"players.{name}", parameters.get(TOKEN_ENV), parameters.get("token_file"))
    return None if token is None else digest_of(token)
