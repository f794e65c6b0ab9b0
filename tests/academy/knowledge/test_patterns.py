"""Patterns as values: normalised, limited, and their images."""

from collections.abc import Iterator

import pytest

from academy.knowledge.cells import Code
from academy.knowledge.patterns import MAX_PATTERN_CELLS, InvalidPatternError, graph_pattern, grid_pattern
from academy.knowledge.symmetries import SQUARE, NodeSymmetry

X, EMPTY, ANYTHING, EDGE = Code.FIRST_SOLDIER, Code.EMPTY, Code.ANYTHING, Code.OFF_BOARD


def test_the_same_cells_anywhere_and_in_any_order_are_the_same_pattern() -> None:
    here = grid_pattern([(0, 1, X), (1, 0, EMPTY)])
    there = grid_pattern([(8, -3, EMPTY), (7, -2, X)])
    assert here == there
    assert (here.cells, here.codes) == (((0, 1), (1, 0)), bytes([X, EMPTY]))
    assert (here.rows, here.columns) == (2, 2)


def test_nodes_of_a_graph_do_not_move() -> None:
    assert graph_pattern([(7, X), (3, EMPTY)]).cells == ((0, 3), (0, 7))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], "no cells"),
        ([(0, 0, X), (0, 0, EMPTY)], "same cell twice"),
        ([(0, 0, ANYTHING), (0, 1, EDGE)], "other than '#' and '\\+'"),
        ([(0, 0, 3)], "code 3 is not one of 1, 2, 4, 6"),
        ([(0, column, X) for column in range(MAX_PATTERN_CELLS + 1)], "at most 441"),
    ],
)
@pytest.mark.threat("vote_stuffing")
def test_what_is_not_a_pattern(cells: list[tuple[int, int, int]], message: str) -> None:
    with pytest.raises(InvalidPatternError, match=message):
        grid_pattern(cells)
    with pytest.raises(InvalidPatternError, match=message):
        graph_pattern([(column, code) for _, column, code in cells])


@pytest.mark.threat("vote_stuffing")
def test_too_many_cells_are_refused_without_reading_them_all() -> None:
    read: list[int] = []

    def endless() -> Iterator[tuple[int, int, int]]:
        while True:
            read.append(len(read))
            yield 0, len(read), X

    with pytest.raises(InvalidPatternError, match="at most 441"):
        grid_pattern(endless())
    assert len(read) == MAX_PATTERN_CELLS + 1


def test_an_image_is_normalised_too() -> None:
    column = grid_pattern([(0, 0, X), (1, 0, EMPTY), (2, 0, ANYTHING)])
    assert column.image(SQUARE["transpose"]) == grid_pattern([(0, 0, X), (0, 1, EMPTY), (0, 2, ANYTHING)])
    assert column.image(SQUARE["rotate_180"]) == grid_pattern([(0, 0, ANYTHING), (1, 0, EMPTY), (2, 0, X)])


def test_an_image_on_a_graph_carries_each_code_to_its_new_node() -> None:
    turn = NodeSymmetry("turn", (1, 2, 0))
    assert graph_pattern([(0, X), (2, EMPTY)]).image(turn) == graph_pattern([(1, X), (0, EMPTY)])
