"""Text on its way to people: nothing in it may command a terminal, and its reader may leave early."""

import json
import os
import sys
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

_LAID_OUT: Final = "\n\t"


def harmless(text: str) -> str:
    """The text with what steers terminals (control and format characters) written as escapes like `\\x1b`.

    Programs choose what they call themselves and what they say; line ends and tabs stay as they are.
    """
    return "".join(
        each if each in _LAID_OUT or unicodedata.category(each) not in ("Cc", "Cf", "Cs") else _escape(each)
        for each in text
    )


def say(text: str, end: str = "\n") -> None:
    """Print to standard output; where a reader has left (`| head`), nothing more is written, quietly."""
    try:
        print(harmless(text), end=end, flush=True)
    except BrokenPipeError:
        # What is written from now on, also by Python at its end, has to go somewhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def say_json(value: Mapping[str, Any]) -> None:
    """Print a JSON document: all but printable ASCII is escaped, so that it commands nothing either."""
    say(json.dumps(value, indent=2, default=str).replace("\x7f", "\\u007f"))


def complain(text: str) -> None:
    """Print to standard error."""
    print(harmless(text), file=sys.stderr, flush=True)


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
