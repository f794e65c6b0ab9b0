"""The 8 symmetries of the square and the 12 of the hexagon."""

import pytest

from academy.knowledge.symmetries import HEXAGON, SQUARE, GridSymmetry, board_permutation

SQUARE_NEIGHBOURS = {(0, 1), (0, -1), (1, 0), (-1, 0)}
HEX_NEIGHBOURS = SQUARE_NEIGHBOURS | {(-1, 1), (1, -1)}


@pytest.mark.parametrize(
    ("family", "count", "neighbours"),
    [(SQUARE, 8, SQUARE_NEIGHBOURS), (HEXAGON, 12, HEX_NEIGHBOURS)],
    ids=["square", "hexagon"],
)
def test_symmetries_differ_are_a_group_and_leave_cells_that_touch_touching(
    family: dict[str, GridSymmetry], count: int, neighbours: set[tuple[int, int]]
) -> None:
    symmetries = family.values()
    matrices = {symmetry.matrix for symmetry in symmetries}
    assert len(matrices) == count
    assert {first.after(second) for first in symmetries for second in symmetries} == matrices
    for symmetry in symmetries:
        assert {symmetry.image(*cell) for cell in neighbours} == neighbours


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("identity", (2, 5)),
        ("rotate_180", (-2, -5)),
        ("mirror_columns", (2, -5)),
        ("mirror_rows", (-2, 5)),
        ("transpose", (5, 2)),
    ],
)
def test_names_of_the_square_mean_what_they_say(name: str, image: tuple[int, int]) -> None:
    assert SQUARE[name].image(2, 5) == image


@pytest.mark.parametrize(("degrees", "turns"), [(60, 6), (120, 3), (180, 2), (240, 3), (300, 6)])
def test_a_turn_of_the_hexagon_done_often_enough_is_a_whole_turn(degrees: int, turns: int) -> None:
    cell = (2, 5)
    for turn in range(1, turns + 1):
        cell = HEXAGON[f"rotate_{degrees}"].image(*cell)
        assert (cell == (2, 5)) is (turn == turns)


def test_a_board_that_does_not_map_onto_itself_has_no_permutation() -> None:
    oblong = [(row, column) for row in range(2) for column in range(3)]
    assert board_permutation(SQUARE["rotate_90"], oblong) is None
    assert board_permutation(SQUARE["rotate_180"], oblong) == (5, 4, 3, 2, 1, 0)
    assert board_permutation(SQUARE["mirror_columns"], oblong) == (2, 1, 0, 5, 4, 3)
