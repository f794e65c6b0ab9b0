"""Variables of the environment that hold tokens: read by the arena, and withheld from all that it starts."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final

# Where a control file names a variable with a token, in whatever table.
TOKEN_ENV: Final = "token_env"
_withheld: Final[dict[str, str]] = {}


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


def variables_named(value: Any) -> Iterator[str]:
    """The variables that a value of a control file names, in whatever tables and lists it holds."""
    if isinstance(value, list):
        for item in value:
            yield from variables_named(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == TOKEN_ENV and isinstance(item, str):
                yield item
            yield from variables_named(item)
