"""Hex's board: cells and their names, chains between the edges, and a game's position."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase
from typing import Final

from referees.api import UnreadableMoveError

EMPTY: Final = 0
BLACK: Final = 1
WHITE: Final = 2
# The bits of a cell's state: whose stone, and what a chain of such stones links it to.
COLOUR: Final = 3
FIRST_EDGE: Final = 4
SECOND_EDGE: Final = 8
BOTH_EDGES: Final = FIRST_EDGE | SECOND_EDGE

# The second player's answer to the first stone: to take it over, mirrored.
SWAP: Final = -1

MIN_SIZE: Final = 2
MAX_SIZE: Final = 26


class OccupiedCellError(ValueError):
    """A stone was placed where one stands."""


@cache
def neighbours(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """For each cell, the two to six cells that touch it."""
    steps = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
    return tuple(
        tuple(
            (row + down) * columns + column + right
            for down, right in steps
            if 0 <= row + down < rows and 0 <= column + right < columns
        )
        for row in range(rows)
        for column in range(columns)
    )


@cache
def own_edges(rows: int, columns: int) -> tuple[bytes, bytes, bytes]:
    """For EMPTY, BLACK and WHITE: which edges of that colour each cell lies on."""

    def edges(place: int, last: int) -> int:
        return (FIRST_EDGE if place == 0 else 0) | (SECOND_EDGE if place == last else 0)

    cells = [divmod(cell, columns) for cell in range(rows * columns)]
    return (
        bytes(rows * columns),
        bytes(edges(row, rows - 1) for row, _ in cells),
        bytes(edges(column, columns - 1) for _, column in cells),
    )


class Board:
    """Stones on a board of `rows` rows and `columns` columns.

    `cells` has for each cell EMPTY or a colour, and with the colour the bits FIRST_EDGE (top or left)
    and SECOND_EDGE (bottom or right) of the edges that its chain is linked to: all stones of a chain
    have the same bits, so that the test for a win is one look at the stone just placed. A stone's bits
    change at most twice in a game.
    """

    __slots__ = ("cells", "columns", "neighbours", "rows")

    def __init__(self, rows: int, columns: int, cells: Iterable[int] | None = None) -> None:
        self.rows = rows
        self.columns = columns
        self.cells = bytearray(rows * columns) if cells is None else bytearray(cells)
        self.neighbours = neighbours(rows, columns)

    def links(self, colour: int, cell: int) -> int:
        """The edges that a stone of a colour on this empty cell would be linked to."""
        cells = self.cells
        linked = own_edges(self.rows, self.columns)[colour][cell]
        for near in self.neighbours[cell]:
            state = cells[near]
            if state & COLOUR == colour:
                linked |= state
        return linked & BOTH_EDGES

    def play(self, colour: int, cell: int) -> bool:
        """Place a stone; returns whether it links its colour's edges. Raises OccupiedCellError."""
        cells = self.cells
        if cells[cell]:
            raise OccupiedCellError(f"cell {cell} is occupied")
        linked = self.links(colour, cell)
        state = cells[cell] = colour | linked
        for near in self.neighbours[cell]:
            beside = cells[near]
            if beside & COLOUR == colour and beside != state:
                self._spread(near, state)
        return linked == BOTH_EDGES

    def _spread(self, start: int, state: int) -> None:
        """Give all stones of the chain at `start` a state that links it further."""
        cells = self.cells
        old = cells[start]
        cells[start] = state
        chain = [start]
        for stone in chain:
            for near in self.neighbours[stone]:
                if cells[near] == old:
                    cells[near] = state
                    chain.append(near)

    def has_contact(self) -> bool:
        """Whether stones of different colours touch."""
        cells = self.cells
        return any(
            cells[near] & COLOUR == WHITE
            for cell, state in enumerate(cells)
            if state & COLOUR == BLACK
            for near in self.neighbours[cell]
        )


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


@dataclass(frozen=True, slots=True)
class HexPosition:
    """A position in a game.

    `cells` are the states of `Board.cells`, row by row from the top; `mover` is the colour to move;
    `plies` counts the moves made, a swap included; `winner` is the colour whose edges are linked, or
    EMPTY.
    """

    cells: bytes
    mover: int
    plies: int = 0
    winner: int = EMPTY
