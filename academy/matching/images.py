"""Symmetries applied to many cells at once, and the offsets from an anchor that tables hold."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry
from academy.knowledge.symmetries import GridSymmetry, NodeSymmetry

Cells = NDArray[np.int32]

# The offsets in a table: 81 cells of a square board, 61 of a hexagonal one. Patterns of 9x9 fit into them.
REACH: Final = 4


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
        found = np.zeros((self.count, len(cells), 2), dtype=np.int32)
        found[:, :, 1] = self._nodes[:, cells[:, 1]]
        return found


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
        found = np.full(near.shape, -1, dtype=np.int32)
        found[near] = self._numbers[tuple(places[near].T)]
        return found

    def needed(self, numbers: NDArray[np.int32]) -> int:
        """Return how many of the first offsets hold these and all their images."""
        return int(self._ring_ends[numbers.max()])


def axes_of(cells: Cells, hexagonal: bool) -> Cells:
    """Return how far cells lie along each axis of the board: a distance is the most along any of them."""
    # In skewed coordinates the third axis of the hexagon is row + column.
    return np.column_stack([cells, cells.sum(axis=1)]) if hexagonal else cells
