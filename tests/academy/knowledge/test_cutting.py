"""A pattern cut out of a board says what is there, and so it lies on that board at that place."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.cutting import InvalidCutError, around_move, cell_of_move, cut, cut_around
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import HEXAGON, SQUARE
from academy.knowledge.text import read_cells, write_cells
from tests.academy.matching.reference import lies_at
from tests.academy.matching.strategies import boards

SQUARE_BOARD = Board.from_letters(SquareGeometry(4, 5), "x-o---bw-------o---x")
HEX_BOARD = Board.from_letters(HexGeometry(3, 3), "+x--o---+")
GRAPH_BOARD = Board.from_letters(
    GraphGeometry(("PAR", "BUR", "MAR", "PIC", "SPA"), ((0, 1), (1, 2), (3, 0), (2, 4))), "x-oxw"
)


@pytest.mark.parametrize(
    ("cell", "rows", "columns", "expected"),
    [
        (6, 1, 1, "b"),
        (6, 3, 3, "x - o\n- b w\n- - -"),
        (7, 1, 3, "b w -"),
        (7, 3, 5, "x - o - -\n- b w - -\n- - - - -"),
        (0, 3, 3, "+ + +\n+ x -\n+ - b"),
        (0, 5, 5, "# # # # #\n# + + + +\n# + x - o\n# + - b w\n# + - - -"),
        (19, 5, 3, "- - +\n- - +\n- x +\n+ + +\n# # #"),
    ],
)
def test_a_window_of_a_square_board(cell: int, rows: int, columns: int, expected: str) -> None:
    pattern = cut(SQUARE_BOARD, cell, rows, columns)
    assert pattern == read_cells(expected, SQUARE_BOARD.geometry)


@pytest.mark.parametrize(
    ("cell", "reach", "expected"),
    [
        (4, 0, "o"),
        (4, 1, " x -\n- o -\n - -"),
        (1, 1, " + +\n+ x -\n - o"),
        (4, 2, "  + + +\n + x - +\n+ - o - +\n + - - +\n  + + +"),
        (1, 2, "  # # #\n # + + +\n# + x - +\n + - o -\n  + - -"),
    ],
)
def test_a_hexagon_of_a_hexagonal_board(cell: int, reach: int, expected: str) -> None:
    pattern = cut_around(HEX_BOARD, cell, reach)
    assert write_cells(pattern, HEX_BOARD.geometry).split() == expected.split()
    assert pattern == read_cells(expected, HEX_BOARD.geometry)


@pytest.mark.parametrize(
    ("node", "distance", "expected"),
    [
        (0, 0, "x PAR"),
        (0, 1, "x PAR\n- BUR\nx PIC"),
        (0, 2, "x PAR\n- BUR\no MAR\nx PIC"),
        (4, 1, "o MAR\nw SPA"),
        (4, 1000, "x PAR\n- BUR\no MAR\nx PIC\nw SPA"),
    ],
)
def test_the_neighbourhood_of_a_node(node: int, distance: int, expected: str) -> None:
    pattern = cut_around(GRAPH_BOARD, node, distance)
    assert pattern == read_cells(expected, GRAPH_BOARD.geometry)


def test_a_whole_go_board_with_its_edge_is_a_pattern() -> None:
    board = Board(SquareGeometry(19, 19), bytes([State.EMPTY]) * 361)
    assert len(cut(board, 180, 21, 21).cells) == 441


def test_nodes_that_cannot_be_seen_may_hold_anything() -> None:
    board = Board.from_letters(GRAPH_BOARD.geometry, "x+oxw")
    assert cut_around(board, 0, 1) == read_cells("x PAR\n# BUR\nx PIC", board.geometry)


def on_board_cells(board: Board) -> list[int]:
    cells = [cell for cell, state in enumerate(board.states) if state != State.OFF_BOARD]
    assume(cells)
    return cells


grid_boards = st.one_of(
    st.builds(SquareGeometry, st.integers(1, 9), st.integers(1, 9)),
    st.builds(HexGeometry, st.integers(1, 9), st.integers(1, 9)),
).flatmap(boards)


@given(st.data(), grid_boards)
def test_a_cut_pattern_lies_where_it_was_cut(data: st.DataObject, board: Board) -> None:
    assert isinstance(board.geometry, SquareGeometry | HexGeometry)
    cell = data.draw(st.sampled_from(on_board_cells(board)))
    row, column = divmod(cell, board.geometry.columns)
    longest = 2 + max(board.geometry.rows, board.geometry.columns)
    halves = st.integers(0, (longest - 1) // 2)
    up, left, reach = data.draw(st.tuples(halves, halves, halves))
    spec = GameSpec("any", board.geometry)
    window = cut(board, cell, 2 * up + 1, 2 * left + 1)
    assert spec.check_pattern(window) == window
    assert lies_at(window, board, row - up, column - left)
    around = cut_around(board, cell, reach)
    assert spec.check_pattern(around) == around
    assert lies_at(around, board, row - reach, column - reach)


@given(st.data(), grid_boards)
def test_cutting_goes_with_the_symmetries(data: st.DataObject, board: Board) -> None:
    symmetries = SQUARE if isinstance(board.geometry, SquareGeometry) else HEXAGON
    spec = GameSpec("any", board.geometry, symmetric=False, symmetries=tuple(symmetries))
    images = [(symmetry, spec.board_image(board, symmetry)) for symmetry in symmetries.values()]
    symmetry, turned = data.draw(st.sampled_from([(symmetry, image) for symmetry, image in images if image]))
    cell = data.draw(st.sampled_from(on_board_cells(board)))
    marks = Board(board.geometry, bytes(2 if place == cell else 1 for place in range(board.geometry.size)))
    turned_marks = spec.board_image(marks, symmetry)
    assert turned_marks is not None
    goes_to = turned_marks.states.index(2)
    assert cut_around(turned, goes_to, 1) == cut_around(board, cell, 1).image(symmetry)


BIG = Board(SquareGeometry(50, 50), bytes([State.EMPTY]) * 2500)
STAR = Board(
    GraphGeometry(tuple(f"n{node}" for node in range(500)), tuple((0, node) for node in range(1, 500))),
    bytes([State.EMPTY]) * 500,
)


@pytest.mark.parametrize(
    ("board", "cell", "rows", "columns", "complaint"),
    [
        (SQUARE_BOARD, 20, 3, 3, "cell 20.*0 to 19"),
        (SQUARE_BOARD, -1, 3, 3, "cell -1.*0 to 19"),
        (SQUARE_BOARD, 6, 2, 3, "2 x 3 cells.*odd"),
        (SQUARE_BOARD, 6, 3, 2, "3 x 2 cells.*odd"),
        (SQUARE_BOARD, 6, 3, -1, "3 x -1 cells.*positive"),
        (SQUARE_BOARD, 6, -1, 3, "-1 x 3 cells.*positive"),
        (SQUARE_BOARD, 6, 9, 3, "9 cells long.*at most 7"),
        (BIG, 0, 23, 21, "483 cells.*at most 441"),
        (HEX_BOARD, 0, 3, 3, "cell 0 is not on the board"),
        (GRAPH_BOARD, 0, 3, 3, "use cut_around"),
    ],
)
def test_a_window_that_is_refused(board: Board, cell: int, rows: int, columns: int, complaint: str) -> None:
    with pytest.raises(InvalidCutError, match=complaint):
        cut(board, cell, rows, columns)


@pytest.mark.parametrize(
    ("board", "cell", "reach", "complaint"),
    [
        (SQUARE_BOARD, 6, -1, "reach of -1"),
        (SQUARE_BOARD, 6, 4, "9 cells long.*at most 7"),
        (HEX_BOARD, 4, 3, "7 cells long.*at most 5"),
        (Board(HexGeometry(30, 30), bytes([1]) * 900), 0, 12, "469 cells.*at most 441"),
        (GRAPH_BOARD, 5, 1, "cell 5.*0 to 4"),
        (STAR, 3, 2, "500 nodes.*at most 441"),
    ],
)
def test_a_reach_that_is_refused(board: Board, cell: int, reach: int, complaint: str) -> None:
    with pytest.raises(InvalidCutError, match=complaint):
        cut_around(board, cell, reach)


@pytest.mark.parametrize(
    ("before", "after", "player", "cell"),
    [
        ("----", "-x--", 1, 1),
        ("-x--", "-xo-", 2, 2),
        ("-x--", "-x--", 2, None),  # a pass
        ("xo--", "xxx-", 1, 2),  # the piece put down, not the one turned over
        ("x-o-", "-x--", 1, 1),  # a move, and a capture
        ("x-o-", "--x-", 1, 2),  # a capture by taking the place
        ("x---", "---b", 1, 3),  # crowned
        ("x---", "b---", 1, None),  # nothing moved
    ],
)
def test_a_move_is_found_by_what_it_changes(before: str, after: str, player: int, cell: int | None) -> None:
    row = SquareGeometry(1, 4)
    boards = Board.from_letters(row, before), Board.from_letters(row, after)
    assert cell_of_move(*boards, player) == cell


def test_patterns_around_a_move_are_as_large_as_the_board_allows() -> None:
    empty = Board.from_letters(SquareGeometry(3, 3), "---------")
    after = Board.from_letters(SquareGeometry(3, 3), "----x----")
    assert [len(pattern.cells) for pattern in around_move(empty, after, 1)] == [9, 25]
    assert around_move(empty, empty, 1) == []
    small = Board.from_letters(SquareGeometry(2, 2), "----"), Board.from_letters(SquareGeometry(2, 2), "---x")
    assert [len(pattern.cells) for pattern in around_move(*small, 1)] == [9]
