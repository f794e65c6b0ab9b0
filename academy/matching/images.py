"""Symmetries applied to many cells at once, and the neighbours a library's patterns look at."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.symmetries import GridSymmetry, NodeSymmetry
from academy.matching.arrays import grown

Cells = NDArray[np.int32]
_FIRST_CAPACITY: Final = 16
_ROW: Final = 1 << 32


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

    def images(self, cells: Cells) -> Cells:
        """Return the images of cells (cell, axis) as (symmetry, cell, axis), not shifted."""
        if self.moves:
            moved: Cells = np.matmul(cells, self._matrices.reshape(-1, 2, 2).transpose(0, 2, 1))
            return moved
        found = np.zeros((self.count, len(cells), 2), dtype=np.int32)
        found[:, :, 1] = self._nodes[:, cells[:, 1]]
        return found


class Neighbourhood:
    """The offsets from an anchor that patterns test, numbered, with all their images.

    `offsets[i]` is (row, column); `images[i, s]` is the number of its image under symmetry s.
    An offset is dropped when no pattern uses it or an image of it any longer (see `dropped`).
    """

    def __init__(self, group: SymmetryGroup) -> None:
        self._group = group
        self._numbers: dict[int, int] = {}
        self._offsets = np.zeros((_FIRST_CAPACITY, 2), dtype=np.int32)
        self._images = np.zeros((_FIRST_CAPACITY, group.count), dtype=np.int32)
        self._uses = np.zeros(_FIRST_CAPACITY, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def offsets(self) -> Cells:
        """Row and column of each offset."""
        return self._offsets[: len(self)]

    @property
    def images(self) -> NDArray[np.int32]:
        """The number of the image of each offset under each symmetry."""
        return self._images[: len(self)]

    def use(self, offsets: Cells) -> NDArray[np.int32]:
        """Count one pattern more that tests these different offsets, and return their numbers."""
        keys = _keys(offsets).tolist()
        unknown = [place for place, key in enumerate(keys) if key not in self._numbers]
        if unknown:
            self._add(offsets[unknown])
        numbers = np.array([self._numbers[key] for key in keys], dtype=np.int32)
        self._uses[numbers] += 1
        return numbers

    def release(self, numbers: NDArray[np.int32]) -> None:
        """Count one pattern less for each of these different offsets."""
        self._uses[numbers] -= 1

    def dropped(self) -> NDArray[np.int32] | None:
        """Drop the unused offsets once they are half of all.

        Returns the new number of every old one (-1: dropped), or None where nothing changed.
        """
        if not self._numbers:
            return None
        used = (self._uses[self.images] > 0).any(axis=1)
        kept = np.flatnonzero(used)
        if 2 * len(kept) > len(self):
            return None
        renumbered = np.full(len(self), -1, dtype=np.int32)
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        offsets, images, uses = self.offsets[kept], renumbered[self.images[kept]], self._uses[kept]
        self._numbers = {key: number for number, key in enumerate(_keys(offsets).tolist())}
        self._offsets, self._images, self._uses = offsets, images, uses
        return renumbered

    def _add(self, unknown: Cells) -> None:
        # The images of an unknown offset are unknown too, and its images' images are among them.
        images = self._group.images(unknown).reshape(-1, 2)
        keys, places = np.unique(_keys(images), return_index=True)
        first, count = len(self), len(self) + len(keys)
        if count > len(self._uses):
            capacity = 2 * count
            self._offsets = grown(self._offsets, capacity)
            self._images = grown(self._images, capacity)
            self._uses = grown(self._uses, capacity)
        offsets = images[places]
        self._offsets[first:count] = offsets
        self._images[first:count] = first + np.searchsorted(keys, _keys(self._group.images(offsets))).T
        self._uses[first:count] = 0
        self._numbers.update(zip(keys.tolist(), range(first, count), strict=True))


def _keys(cells: Cells) -> NDArray[np.int64]:
    """Return one number for each cell, different for different cells."""
    return cells[..., 0].astype(np.int64) * _ROW + cells[..., 1]
