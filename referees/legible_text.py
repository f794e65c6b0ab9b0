"""Text of programs and players on its way to people: nothing in it may command what shows it."""

import unicodedata
from typing import Final

_LAID_OUT: Final = "\n\t"
# Controls, formats (bidirectional marks among them), halves of characters, and ends of lines of their own.
_COMMANDING: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def legible(text: str) -> str:
    """The text with what steers terminals, or turns what is read round, written as escapes like `\\x1b`.

    Line ends and tabs stay as they are. What is legible already is returned as it is.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character in _LAID_OUT or unicodedata.category(character) not in _COMMANDING
        else _escape(character)
        for character in text
    )


def indented(text: str) -> str:
    """The text with further lines indented, so that none is a line of what it stands in, or ends a part."""
    return "\n    ".join(line for line in text.splitlines() if line.strip())


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
