"""What bots cut out of the board around a move."""

from academy.knowledge.boards import Board, HexGeometry, SquareGeometry
from academy.knowledge.cutting import around_move
from academy.knowledge.text import write_cells
from clients.bots.advised_player import shapes

BOARD = SquareGeometry(5, 6)
BEFORE = """
------
--o---
-xx---
xoo---
oxxo--
"""
AFTER = """
------
--o---
-xxx--
xoo---
oxxo--
"""


def board(text: str) -> Board:
    return Board.from_letters(BOARD, "".join(text.split()))


def test_lines_go_through_the_move_as_far_as_three_cells_and_the_edge() -> None:
    before, after = board(BEFORE), board(AFTER)
    patterns = shapes(before, after, 1)
    # What a line says of its cells, row by row; the rest of a diagonal's box says nothing.
    rows = ["".join(write_cells(pattern, BOARD).replace("#", "").split()) for pattern in patterns[:4]]
    assert rows == ["-xxx--+", "+--x-o+", "+-ox--+", "+--xox+"]
    assert patterns[4:] == around_move(before, after, 1)


def test_hexagonal_boards_have_surroundings_alone() -> None:
    geometry = HexGeometry(3, 3)
    before, after = (Board.from_letters(geometry, letters) for letters in ("---------", "----x----"))
    assert shapes(before, after, 1) == around_move(before, after, 1)


def test_a_move_that_puts_no_piece_has_no_shape() -> None:
    assert shapes(board(BEFORE), board(BEFORE), 1) == []
