"""Rows of tests in flat arrays."""

import numpy as np
import pytest

from academy.matching.anchoring import AnchoredPattern, AnchorKind
from academy.matching.rows import CODES, PatternRows

FIRST_SOLDIER = 1


@pytest.mark.parametrize(
    ("starts", "lengths", "expected"),
    [
        ([], [], []),
        ([5], [3], [5, 6, 7]),
        ([5, 0, 9], [2, 3, 1], [5, 6, 0, 1, 2, 9]),
        ([5, 7, 1], [1, 0, 2], [5, 1, 2]),
    ],
)
def test_ranges_one_after_the_other(starts: list[int], lengths: list[int], expected: list[int]) -> None:
    found = ranges(np.array(starts, dtype=np.int32), np.array(lengths, dtype=np.int32))
    assert found.tolist() == expected


def pattern_of(tests: int) -> AnchoredPattern:
    return AnchoredPattern(
        AnchorKind.FIRST_PIECE,
        np.zeros((tests, 2), dtype=np.int32),
        np.full(tests, FIRST_SOLDIER, dtype=np.uint8),
        np.zeros((1, 2), dtype=np.int16),
        np.ones(1, dtype=np.bool_),
    )


def rows_of(*lengths: int) -> PatternRows:
    """Rows whose pattern ids are their lengths, testing the offsets 0, 1, ..."""
    rows = PatternRows(symmetries=1)
    for length in lengths:
        rows.append(length, pattern_of(length), np.arange(length, dtype=np.int32))
    return rows


def test_a_short_head_repeats_its_last_test() -> None:
    rows = rows_of(2)
    first, second = FIRST_SOLDIER, CODES + FIRST_SOLDIER
    assert rows.heads[:, 0].tolist() == [first] + [second] * (HEAD - 1)
    assert rows.tail_lengths.tolist() == [0]


@pytest.mark.parametrize("length", [1, HEAD, HEAD + 1, 3 * HEAD])
def test_a_row_knows_the_offsets_it_tests(length: int) -> None:
    rows = rows_of(5, length)
    assert rows.offset_numbers(1).tolist() == list(range(length))


def test_the_last_row_takes_the_place_of_the_removed() -> None:
    rows = rows_of(10, 20, 30)
    assert rows.remove(0) == 30
    assert rows.pattern_ids.tolist() == [30, 20]
    assert [len(rows.offset_numbers(row)) for row in range(2)] == [30, 20]
    assert rows.remove(1) is None
    assert rows.pattern_ids.tolist() == [30]


def test_space_of_removed_tails_is_used_again() -> None:
    rows = rows_of(441)
    room = []
    for length in (440, 439, 438, 437) * 5:
        rows.append(length, pattern_of(length), np.arange(length, dtype=np.int32))
        rows.remove(0)
        assert rows.pattern_ids.tolist() == [length]
        assert len(rows.offset_numbers(0)) == length
        room.append(len(rows.tails))
    assert max(room) < 4 * 441


def test_offsets_get_new_numbers_in_heads_and_tails() -> None:
    rows = rows_of(12, 20, 11)
    rows.remove(1)
    rows.renumber(np.arange(20, dtype=np.int32)[::-1].copy())
    assert rows.offset_numbers(0).tolist() == list(range(8, 20))
    assert rows.offset_numbers(1).tolist() == list(range(9, 20))
    assert set((rows.heads % CODES).ravel().tolist()) == {FIRST_SOLDIER}
