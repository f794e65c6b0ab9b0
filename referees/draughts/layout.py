"""How the dark squares of a board are numbered, named, and kept as bits of one number.

Squares are numbered from 1 as in PDN: row by row from the top left, White's side at the bottom. In the
bits of a number two rows are followed by a bit for no square, so that a step along a diagonal is a
shift by the same distance everywhere, and a step over the edge leads to a bit that is no square.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

COLUMNS: Final = "abcdefghijkl"


@dataclass(frozen=True)
class Layout:
    """A board of `rows` rows, an even number, whose bottom left square is dark.

    Squares are named by their numbers, or as on a chess board (`c3`) where `algebraic`.
    """

    rows: int
    algebraic: bool = False

    @cached_property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """The row and the column of each square, in the order of their numbers; row 0 is the top."""
        half = range(self.rows // 2)
        return tuple((row, 2 * place + 1 - row % 2) for row in range(self.rows) for place in half)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The bit of each square, in the order of their numbers."""
        half = self.rows // 2
        return tuple(1 << row * half + row // 2 + place for row in range(self.rows) for place in range(half))

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of the square that a bit stands for."""
        return {bit: number for number, bit in enumerate(self.bits, start=1)}

    @cached_property
    def playable(self) -> int:
        """All squares."""
        return sum(self.bits)

    @cached_property
    def down(self) -> tuple[int, int]:
        """The two steps down the board, as shifts to the left; up the board they are negative."""
        return self.rows // 2, self.rows // 2 + 1

    @cached_property
    def top(self) -> int:
        """The squares of the top row."""
        return sum(self.bits[: self.rows // 2])

    @cached_property
    def bottom(self) -> int:
        """The squares of the bottom row."""
        return sum(self.bits[-(self.rows // 2) :])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each square, in the order of their numbers."""
        if not self.algebraic:
            return tuple(map(str, range(1, len(self.bits) + 1)))
        return tuple(f"{COLUMNS[column]}{self.rows - row}" for row, column in self.cells)

    @cached_property
    def named(self) -> dict[str, int]:
        """The number of the square of a name."""
        return {name: number for number, name in enumerate(self.names, start=1)}

    def mask(self, numbers: range) -> int:
        """The bits of some squares."""
        return sum(self.bits[number - 1] for number in numbers)

    def between(self, start: int, end: int) -> tuple[int, ...]:
        """The squares between two on a diagonal, by number; none where they are on no diagonal together."""
        (row, column), (end_row, end_column) = self.cells[start - 1], self.cells[end - 1]
        distance = abs(end_row - row)
        if not distance or abs(end_column - column) != distance:
            return ()
        down, right = (end_row - row) // distance, (end_column - column) // distance
        return tuple(self._at[row + step * down, column + step * right] for step in range(1, distance))

    @cached_property
    def _at(self) -> dict[tuple[int, int], int]:
        return {cell: number for number, cell in enumerate(self.cells, start=1)}
