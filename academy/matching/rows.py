"""Patterns as rows of table indexes in flat arrays.

A *test* is the index into a query's table: `offset number * CODES + code number`. A row has its near
tests, most telling first, in *stages* of four, and its far tests, cells beyond the table's offsets. The
test after all others, which always holds, fills a row's last stage and is the whole first stage of `tests`.
Rows are written behind all others and then left alone, so a reader of the first n rows is not disturbed.
Removed rows stay until they are more than the rest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from academy.matching.anchoring import TESTED_CODES, AnchoredPattern
from academy.matching.board_tables import AnchorKind, Neighbourhood

Number = TypeVar("Number", np.uint8, np.uint16, np.int16, np.int32, np.int64, np.bool_)


def extend_array(array: NDArray[Number], used: int, added: NDArray[Number]) -> NDArray[Number]:
    """Write rows behind the first `used` ones of an array, or of a larger copy where they find no room."""
    end = used + len(added)
    if end > len(array):
        larger = np.zeros((max(2 * len(array), end), *array.shape[1:]), dtype=array.dtype)
        larger[:used] = array[:used]
        array = larger
    array[used:end] = added
    return array


def ranges(starts: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return start, start + 1, ... of each range, one range after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    steps: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return np.arange(total) + steps


STAGE: Final = 4
CODES: Final = len(TESTED_CODES)
# Columns of `Rows.far`.
FAR_START, FAR_COUNT, IMAGES = range(3)
_FIRST_CAPACITY: Final = 16


class Rows(NamedTuple):
    """All rows at one moment; nothing in these arrays changes any more.

    A row's tests begin at `starts[row]` of `tests` and are `stages[row]` stages; `far[row]` says where its
    far tests begin, how many they are, and how many different images the pattern has. `anchors[row, s]` is
    the anchor's place in the image under symmetry s, `distinct[row, s]` whether no earlier symmetry gives
    the same image. `unusual[row]` says that the row has far tests, or fewer images than there are symmetries.
    `of_kind[kind]` are the rows in use, and `reach` is how many of the neighbourhood's first
    offsets they and their images test.
    """

    pattern_ids: NDArray[np.int64]
    starts: NDArray[np.int32]
    stages: NDArray[np.int32]
    far: NDArray[np.int32]
    tests: NDArray[np.uint16]
    far_offsets: NDArray[np.int16]
    far_codes: NDArray[np.uint8]
    anchors: NDArray[np.int16]
    distinct: NDArray[np.bool_]
    unusual: NDArray[np.bool_]
    of_kind: tuple[NDArray[np.int32], ...]
    reach: int


class PatternRows:
    """The rows of an index, numbered from 0. For one thread at a time."""

    def __init__(self, symmetries: int, neighbourhood: Neighbourhood) -> None:
        self._neighbourhood = neighbourhood
        self._count = self._far_end = self._dead = 0
        self._always = len(neighbourhood.offsets) * CODES
        self._pattern_ids = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._starts = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self._stages = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self._far = np.zeros((_FIRST_CAPACITY, 3), dtype=np.int32)
        self._tests = np.full(STAGE, self._always, dtype=np.uint16)
        self._tests_end = STAGE
        self._far_offsets = np.zeros((_FIRST_CAPACITY, 2), dtype=np.int16)
        self._far_codes = np.zeros(_FIRST_CAPACITY, dtype=np.uint8)
        self._anchors = np.zeros((_FIRST_CAPACITY, symmetries, 2), dtype=np.int16)
        self._distinct = np.zeros((_FIRST_CAPACITY, symmetries), dtype=np.bool_)
        self._unusual = np.zeros(_FIRST_CAPACITY, dtype=np.bool_)
        self._of_kind = {kind: np.zeros(0, dtype=np.int32) for kind in AnchorKind}
        self._counts: Counter[AnchorKind] = Counter()
        self._reaches: Counter[int] = Counter()
        self._kinds_and_reaches: dict[int, tuple[AnchorKind, int]] = {}

    def __len__(self) -> int:
        return len(self._kinds_and_reaches)

    def append(self, pattern_id: int, pattern: AnchoredPattern) -> int:
        """Add a pattern and return its row."""
        numbers = self._neighbourhood.numbers(pattern.offsets)
        near = numbers >= 0
        tests = (numbers[near] * CODES + pattern.codes[near]).astype(np.uint16)
        stages = -(-len(tests) // STAGE)
        filled = np.full(stages * STAGE, self._always, dtype=np.uint16)
        filled[: len(tests)] = tests
        far = ~near
        far_count = int(far.sum())
        row = self._count
        images = int(pattern.distinct.sum())
        self._pattern_ids = extend_array(self._pattern_ids, row, np.array([pattern_id], dtype=np.int64))
        self._starts = extend_array(self._starts, row, np.array([self._tests_end], dtype=np.int32))
        self._stages = extend_array(self._stages, row, np.array([stages], dtype=np.int32))
        of_row = np.array([[self._far_end, far_count, images]], dtype=np.int32)
        self._far = extend_array(self._far, row, of_row)
        self._anchors = extend_array(self._anchors, row, pattern.anchors[None])
        self._distinct = extend_array(self._distinct, row, pattern.distinct[None])
        unusual = np.array([far_count > 0 or images < len(pattern.distinct)])
        self._unusual = extend_array(self._unusual, row, unusual)
        self._tests = extend_array(self._tests, self._tests_end, filled)
        if far_count:
            offsets = pattern.offsets[far].astype(np.int16)
            self._far_offsets = extend_array(self._far_offsets, self._far_end, offsets)
            codes = TESTED_CODES[pattern.codes[far]]
            self._far_codes = extend_array(self._far_codes, self._far_end, codes)
        self._tests_end += len(filled)
        self._far_end += far_count
        self._count += 1
        self._use(row, pattern.kind, self._neighbourhood.needed(numbers[near]))
        return row

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all rows as arrays from which `restore` makes them again."""
        rows = np.fromiter(self._kinds_and_reaches, np.int32, len(self))
        use = np.array(list(self._kinds_and_reaches.values()), dtype=np.int32).reshape(-1, 2)
        columns = {name: getattr(self, f"_{name}")[:end] for name, end in self._ends()}
        return columns | {"rows": rows, "use": use}

    def _ends(self) -> Iterator[tuple[str, int]]:
        """Yield the arrays with an entry for each row, test or far test, and how much of each is used."""
        for name in ("pattern_ids", "starts", "stages", "far", "anchors", "distinct", "unusual"):
            yield name, self._count
        yield "tests", self._tests_end
        for name in ("far_offsets", "far_codes"):
            yield name, self._far_end

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> dict[int, int]:
        """Fill these empty rows from arrays that never change; return each pattern's row."""
        rows, use = arrays["rows"], arrays["use"]
        self._count, self._tests_end, self._far_end = (
            len(arrays[name]) for name in ("pattern_ids", "tests", "far_codes")
        )
        for name, _ in self._ends():
            setattr(self, f"_{name}", arrays[name])
        self._dead = self._count - len(rows)
        for kind in AnchorKind:
            members = rows[use[:, 0] == kind]
            self._of_kind[kind], self._counts[kind] = members, len(members)
        # One pair for all rows that have it: there are few, and each would be another object.
        pairs, which, counts = np.unique(use[:, 0] << 16 | use[:, 1], return_inverse=True, return_counts=True)
        shared = [(AnchorKind(pair >> 16), pair & 0xFFFF) for pair in pairs.tolist()]
        for (_, reach), count in zip(shared, counts.tolist(), strict=True):
            self._reaches[reach] += count
        used = map(shared.__getitem__, which.ravel().tolist())
        self._kinds_and_reaches = dict(zip(rows.tolist(), used, strict=True))
        return dict(zip(self._pattern_ids[rows].tolist(), rows.tolist(), strict=True))

    def _use(self, row: int, kind: AnchorKind, reach: int) -> None:
        members = np.array([row], dtype=np.int32)
        self._of_kind[kind] = extend_array(self._of_kind[kind], self._counts[kind], members)
        self._counts[kind] += 1
        self._reaches[reach] += 1
        self._kinds_and_reaches[row] = kind, reach

    def remove(self, row: int) -> None:
        """Remove a row; the others keep their numbers."""
        kind, reach = self._kinds_and_reaches.pop(row)
        members = self._of_kind[kind][: self._counts[kind]]
        self._of_kind[kind] = members[members != row]
        self._counts[kind] -= 1
        self._reaches[reach] -= 1
        self._dead += 1

    def compact(self) -> dict[int, int]:
        """Forget the removed rows once they are most of all; return the new row of each pattern then."""
        if self._dead <= max(len(self), _FIRST_CAPACITY):
            return {}
        rows = np.array(sorted(self._kinds_and_reaches), dtype=np.int32)
        lengths = self._stages[rows] * STAGE
        used = self._far[rows]
        far = ranges(used[:, FAR_START], used[:, FAR_COUNT])
        self._tests = np.concatenate([self._tests[:STAGE], self._tests[ranges(self._starts[rows], lengths)]])
        self._starts = (STAGE + np.cumsum(lengths) - lengths).astype(np.int32)
        self._far_offsets, self._far_codes = self._far_offsets[far], self._far_codes[far]
        used[:, FAR_START] = np.cumsum(used[:, FAR_COUNT]) - used[:, FAR_COUNT]
        self._far = used
        self._stages = self._stages[rows]
        self._pattern_ids = self._pattern_ids[rows]
        self._anchors = self._anchors[rows]
        self._distinct = self._distinct[rows]
        self._unusual = self._unusual[rows]
        self._count, self._tests_end, self._far_end, self._dead = len(rows), len(self._tests), len(far), 0
        for kind, members in self._of_kind.items():
            self._of_kind[kind] = np.searchsorted(rows, members[: self._counts[kind]]).astype(np.int32)
        self._kinds_and_reaches = {
            number: self._kinds_and_reaches[row] for number, row in enumerate(rows.tolist())
        }
        return {pattern_id: row for row, pattern_id in enumerate(self._pattern_ids.tolist())}

    def freeze(self) -> Rows:
        """Return the rows as they are now; later changes do not reach them."""
        return Rows(
            **{name: getattr(self, f"_{name}")[:end] for name, end in self._ends()},
            of_kind=tuple(self._of_kind[kind][: self._counts[kind]] for kind in AnchorKind),
            reach=max((reach for reach, count in self._reaches.items() if count), default=0),
        )


def rows_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """Return the rows that `PatternRows.restore` and `freeze` would give, in less time."""
    rows, use = arrays["rows"], arrays["use"]
    kinds, reaches = use[:, 0], use[:, 1]
    return Rows(
        **{name: arrays[name] for name in Rows._fields if name not in ("of_kind", "reach")},
        of_kind=tuple(rows[kinds == kind] for kind in AnchorKind),
        reach=int(reaches.max(initial=0)),
    )
