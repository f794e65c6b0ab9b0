"""Whether a pattern lies somewhere on a board."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.occurrence import occurs
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.text import read_cells

from . import strategies
from .games import DIPLOMACY, cells


def occurs_plainly(pattern: Pattern, board: Board) -> bool:
    """The rule, computed step by step as it reads."""
    geometry = board.geometry
    if isinstance(geometry, GraphGeometry):
        shifts, state = [(0, 0)], {(0, node): board.states[node] for node in range(geometry.size)}
    else:
        shifts = [(row, column) for row in range(-4, geometry.rows) for column in range(-4, geometry.columns)]
        state = dict(zip(geometry.cells, board.states, strict=True))
    return any(
        all(
            state.get((top + row, left + column), State.OFF_BOARD) & code
            for (row, column), code in zip(pattern.cells, pattern.codes, strict=True)
        )
        for top, left in shifts
    )


@given(st.data(), strategies.games)
def test_the_occurrence_of_a_pattern_is_as_the_rule_says(data: st.DataObject, spec: GameSpec) -> None:
    board = data.draw(strategies.boards(spec.geometry))
    pattern = data.draw(strategies.patterns(spec.geometry))
    assert occurs(pattern, spec.geometry, board.states) is occurs_plainly(pattern, board)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("x -", True),
        ("- x", False),
        ("x / -", True),
        ("+ + / + x", True),
        ("+ + / + o", False),
        ("o + / + +", True),
        ("# # # / # x # / # # #", True),
        ("- - - -", False),
        ("1 - - +", True),
        ("w", False),
    ],
)
def test_on_a_square_board(pattern: str, expected: bool) -> None:
    geometry = SquareGeometry(3, 3)
    board = Board.from_letters(geometry, "x--" + "---" + "--o")
    assert occurs(cells(pattern), geometry, board.states) is expected


@pytest.mark.parametrize(("pattern", "expected"), [("x - - / - - o", True), ("x - / - - / - o", False)])
def test_on_a_board_that_is_wider_than_high(pattern: str, expected: bool) -> None:
    geometry = SquareGeometry(2, 3)
    board = Board.from_letters(geometry, "x--" + "--o")
    assert occurs(cells(pattern), geometry, board.states) is expected


def test_on_hexagons_a_pattern_that_leans_the_other_way_is_another() -> None:
    geometry = HexGeometry(2, 2)
    board = Board.from_letters(geometry, "-x" + "o-")
    assert occurs(read_cells(" x\no", geometry), geometry, board.states)
    assert not occurs(read_cells("x\n o", geometry), geometry, board.states)


@pytest.mark.parametrize(("pattern", "expected"), [("x PAR", True), ("x BUR", False), ("x PAR\n2 BUR", True)])
def test_on_a_graph_each_node_is_where_it_is(pattern: str, expected: bool) -> None:
    geometry = DIPLOMACY.geometry
    board = Board.from_letters(geometry, "xo")
    assert occurs(read_cells(pattern, geometry), geometry, board.states) is expected
