"""A pattern hangs on its most central stone and is tested where it most often fails."""

import pytest

from academy.knowledge.boards import HexGeometry, SquareGeometry
from academy.knowledge.cells import CODE_LETTERS, Code
from academy.knowledge.patterns import grid_pattern
from academy.knowledge.symmetries import HEXAGON, SQUARE
from academy.knowledge.text import read_cells
from academy.matching.anchoring import TESTED_CODES, anchor_pattern
from academy.matching.board_tables import AnchorKind, SymmetryGroup

EIGHT = SymmetryGroup(SQUARE.values())
BOARD = SquareGeometry(19, 19)


@pytest.mark.parametrize(
    ("text", "kind", "anchor"),
    [
        ("x", AnchorKind.FIRST_PIECE, (0, 0)),
        ("- - -\n- o -\n- - x", AnchorKind.SECOND_PIECE, (1, 1)),
        ("- - -\n- - -\n- - B", AnchorKind.FIRST_PIECE, (2, 2)),
        ("- - -\n- 1 -\n- - -", AnchorKind.BOARD_CELL, (1, 1)),
        ("+ + +\n+ - 2", AnchorKind.BOARD_CELL, (1, 1)),
        ("# # # # x - o", AnchorKind.FIRST_PIECE, (0, 4)),
    ],
)
def test_the_anchor(text: str, kind: AnchorKind, anchor: tuple[int, int]) -> None:
    anchored = anchor_pattern(read_cells(text, BOARD), EIGHT)
    assert anchored.kind == kind
    assert tuple(anchored.anchors[0].tolist()) == anchor


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("- x 1 o", "o-1x"),
        ("1 - w x 2", "wx-12"),
        ("+ + +\n- x 2", "+++-2x"),
        ("o + x +\n# # # #", "+o+x"),
    ],
)
def test_the_most_telling_tests_come_first(text: str, order: str) -> None:
    anchored = anchor_pattern(read_cells(text, BOARD), EIGHT)
    assert "".join(CODE_LETTERS[int(TESTED_CODES[code])] for code in anchored.codes) == order


@pytest.mark.parametrize(
    ("text", "images"),
    [("x", 1), ("x x", 2), ("x o", 4), ("x o\n- -", 8), ("x -\n- x", 2), ("x #", 4)],
)
def test_equal_images_count_once(text: str, images: int) -> None:
    assert anchor_pattern(read_cells(text, BOARD), EIGHT).distinct.sum() == images


def test_images_on_the_hexagonal_board() -> None:
    twelve = SymmetryGroup(HEXAGON.values())
    pair = anchor_pattern(read_cells("x x", HexGeometry(5, 5)), twelve)
    assert pair.distinct.sum() == 3


def test_the_centre_on_the_hexagonal_board_is_where_no_cell_is_many_steps_away() -> None:
    # From (0, 0) the cell (1, 1) is two steps away, though one row and one column.
    pattern = grid_pattern([(0, 0, Code.FIRST_SOLDIER), (1, 0, Code.FIRST_SOLDIER), (1, 1, Code.EMPTY)])
    anchored = anchor_pattern(pattern, SymmetryGroup([HEXAGON["identity"]]), hexagonal=True)
    assert tuple(anchored.anchors[0].tolist()) == (1, 0)
