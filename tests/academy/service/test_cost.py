"""How many questions a call counts as."""

import pytest

from academy.service.cost import (
    cost_of_board,
    cost_of_listing,
    cost_of_moves,
    cost_of_position,
    cost_of_positions,
    cost_of_reading,
    cost_of_successors,
    split_moves,
)


@pytest.mark.parametrize(
    ("board", "most", "both", "cost"),
    [
        (1, 256, False, 1),
        (1, 1_000, False, 1),
        (1, 256, True, 2),
        (1, 1_024, False, 2),
        (1, 65_536, True, 66),
        (8, 256, False, 8),
        (8, 1_024, True, 17),
    ],
)
def test_cost_of_a_position_depends_on_board_and_limits(board: int, most: int, both: bool, cost: int) -> None:
    assert cost_of_position(board, most, both) == cost


@pytest.mark.parametrize(("cells", "cost"), [(1, 1), (361, 1), (512, 1), (513, 2), (4_096, 8)])
def test_a_board_counts_by_its_cells(cells: int, cost: int) -> None:
    assert cost_of_board(cells) == cost


@pytest.mark.parametrize(
    ("kernel", "cells", "board", "parts"),
    [
        ("numba", 1, 1, 1),
        ("numba", 1, 8, 8),
        ("numba", 2, 1, 50),
        ("numba", 2, 8, 400),
        ("numpy", 1, 1, 50),
        ("numpy", 1, 8, 400),
        ("numpy", 2, 1, 50),
    ],
)
@pytest.mark.threat("flood")
def test_moves_that_take_long_are_answered_in_more_parts(
    kernel: str, cells: int, board: int, parts: int
) -> None:
    moves = [[(cell, 0) for cell in range(cells)]] * 400
    assert [move for part in split_moves(moves, board, kernel) for move in part] == moves
    assert len(list(split_moves(moves, board, kernel))) == parts


@pytest.mark.parametrize(("count", "cost"), [(0, 1), (511, 1), (512, 2), (10_000, 20)])
def test_a_list_of_moves_counts_by_its_length(count: int, cost: int) -> None:
    assert cost_of_moves(count) == cost


@pytest.mark.parametrize(("size", "cost"), [(0, 0), (65_536, 0), (73_728, 1), (4 * 1024 * 1024, 504)])
def test_a_large_message_counts_whatever_is_in_it(size: int, cost: int) -> None:
    assert cost_of_reading(size) == cost


@pytest.mark.parametrize(
    ("count", "position", "cells", "cost"), [(1, 1, False, 1), (64, 1, False, 64), (64, 2, True, 132)]
)
@pytest.mark.threat("flood")
def test_every_position_and_the_cells_of_a_call_count(
    count: int, position: int, cells: bool, cost: int
) -> None:
    assert cost_of_positions(count, position, cells) == cost


@pytest.mark.parametrize(
    ("moves", "most", "cells", "cost"),
    [
        (16, 256, False, 2),
        (400, 256, False, 26),
        (400, 256, True, 30),
        (63, 4_096, False, 5 + 64 * 4),
    ],
)
def test_cost_of_candidate_moves_includes_their_matches(
    moves: int, most: int, cells: bool, cost: int
) -> None:
    assert cost_of_successors([([0], "x")] * moves, 1, most, cells) == cost


@pytest.mark.parametrize(("changes", "cost"), [(([0], "x"), 8 + 25), (([0, 1], "xx"), 8 + 400 * 8)])
def test_candidate_moves_count_by_the_board_where_all_of_it_is_matched(
    changes: tuple[list[int], str], cost: int
) -> None:
    assert cost_of_successors([changes] * 400, cost_of_board(4_096), 256, False) == cost


@pytest.mark.parametrize(("records", "cost"), [(1, 1), (127, 1), (128, 2), (2_000, 16)])
def test_a_listing_counts_by_the_records_that_it_looks_through(records: int, cost: int) -> None:
    assert cost_of_listing(records) == cost
