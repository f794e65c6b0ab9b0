"""Patterns of one kind of anchor, stored as rows of table indexes in flat arrays.

A *test* is the index into a query's table: `offset number * codes + code number`. The first tests of
a row, its *head*, stand in columns of their own; the rest, its *tail*, in one flat array. All arrays
grow by doubling, and a row is removed by moving the last one into its place.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.matching.anchoring import TESTED_CODES, AnchoredPattern
from academy.matching.arrays import grown

HEAD: Final = 8
CODES: Final = len(TESTED_CODES)
_FIRST_CAPACITY: Final = 16


class PatternRows:
    """The rows, numbered from 0. A head shorter than `HEAD` repeats its last test."""

    def __init__(self, symmetries: int) -> None:
        self._count = 0
        self._pattern_ids = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._heads = np.zeros((HEAD, _FIRST_CAPACITY), dtype=np.int32)
        self._tail_starts = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self._tail_lengths = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self._anchors = np.zeros((_FIRST_CAPACITY, symmetries, 2), dtype=np.int16)
        self._distinct = np.zeros((_FIRST_CAPACITY, symmetries), dtype=np.bool_)
        self._tails = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self._tails_end = 0
        self._tails_unused = 0

    def __len__(self) -> int:
        return self._count

    @property
    def pattern_ids(self) -> NDArray[np.int64]:
        """The pattern of each row."""
        return self._pattern_ids[: self._count]

    @property
    def heads(self) -> NDArray[np.int32]:
        """(HEAD, row): the first tests."""
        return self._heads[:, : self._count]

    @property
    def tail_starts(self) -> NDArray[np.int32]:
        """Where in `tails` the other tests of each row begin."""
        return self._tail_starts[: self._count]

    @property
    def tail_lengths(self) -> NDArray[np.int32]:
        """How many other tests each row has."""
        return self._tail_lengths[: self._count]

    @property
    def tails(self) -> NDArray[np.int32]:
        """The other tests of all rows, with gaps."""
        return self._tails

    @property
    def anchors(self) -> NDArray[np.int16]:
        """(row, symmetry, axis): the anchor's place in the image."""
        return self._anchors[: self._count]

    @property
    def distinct(self) -> NDArray[np.bool_]:
        """(row, symmetry): whether no earlier symmetry gives the same image."""
        return self._distinct[: self._count]

    def append(self, pattern_id: int, pattern: AnchoredPattern, numbers: NDArray[np.int32]) -> int:
        """Add a pattern, its offsets having these numbers, and return its row."""
        row = self._count
        if row == len(self._pattern_ids):
            self._grow(2 * row)
        tests = numbers * CODES + pattern.codes
        self._pattern_ids[row] = pattern_id
        self._heads[: len(tests), row] = tests[:HEAD]
        self._heads[len(tests) :, row] = tests[-1]
        self._anchors[row] = pattern.anchors
        self._distinct[row] = pattern.distinct
        tail = tests[HEAD:]
        if self._tails_end + len(tail) > len(self._tails):
            self._tails = grown(self._tails, max(2 * len(self._tails), self._tails_end + len(tail)))
        self._tails[self._tails_end : self._tails_end + len(tail)] = tail
        self._tail_starts[row] = self._tails_end
        self._tail_lengths[row] = len(tail)
        self._tails_end += len(tail)
        self._count += 1
        return row

    def offset_numbers(self, row: int) -> NDArray[np.int32]:
        """Return the different offsets that a row tests."""
        start, length = self._tail_starts[row], self._tail_lengths[row]
        tests = np.concatenate([self._heads[:, row], self._tails[start : start + length]])
        return np.unique(tests // CODES)

    def remove(self, row: int) -> int | None:
        """Remove a row; the last row takes its number. Returns the pattern that moved, if one did."""
        last = self._count - 1
        self._tails_unused += int(self._tail_lengths[row])
        moved = None
        if row != last:
            moved = int(self._pattern_ids[last])
            for column in (
                self._pattern_ids,
                self._tail_starts,
                self._tail_lengths,
                self._anchors,
                self._distinct,
            ):
                column[row] = column[last]
            self._heads[:, row] = self._heads[:, last]
        self._count = last
        if 2 * self._tails_unused > self._tails_end:
            self._close_gaps()
        return moved

    def renumber(self, numbers: NDArray[np.int32]) -> None:
        """Give the offsets their new numbers."""
        self._close_gaps()
        for tests in (self.heads, self._tails[: self._tails_end]):
            tests[:] = numbers[tests // CODES] * CODES + tests % CODES

    def _close_gaps(self) -> None:
        kept = ranges(self.tail_starts, self.tail_lengths)
        self._tails[: len(kept)] = self._tails[kept]
        self._tail_starts[: self._count] = np.cumsum(self.tail_lengths) - self.tail_lengths
        self._tails_end = len(kept)
        self._tails_unused = 0

    def _grow(self, capacity: int) -> None:
        self._pattern_ids = grown(self._pattern_ids, capacity)
        self._heads = grown(self._heads, capacity, axis=1)
        self._tail_starts = grown(self._tail_starts, capacity)
        self._tail_lengths = grown(self._tail_lengths, capacity)
        self._anchors = grown(self._anchors, capacity)
        self._distinct = grown(self._distinct, capacity)


def ranges(starts: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return start, start + 1, ... of each range, one range after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    steps: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total) + steps
