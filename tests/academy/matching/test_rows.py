"""Rows of tests in flat arrays, which nobody who reads them sees change."""

import numpy as np
import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.symmetries import SQUARE
from academy.matching.anchoring import AnchoredPattern
from academy.matching.board_tables import AnchorKind, Neighbourhood, SymmetryGroup
from academy.matching.rows import CODES, FAR_COUNT, FAR_START, STAGE, PatternRows, Rows, ranges

FIRST_SOLDIER = 1
GROUP = SymmetryGroup([SQUARE["identity"]])
NEIGHBOURHOOD = Neighbourhood(SquareGeometry(19, 19), GROUP)
ALWAYS = len(NEIGHBOURHOOD.offsets) * CODES


@pytest.mark.parametrize(
    ("starts", "lengths", "expected"),
    [
        ([], [], []),
        ([5], [3], [5, 6, 7]),
        ([5, 0, 9], [2, 3, 1], [5, 6, 0, 1, 2, 9]),
        ([5, 7, 1], [1, 0, 2], [5, 1, 2]),
    ],
)
def test_ranges_are_concatenated(starts: list[int], lengths: list[int], expected: list[int]) -> None:
    numbers = ranges(np.array(starts, dtype=np.int32), np.array(lengths, dtype=np.int32))
    assert numbers.tolist() == expected


def pattern_of(near: int, far: int = 0) -> AnchoredPattern:
    """Tests on the first offsets near the anchor, and on cells below that are far."""
    offsets = [tuple(offset) for offset in NEIGHBOURHOOD.offsets[:near].tolist()]
    offsets += [(10, column) for column in range(far)]
    return AnchoredPattern(
        AnchorKind.FIRST_PIECE,
        np.array(offsets, dtype=np.int32),
        np.full(near + far, FIRST_SOLDIER, dtype=np.uint8),
        np.zeros((1, 2), dtype=np.int16),
        np.ones(1, dtype=np.bool_),
    )


def rows_of(*sizes: tuple[int, int]) -> PatternRows:
    rows = PatternRows(1, NEIGHBOURHOOD)
    for number, (near, far) in enumerate(sizes):
        rows.append(number, pattern_of(near, far))
    return rows


def row_tests(rows: Rows, row: int) -> list[int]:
    start = rows.starts[row]
    return list(rows.tests[start : start + STAGE * rows.stages[row]])


def expected_tests(near: int) -> list[int]:
    filled = [CODES * offset + FIRST_SOLDIER for offset in range(near)]
    return filled + [ALWAYS] * (-near % STAGE)


def far_cells(rows: Rows, row: int) -> list[list[int]]:
    start = rows.far[row, FAR_START]
    return [offset.tolist() for offset in rows.far_offsets[start : start + rows.far[row, FAR_COUNT]]]


@pytest.mark.parametrize("near", [1, STAGE - 1, STAGE, STAGE + 1, 81])
def test_last_stage_is_padded_with_the_test_that_always_holds(near: int) -> None:
    assert row_tests(rows_of((3, 0), (near, 0)).freeze(), 1) == expected_tests(near)


def test_the_first_stage_of_all_holds_always() -> None:
    assert rows_of((3, 0)).freeze().tests[:STAGE].tolist() == [ALWAYS] * STAGE


def test_cells_beyond_the_table_are_far() -> None:
    rows = rows_of((5, 2), (1, 0), (2, 3)).freeze()
    assert [far_cells(rows, row) for row in range(3)] == [
        [[10, 0], [10, 1]],
        [],
        [[10, 0], [10, 1], [10, 2]],
    ]


def test_the_table_reaches_as_far_as_the_patterns_in_use() -> None:
    rows = rows_of((9, 0), (10, 0))
    assert rows.freeze().reach == 25
    rows.remove(1)
    assert rows.freeze().reach == 9


def test_a_removed_row_leaves_the_others_as_they_are() -> None:
    rows = rows_of((10, 0), (20, 0), (30, 0))
    rows.remove(0)
    now = rows.freeze()
    assert now.of_kind[AnchorKind.FIRST_PIECE].tolist() == [1, 2]
    assert row_tests(now, 2) == expected_tests(30)


def test_frozen_rows_do_not_change() -> None:
    rows = rows_of(*[(near, near % 3) for near in range(1, 60)])
    before = rows.freeze()
    kept = [column.copy() for column in before if isinstance(column, np.ndarray)]
    members = before.of_kind[AnchorKind.FIRST_PIECE].tolist()
    chance = np.random.default_rng(6)
    alive = dict.fromkeys(range(59))
    for number in range(200):
        row = int(chance.choice(list(alive)))
        rows.remove(row)
        del alive[row]
        renumbered = rows.compact()
        if renumbered:
            alive = dict.fromkeys(renumbered.values())
        alive[rows.append(1000 + number, pattern_of(1 + number % 81, number % 4))] = None
    after = [column for column in before if isinstance(column, np.ndarray)]
    assert all(np.array_equal(*pair) for pair in zip(kept, after, strict=True))
    assert before.of_kind[AnchorKind.FIRST_PIECE].tolist() == members


def test_space_of_removed_rows_is_used_again() -> None:
    rows = rows_of((81, 9))
    row = 0
    sizes = []
    for number in range(500):
        fresh = rows.append(number, pattern_of(81, 9))
        rows.remove(row)
        row = rows.compact().get(number, fresh)
        now = rows.freeze()
        assert row_tests(now, row) == expected_tests(81)
        assert len(far_cells(now, row)) == 9
        sizes.append(len(now.tests))
    assert max(sizes) < 40 * 84
