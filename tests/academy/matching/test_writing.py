"""What a kernel writes is read by protobuf as the numbers it was written from."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from academy.matching import kernels
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records
from academy.matching.vectorised.writing import unsigned
from academy.v1 import consultation_pb2 as messages

POSITIONS = Fields(1, 1, 1, 2, 2, 1, 2, 3, 4, 5, 6, 7)
SUCCESSORS = Fields(1, 2, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7)
NOTHING_LOST = Lost(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))
short = st.integers(-(2**15), 2**15 - 1)
# Place, symmetry, row, column, flag.
Placement = tuple[int, int, int, int, bool]


def records(numbers: Sequence[int]) -> Records:
    """A number and a fraction for each pattern."""
    written = np.frombuffer(unsigned(np.array(numbers)).written, dtype=np.uint8).reshape(len(numbers), -1)
    elos = np.array(numbers, dtype="<f8").view(np.uint8).reshape(len(numbers), 8)
    starts = np.array([0, written.shape[1], written.shape[1] + 8], dtype=np.int32)
    return Records(np.concatenate([written, elos], axis=1), starts, np.array([1, 4], dtype=np.int32))


def lists_of(told: Sequence[Sequence[Placement]], totals: Sequence[int], flags: bool) -> PlacementLists:
    every = [each for placements in told for each in placements]
    columns = [[each[column] for each in every] for column in range(5)]
    return PlacementLists(
        np.array(columns[0], dtype=np.int32),
        np.array(columns[1], dtype=np.int16),
        np.array(columns[2], dtype=np.int16),
        np.array(columns[3], dtype=np.int16),
        np.array(columns[4] if flags else [], dtype=np.bool_),
        np.cumsum([0, *map(len, told)]).astype(np.int32),
        np.array(totals, dtype=np.int64),
        np.array([total % 2 for total in totals], dtype=np.bool_),
    )


def check_position(
    found: messages.PositionMatches, told: Sequence[Placement], table: Sequence[int], total: int, flags: bool
) -> None:
    assert [table[row] for row in found.patterns] == [each[0] for each in told]
    assert list(found.symmetries) == [each[1] for each in told]
    assert list(found.rows) == [each[2] for each in told]
    assert list(found.columns) == [each[3] for each in told]
    assert list(found.for_opponent) == ([each[4] for each in told] if flags else [])
    assert (found.total, found.more) == (total, total % 2 == 1)


@pytest.mark.parametrize("kernel", kernels.NAMES)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_positions_and_their_patterns(kernel: str, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=300))
    placement = st.tuples(st.integers(0, len(numbers) - 1), st.integers(0, 700), short, short, st.booleans())
    told = data.draw(st.lists(st.lists(placement, max_size=30), max_size=5))
    totals = [data.draw(st.integers(0, 2**32 - 1)) for _ in told]
    flags = data.draw(st.booleans())
    lists = lists_of(told, totals, flags)

    written, table = kernels.kernel(kernel).write(lists, NOTHING_LOST, records(numbers), POSITIONS)

    answer = messages.MatchPatternsResponse.FromString(written.tobytes())
    assert table.tolist() == sorted({each[0] for placements in told for each in placements})
    assert list(answer.patterns.pattern_ids) == [numbers[place] for place in table]
    assert list(answer.patterns.elos) == [float(numbers[place]) for place in table]
    assert len(answer.positions) == len(told)
    for found, placements, total in zip(answer.positions, told, totals, strict=True):
        check_position(found, placements, table.tolist(), total, flags)


@pytest.mark.parametrize("kernel", kernels.NAMES)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_moves_gain_and_lose(kernel: str, data: st.DataObject) -> None:
    placement = st.tuples(st.integers(0, 9), st.integers(0, 7), short, short, st.just(False))
    told = data.draw(st.lists(st.lists(placement, max_size=10), min_size=1, max_size=8))
    lost = [data.draw(st.lists(st.integers(0, 70_000), max_size=5)) for _ in told[1:]]
    entries = np.array([entry for each in lost for entry in each], dtype=np.int32)
    starts = np.cumsum([0, *map(len, lost)]).astype(np.int32)
    totals = [2 * len(each) for each in told]

    written, table = kernels.kernel(kernel).write(
        lists_of(told, totals, False), Lost(starts, entries), records(range(10)), SUCCESSORS
    )

    answer = messages.MatchSuccessorsResponse.FromString(written.tobytes())
    check_position(answer.position, told[0], table.tolist(), totals[0], False)
    assert [list(move.lost) for move in answer.moves] == lost
    for move, placements, total in zip(answer.moves, told[1:], totals[1:], strict=True):
        check_position(move.gained, placements, table.tolist(), total, False)


@pytest.mark.parametrize("kernel", kernels.NAMES)
@pytest.mark.parametrize("count", [0, 1, 15, 16, 127, 128, 16_383, 16_384, 300_000])
def test_lists_of_any_length(kernel: str, count: int) -> None:
    patterns = max(count, 1)
    every = np.arange(count, dtype=np.int32)
    shorts = (every % 30_000).astype(np.int16)
    lists = PlacementLists(
        *(every, shorts, -shorts, shorts, np.zeros(0, dtype=np.bool_)),
        *(
            np.array([0, count], dtype=np.int32),
            np.array([count], dtype=np.int64),
            np.zeros(1, dtype=np.bool_),
        ),
    )
    written, _ = kernels.kernel(kernel).write(lists, NOTHING_LOST, records(range(patterns)), POSITIONS)
    answer = messages.MatchPatternsResponse.FromString(written.tobytes())
    assert list(answer.positions[0].patterns) == every.tolist()
    assert list(answer.positions[0].rows) == (-shorts).tolist()
    assert list(answer.patterns.elos) == every.astype(float).tolist()


@given(st.lists(st.integers(0, 2**63 - 1), max_size=300), st.integers(0, 300), st.integers(0, 300))
@example([127], 0, 1)
@example([128], 0, 1)
def test_a_part_of_a_column(numbers: list[int], first: int, end: int) -> None:
    column = unsigned(np.array(numbers, dtype=np.int64)).part(first, end)
    table = messages.PatternTable.FromString(b"\x0a" + _length(len(column)) + column)
    assert list(table.pattern_ids) == numbers[first:end]


def _length(size: int) -> bytes:
    return bytes((size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14))
