"""Boards: a geometry, and one cell state for each of its cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from academy.knowledge.cells import LETTERS_TO_STATES, STATE_LETTERS, STATES_TO_LETTERS
from academy.knowledge.symmetries import Cell

__all__ = [
    "MAX_CELLS",
    "Board",
    "CellChange",
    "CellChanges",
    "Geometry",
    "GraphGeometry",
    "HexGeometry",
    "InvalidBoardError",
    "SquareGeometry",
]

MAX_CELLS = 4096
# A cell's index, row by row, and the `State` that a move gives it; and all that a move changes.
CellChange = tuple[int, int]
CellChanges = Sequence[CellChange]


class InvalidBoardError(ValueError):
    """A board or geometry that breaks a rule; the message names the value and the rule."""


@dataclass(frozen=True)
class _Grid:
    rows: int
    columns: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.columns < 1 or self.rows * self.columns > MAX_CELLS:
            raise InvalidBoardError(
                f"a board of {self.rows} rows and {self.columns} columns: both must be at least 1 "
                f"and their product at most {MAX_CELLS}"
            )

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.rows * self.columns

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells as (row, column), row by row."""
        return tuple((row, column) for row in range(self.rows) for column in range(self.columns))


@dataclass(frozen=True)
class SquareGeometry(_Grid):
    """Cells in rows and columns, row 0 at the top."""


@dataclass(frozen=True)
class HexGeometry(_Grid):
    """Hexagons in skewed rows.

    Cell (r, c) touches (r, c±1), (r±1, c), (r-1, c+1) and (r+1, c-1): each row lies half a cell
    further to the right than the one above it. Boards of other outlines leave cells off the board.
    """


@dataclass(frozen=True)
class GraphGeometry:
    """Named nodes and the pairs of them that touch (by index)."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.nodes) <= MAX_CELLS:
            raise InvalidBoardError(f"a graph of {len(self.nodes)} nodes: there must be 1 to {MAX_CELLS}")
        if len(set(self.nodes)) != len(self.nodes):
            twice = next(name for name in self.nodes if self.nodes.count(name) > 1)
            raise InvalidBoardError(f"node {twice!r} is named twice")
        for name in self.nodes:
            if not name or any(letter.isspace() for letter in name):
                raise InvalidBoardError(f"node name {name!r}: a name has no blanks and is not empty")
        places = range(len(self.nodes))
        for pair in self.edges:
            if len(pair) != 2 or pair[0] == pair[1] or not all(end in places for end in pair):
                raise InvalidBoardError(
                    f"edge {pair}: its two ends must be different nodes by their places, 0 to {places[-1]}"
                )

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)


Geometry = SquareGeometry | HexGeometry | GraphGeometry


@dataclass(frozen=True, slots=True)
class Board:
    """One `cells.State` for each cell of a geometry, row by row."""

    geometry: Geometry
    states: bytes

    @classmethod
    def from_letters(cls, geometry: Geometry, letters: str) -> "Board":
        """Read a board from letters.

        Args:
            geometry: The board's cells.
            letters: One of `- x b o w +` for each cell, row by row.

        Returns:
            The board.

        Raises:
            InvalidBoardError: The length is not the number of cells, or a letter is unknown.
        """
        if len(letters) != geometry.size:
            raise InvalidBoardError(
                f"a board of {len(letters)} letters: this game's has {geometry.size} cells"
            )
        raw = letters.encode(errors="replace")
        if raw.translate(None, STATE_LETTERS.encode()):
            index = next(index for index, letter in enumerate(letters) if letter not in STATE_LETTERS)
            raise InvalidBoardError(
                f"letter {letters[index]!r} at cell {index} of a board: allowed are {' '.join(STATE_LETTERS)}"
            )
        return cls(geometry, raw.translate(LETTERS_TO_STATES))

    @property
    def letters(self) -> str:
        """One letter a cell, row by row."""
        return self.states.translate(STATES_TO_LETTERS).decode()
