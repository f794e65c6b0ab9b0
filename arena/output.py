"""What the terminal shows: lines, complaints, and counts of games."""

import errno
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from referees.legible_text import legible

# A reader has left (`| head`), or the terminal is closed.
_GONE: Final = (errno.EPIPE, errno.EIO)


def say(text: str, end: str = "\n") -> None:
    """Print to standard output; where a reader or the terminal has gone, nothing more is written, quietly.

    Raises OSError, which names standard output, where it cannot be written.
    """
    try_to_say(text, end)


def try_to_say(text: str, end: str = "\n") -> bool:
    """Print as `say` does; False where the reader or the terminal has just gone."""
    try:
        print(legible(text), end=end, flush=True)
        return True
    except OSError as error:
        if error.errno not in _GONE:
            raise OSError(error.errno, error.strerror, "standard output") from None
        # What is written from now on, also by Python at its end, has to go somewhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return False


def say_json(value: Mapping[str, Any]) -> None:
    """Print a JSON document: all but printable ASCII is escaped, so that it commands nothing either."""
    say(json.dumps(value, indent=2, default=str).replace("\x7f", "\\u007f"))


def complain(text: str) -> None:
    """Print to standard error, if that is still read."""
    with suppress(OSError):
        print(legible(text), file=sys.stderr, flush=True)


def count_text(played: int, total: int | None) -> str:
    """How many games of how many: `12/200`; just `12` without a total, or where fewer are wanted now."""
    return f"{played}" if total is None or played > total else f"{played}/{total}"
