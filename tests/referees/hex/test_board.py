"""Stones know which edges their chain is linked to."""

import random

import pytest

from referees.hex.board import (
    BLACK,
    BOTH_EDGES,
    COLOUR,
    WHITE,
    Board,
    OccupiedCellError,
    neighbours,
    own_edges,
)


def test_a_cell_touches_six_others_unless_it_lies_at_an_edge() -> None:
    # Cell 5 of a board of 3 rows and 4 columns is b2: b1, c1, a2, c2, a3, b3.
    touching = neighbours(3, 4)
    assert touching[5] == (1, 2, 4, 6, 8, 9)
    assert touching[0] == (1, 4)
    assert touching[3] == (2, 6, 7)
    assert touching[11] == (7, 10)
    assert all(cell in touching[near] for cell in range(12) for near in touching[cell])


def searched_links(board: Board, cell: int) -> int:
    """The edges that a stone's chain reaches, found by walking through it."""
    colour = board.cells[cell] & COLOUR
    chain = [cell]
    for stone in chain:
        chain += [
            near
            for near in board.neighbours[stone]
            if board.cells[near] & COLOUR == colour and near not in chain
        ]
    links = 0
    for stone in chain:
        links |= own_edges(board.rows, board.columns)[colour][stone]
    return links


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (4, 7), (6, 6), (9, 5), (11, 11)])
def test_every_stone_knows_its_links_in_random_games_to_the_full_board(rows: int, columns: int) -> None:
    chance = random.Random(rows * columns)
    for _ in range(5):
        board = Board(rows, columns)
        order = chance.sample(range(rows * columns), rows * columns)
        for ply, cell in enumerate(order):
            colour = chance.choice((BLACK, WHITE))
            linked = board.play(colour, cell)
            assert linked == (searched_links(board, cell) == BOTH_EDGES)
            if ply % 7 == 0 or ply == len(order) - 1:
                for placed in order[: ply + 1]:
                    assert board.cells[placed] & BOTH_EDGES == searched_links(board, placed)


def test_on_a_full_board_exactly_one_colour_is_linked() -> None:
    chance = random.Random(7)
    for rows, columns in [(2, 2), (3, 5), (7, 7), (11, 11)] * 25:
        board = Board(rows, columns)
        winners = set()
        for cell in chance.sample(range(rows * columns), rows * columns):
            colour = chance.choice((BLACK, WHITE))
            if board.play(colour, cell):
                winners.add(colour)
        assert len(winners) == 1


def test_no_stone_is_placed_on_another() -> None:
    board = Board(3, 3)
    board.play(BLACK, 4)
    with pytest.raises(OccupiedCellError, match="4"):
        board.play(WHITE, 4)


@pytest.mark.parametrize(("white", "contact"), [(1, True), (2, True), (0, False), (8, False), (5, True)])
def test_stones_of_different_colours_touch(white: int, contact: bool) -> None:
    board = Board(3, 3)
    board.play(BLACK, 4)
    board.play(WHITE, white)
    assert board.has_contact() == contact
