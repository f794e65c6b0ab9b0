"""How many questions a call counts as: about as many as could be answered in the time that it takes.

A question is a position on a board of up to 512 cells, with the placements that are told by default. Both
players' placements are found by matching twice; writing placements takes its time where thousands are told;
the text of cells is made once for all of a call.
"""

from collections.abc import Sequence
from typing import Final

from academy.service.candidate_moves import ToldMove, questions_of

_PLACEMENTS_PER_QUESTION: Final = 1_024
# A position of 19x19 cells is matched in 0.3 ms, one of 64x64 in 3.6 ms.
_CELLS_PER_QUESTION: Final = 512
_QUESTIONS_FOR_CELLS: Final = 4
# The moves of a list are checked, counted and looked up one by one: 10,000 take about 2 ms.
_MOVES_PER_QUESTION: Final = 512
# What questions need is read beside what they cost. A message of 4 MiB full of empty parts is read in 75 ms.
_BYTES_READ_FREELY: Final = 65_536
_BYTES_PER_QUESTION: Final = 8_192


def cost_of_reading(size: int) -> int:
    """Questions that a message of so many bytes counts as, whatever is in it."""
    return max(0, size - _BYTES_READ_FREELY) // _BYTES_PER_QUESTION


def cost_of_moves(count: int) -> int:
    """Questions that a list of so many moves counts as."""
    return 1 + count // _MOVES_PER_QUESTION


def cost_of_board(cells: int) -> int:
    """Questions that matching a board of so many cells once counts as."""
    return -(-cells // _CELLS_PER_QUESTION)


def cost_of_position(board: int, most: int, both_players: bool = False) -> int:
    """Questions that a position counts as, of which at most so many placements are asked for.

    `board` is what matching it once counts as.
    """
    return board * (1 + both_players) + most // _PLACEMENTS_PER_QUESTION


def cost_of_positions(count: int, board: int, most: int, both_players: bool, include_cells: bool) -> int:
    """Questions that a call about several positions counts as."""
    return count * cost_of_position(board, most, both_players) + include_cells * _QUESTIONS_FOR_CELLS


def cost_of_successors(moves: Sequence[ToldMove], board: int, most: int, include_cells: bool) -> int:
    """Questions that a call about a position and its candidate moves counts as."""
    told = (1 + len(moves)) * (most // _PLACEMENTS_PER_QUESTION)
    return board + questions_of(moves, board) + told + include_cells * _QUESTIONS_FOR_CELLS
