"""Names of points: a column letter (I is skipped) and a row counted from the bottom, as in `D4`."""

from functools import cache
from typing import Final

from referees.api import UnreadableMoveError
from referees.go.board import PASS

COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


@cache
def names(size: int) -> tuple[str, ...]:
    """The names of all points of a board of `size` rows, in the order of their numbers."""
    return tuple(f"{column}{row}" for row in range(size, 0, -1) for column in COLUMNS[:size])


@cache
def _points(size: int) -> dict[str, int]:
    return {name: point for point, name in enumerate(names(size))}


def name(move: int, size: int) -> str:
    """A move as text: a point's name, or `pass`."""
    return "pass" if move == PASS else names(size)[move]


def read(text: str, size: int) -> int:
    """Read a move; case, surrounding blanks and zeros before the row do not matter.

    Raises UnreadableMoveError.
    """
    word = text.strip().upper()
    if word == "PASS":
        return PASS
    point = _points(size).get(word[:1] + word[1:].lstrip("0"))
    if point is None:
        raise UnreadableMoveError(
            f"{text[:40]!r} is neither a point of a board of {size} rows "
            f"(columns A to {COLUMNS[size - 1]} without I, rows 1 to {size}) nor 'pass'"
        )
    return point
