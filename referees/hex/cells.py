"""Names of cells: a column letter and a row counted from the top, as in `a1`; and `swap-pieces`.

These are the names of HTP, the Hex Text Protocol of HexGui and MoHex, and of Hex in SGF.
"""

from functools import cache
from string import ascii_lowercase
from typing import Final

from referees.api import UnreadableMoveError
from referees.hex.board import SWAP

SWAP_TEXT: Final = "swap-pieces"


@cache
def names(rows: int, columns: int) -> tuple[str, ...]:
    """The names of all cells in the order of their numbers."""
    return tuple(f"{column}{row}" for row in range(1, rows + 1) for column in ascii_lowercase[:columns])


@cache
def _numbers(rows: int, columns: int) -> dict[str, int]:
    return {name: cell for cell, name in enumerate(names(rows, columns))}


def name(move: int, rows: int, columns: int) -> str:
    """A move as text."""
    return SWAP_TEXT if move == SWAP else names(rows, columns)[move]


def read(text: str, rows: int, columns: int) -> int:
    """Read a move; case, blanks around it and zeros before the row do not matter. Raises UnreadableMoveError.

    `swap` is read as `swap-pieces`. `swap-sides`, in which the players change colours, is refused.
    """
    word = text.strip().lower()
    if word in (SWAP_TEXT, "swap"):
        return SWAP
    if word == "swap-sides":
        raise UnreadableMoveError(f"'swap-sides' would exchange the players' colours; say {SWAP_TEXT!r}")
    cell = _numbers(rows, columns).get(word[:1] + word[1:].lstrip("0"))
    if cell is None:
        raise UnreadableMoveError(
            f"{text[:40]!r} is neither a cell of a board of {rows} rows and {columns} columns "
            f"(columns a to {ascii_lowercase[columns - 1]}, rows 1 to {rows}) nor {SWAP_TEXT!r}"
        )
    return cell
