"""Boards, their geometries, and what is refused."""

import pytest

from academy.knowledge.boards import (
    MAX_CELLS,
    Board,
    Geometry,
    GraphGeometry,
    HexGeometry,
    InvalidBoardError,
    SquareGeometry,
)
from academy.knowledge.cells import State


def test_a_board_is_read_row_by_row_and_written_the_same() -> None:
    board = Board.from_letters(SquareGeometry(2, 3), "-xbow+")
    assert list(board.states) == list(State)
    assert board.letters == "-xbow+"


@pytest.mark.parametrize(
    "geometry", [SquareGeometry(2, 2), HexGeometry(2, 2), GraphGeometry(("a", "b", "c", "d"))]
)
@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("---", "3 letters: this game's has 4 cells"),
        ("-----", "5 letters"),
        ("--B-", "'B' at cell 2.*- x b o w"),
        ("--é-", "'é' at cell 2"),
    ],
)
def test_a_wrong_board_is_refused(geometry: Geometry, letters: str, message: str) -> None:
    with pytest.raises(InvalidBoardError, match=message):
        Board.from_letters(geometry, letters)


@pytest.mark.parametrize("shape", [SquareGeometry, HexGeometry])
@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (5, -1), (65, 64)])
def test_a_grid_has_1_to_4096_cells(
    shape: type[SquareGeometry] | type[HexGeometry], rows: int, columns: int
) -> None:
    assert shape(64, 64).size == MAX_CELLS
    with pytest.raises(InvalidBoardError, match=f"{rows} rows and {columns} columns"):
        shape(rows, columns)


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ((), (), "0 nodes"),
        (tuple(map(str, range(MAX_CELLS + 1))), (), "4097 nodes"),
        (("PAR", "BUR", "PAR"), (), "'PAR' is named twice"),
        (("PAR", ""), (), "not empty"),
        (("St Petersburg",), (), "no blanks"),
        (("St\u2028P",), (), "no blanks"),
        (("a", "b"), ((0, 2),), r"\(0, 2\)"),
        (("a", "b"), ((1, 1),), "different nodes"),
        (("a", "b"), (("a", "b"),), r"edge \('a', 'b'\): .* by their places, 0 to 1"),
        (("a", "b", "c"), ((0, 1, 2),), "two ends"),
        (("a", "b"), ((0,),), "two ends"),
    ],
)
def test_a_wrong_graph_is_refused(
    nodes: tuple[str, ...], edges: tuple[tuple[int, int], ...], message: str
) -> None:
    with pytest.raises(InvalidBoardError, match=message):
        GraphGeometry(nodes, edges)
