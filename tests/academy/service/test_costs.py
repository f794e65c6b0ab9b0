"""How many questions a call counts as."""

import pytest

from academy.service.costs import (
    cost_of_moves,
    cost_of_position,
    cost_of_positions,
    cost_of_reading,
    cost_of_successors,
)


@pytest.mark.parametrize(
    ("most", "both", "cost"),
    [(256, False, 1), (1_000, False, 1), (256, True, 2), (1_024, False, 2), (65_536, True, 66)],
)
def test_a_position_counts_by_what_is_asked_of_it(most: int, both: bool, cost: int) -> None:
    assert cost_of_position(most, both) == cost


@pytest.mark.parametrize(("count", "cost"), [(0, 1), (511, 1), (512, 2), (10_000, 20)])
def test_a_list_of_moves_counts_by_its_length(count: int, cost: int) -> None:
    assert cost_of_moves(count) == cost


@pytest.mark.parametrize(("size", "cost"), [(0, 0), (65_536, 0), (73_728, 1), (4 * 1024 * 1024, 504)])
def test_a_large_message_counts_whatever_is_in_it(size: int, cost: int) -> None:
    assert cost_of_reading(size) == cost


@pytest.mark.parametrize(
    ("count", "most", "both", "cells", "cost"),
    [(1, 256, False, False, 1), (64, 256, False, False, 64), (64, 1_000, True, True, 132)],
)
def test_all_of_a_call_counts(count: int, most: int, both: bool, cells: bool, cost: int) -> None:
    assert cost_of_positions(count, most, both, cells) == cost


@pytest.mark.parametrize(
    ("moves", "most", "cells", "cost"),
    [
        (16, 256, False, 2),
        (400, 256, False, 26),
        (400, 256, True, 30),
        (63, 4_096, False, 5 + 64 * 4),
    ],
)
def test_candidate_moves_count_by_the_placements_asked_for_too(
    moves: int, most: int, cells: bool, cost: int
) -> None:
    assert cost_of_successors([([0], "x")] * moves, most, cells) == cost
