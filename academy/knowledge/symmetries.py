"""The symmetries of the square, of the hexagon, and of named nodes.

On a grid a symmetry is a 2x2 integer matrix on (row, column): the 8 of the square and, in the
skewed coordinates of `boards.HexGeometry`, the 12 of the hexagon.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["HEXAGON", "SQUARE", "Cell", "GridSymmetry", "NodeSymmetry", "board_permutation"]

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GridSymmetry:
    """(row, column) goes to (a·row + b·column, c·row + d·column)."""

    name: str
    a: int
    b: int
    c: int
    d: int

    def image(self, row: int, column: int) -> Cell:
        """Return where a cell goes, before any shift back onto the board.

        Args:
            row: The cell's row, from 0.
            column: The cell's column, from 0.

        Returns:
            Its new (row, column), which may be negative.
        """
        return self.a * row + self.b * column, self.c * row + self.d * column

    @property
    def matrix(self) -> tuple[int, int, int, int]:
        """The four numbers, which are what makes two symmetries the same."""
        return self.a, self.b, self.c, self.d

    def after(self, first: "GridSymmetry") -> tuple[int, int, int, int]:
        """Return the matrix of `first` followed by this symmetry.

        Args:
            first: The symmetry to apply before this one.

        Returns:
            (a, b, c, d) of the composition.
        """
        return (
            self.a * first.a + self.b * first.c,
            self.a * first.b + self.b * first.d,
            self.c * first.a + self.d * first.c,
            self.c * first.b + self.d * first.d,
        )


@dataclass(frozen=True, slots=True)
class NodeSymmetry:
    """Node i of a graph goes to node `image[i]`."""

    name: str
    image: tuple[int, ...]


def _square() -> dict[str, GridSymmetry]:
    matrices = {
        "identity": (1, 0, 0, 1),
        "rotate_90": (0, 1, -1, 0),
        "rotate_180": (-1, 0, 0, -1),
        "rotate_270": (0, -1, 1, 0),
        "mirror_columns": (1, 0, 0, -1),
        "mirror_rows": (-1, 0, 0, 1),
        "transpose": (0, 1, 1, 0),
        "antitranspose": (0, -1, -1, 0),
    }
    return {name: GridSymmetry(name, *matrix) for name, matrix in matrices.items()}


def _hexagon() -> dict[str, GridSymmetry]:
    # A turn by 60 degrees takes (row, column) to (row + column, -row).
    turn = GridSymmetry("rotate_60", 1, 1, -1, 0)
    transpose = GridSymmetry("transpose", 0, 1, 1, 0)
    turned = GridSymmetry("identity", 1, 0, 0, 1)
    symmetries = {}
    for sixth in range(6):
        name = "identity" if sixth == 0 else f"rotate_{60 * sixth}"
        symmetries[name] = GridSymmetry(name, *turned.matrix)
        mirrored = "transpose" if sixth == 0 else f"transpose_rotate_{60 * sixth}"
        symmetries[mirrored] = GridSymmetry(mirrored, *turned.after(transpose))
        turned = GridSymmetry("", *turn.after(turned))
    return symmetries


SQUARE: Final = _square()
HEXAGON: Final = _hexagon()


def board_permutation(symmetry: GridSymmetry, cells: Sequence[Cell]) -> tuple[int, ...] | None:
    """Return where a symmetry takes each cell of a board.

    Args:
        symmetry: A symmetry of the square or the hexagon.
        cells: The board's own cells as (row, column). Their images are shifted so that the least row and the
            least column are those of the board.

    Returns:
        The index of each cell's image; None where the board does not map onto itself.
    """
    images = [symmetry.image(row, column) for row, column in cells]
    shift_row = min(row for row, _ in cells) - min(row for row, _ in images)
    shift_column = min(column for _, column in cells) - min(column for _, column in images)
    places = {cell: index for index, cell in enumerate(cells)}
    shifted = [(row + shift_row, column + shift_column) for row, column in images]
    return tuple(places[cell] for cell in shifted) if places.keys() >= set(shifted) else None
