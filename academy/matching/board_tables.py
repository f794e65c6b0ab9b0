"""A game's board and symmetries as arrays, which the kernels read beside patterns and boards."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import GridSymmetry, NodeSymmetry

Cells = NDArray[np.int32]

# The offsets in a table: 81 cells of a square board, 61 of a hexagonal one. Patterns of 9x9 fit into them.
REACH: Final = 4


class AnchorKind(IntEnum):
    """What a pattern's anchor is."""

    FIRST_PIECE = 0
    SECOND_PIECE = 1
    BOARD_CELL = 2
    WHOLE_GRAPH = 3


# What a board must hold at an anchor of each kind.
ANCHOR_STATES: Final = {
    AnchorKind.FIRST_PIECE: Code.FIRST_PIECE,
    AnchorKind.SECOND_PIECE: Code.SECOND_PIECE,
    AnchorKind.BOARD_CELL: Code.ANYTHING & ~State.OFF_BOARD,
}


class SymmetryGroup:
    """A game's symmetries as arrays. Nodes are the cells (0, node); they do not move."""

    def __init__(self, symmetries: Iterable[GridSymmetry | NodeSymmetry]) -> None:
        group = tuple(symmetries)
        self.count: Final = len(group)
        self._matrices = np.array([s.matrix for s in group if isinstance(s, GridSymmetry)], dtype=np.int32)
        self._nodes = np.array([s.image for s in group if isinstance(s, NodeSymmetry)], dtype=np.int32)

    @property
    def moves(self) -> bool:
        """Whether patterns can lie anywhere on the board, as on every grid."""
        return len(self._matrices) > 0

    @property
    def matrices(self) -> NDArray[np.int32]:
        """(symmetry, 2, 2): what each does to (row, column). Empty on graphs."""
        return self._matrices.reshape(-1, 2, 2)

    def images(self, cells: Cells) -> Cells:
        """Return the images of cells (cell, axis) as (symmetry, cell, axis), not shifted."""
        if self.moves:
            moved: Cells = np.matmul(cells, self.matrices.transpose(0, 2, 1))
            return moved
        images = np.zeros((self.count, len(cells), 2), dtype=np.int32)
        images[:, :, 1] = self._nodes[:, cells[:, 1]]
        return images


class Neighbourhood:
    """The offsets near an anchor, numbered in rings around it, with all their images.

    `offsets[i]` is (row, column); `images[i, s]` is the number of its image under symmetry s. On a graph
    the offsets are the nodes, all in one ring.
    """

    def __init__(self, geometry: Geometry, group: SymmetryGroup) -> None:
        if isinstance(geometry, GraphGeometry):
            offsets = np.stack([np.zeros(geometry.size), np.arange(geometry.size)], axis=1).astype(np.int32)
            rings = np.zeros(geometry.size, dtype=np.int32)
        else:
            square = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].reshape(2, -1).T.astype(np.int32)
            distances = np.abs(axes_of(square, isinstance(geometry, HexGeometry))).max(axis=1)
            order = np.argsort(distances, kind="stable")
            order = order[distances[order] <= REACH]
            offsets, rings = square[order], distances[order]
        self.offsets: Final = offsets
        self._lowest: Final = offsets.min(axis=0)
        self._numbers = np.full(offsets.max(axis=0) - self._lowest + 1, -1, dtype=np.int32)
        self._numbers[tuple((offsets - self._lowest).T)] = np.arange(len(offsets), dtype=np.int32)
        self.images: Final = np.ascontiguousarray(self.numbers(group.images(offsets)).T)
        self._ring_ends: Final = np.searchsorted(rings, rings, side="right")

    def numbers(self, cells: Cells) -> NDArray[np.int32]:
        """Return the number of each offset (..., axis), -1 for one that is not near."""
        places = cells - self._lowest
        near = ((places >= 0) & (places < self._numbers.shape)).all(axis=-1)
        numbers = np.full(near.shape, -1, dtype=np.int32)
        numbers[near] = self._numbers[tuple(places[near].T)]
        return numbers

    def needed(self, numbers: NDArray[np.int32]) -> int:
        """Return how many of the first offsets hold these and all their images."""
        return int(self._ring_ends[numbers.max()])


def axes_of(cells: Cells, hexagonal: bool) -> Cells:
    """Return how far cells lie along each axis of the board: a distance is the most along any of them."""
    # In skewed coordinates the third axis of the hexagon is row + column.
    return np.column_stack([cells, cells.sum(axis=1)]) if hexagonal else cells


class BoardTables(NamedTuple):
    """A game's board and symmetries as arrays. A graph is one row of nodes, on which nothing moves.

    A board is framed by `margin` cells of edge; an offset's neighbour is `deltas[offset]` further in it.
    `images[offset, s]` is the offset's image under symmetry s, `matrices[s]` what s does to (row, column),
    and `anchor_states[kind]` what a board holds at an anchor.
    """

    rows: int
    columns: int
    margin: int
    deltas: NDArray[np.int32]
    images: NDArray[np.int32]
    matrices: NDArray[np.int32]
    anchor_states: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """How many cells a row of the framed board has."""
        return self.columns + 2 * self.margin


def board_tables(spec: GameSpec, group: SymmetryGroup, neighbourhood: Neighbourhood) -> BoardTables:
    """Return the arrays of a game."""
    geometry = spec.geometry
    if isinstance(geometry, GraphGeometry):
        rows, columns, margin = 1, geometry.size, 0
    else:
        rows, columns, margin = geometry.rows, geometry.columns, REACH
    deltas = neighbourhood.offsets[:, 0] * (columns + 2 * margin) + neighbourhood.offsets[:, 1]
    return BoardTables(
        rows,
        columns,
        margin,
        deltas.astype(np.int32),
        neighbourhood.images,
        group.matrices,
        np.array([ANCHOR_STATES.get(kind, 0) for kind in AnchorKind], dtype=np.uint8),
    )
