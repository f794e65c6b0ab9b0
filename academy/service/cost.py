"""The number of questions that a call counts as, in proportion to the time that it takes."""

from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.boards import CellChanges
from academy.service.moves import CandidateMoveChange

# Moves that change one cell are matched as differences: this number of them takes as long as a position.
_CANDIDATES_PER_QUESTION: Final = 16
# Other callers have their turn after moves that take as long as this number of positions.
_POSITIONS_AT_ONCE: Final = 8
_SMALL_MOVES_PER_POSITION: Final = 50


def cost_of_advice(cells: int, moves: Sequence[CandidateMoveChange], board: int) -> int:
    """Return the cost of advice on moves, or on this number of cells."""
    return board + (_cost_of_changes(moves, board) if moves else -(-cells // _CANDIDATES_PER_QUESTION))


def _cost_of_changes(moves: Sequence[CandidateMoveChange], board: int) -> int:
    """Return the cost of moves on a board that costs `board` to match once."""
    of_position = _CANDIDATES_PER_QUESTION * board
    return -(-sum(_weight(len(cells), of_position) for cells, _ in moves) // _CANDIDATES_PER_QUESTION)


def split_moves(moves: Sequence[CellChanges], board: int, kernel: str) -> Iterator[Sequence[CellChanges]]:
    """Return the moves in parts that take a kernel about as long as each other, in order."""
    # NumPy's looks at the position after each move for itself, which may take as long as a whole one.
    small_moves = _SMALL_MOVES_PER_POSITION if kernel == "numba" else 1
    most = max(1, _POSITIONS_AT_ONCE // board) * small_moves
    first, weight = 0, 0
    for place, move in enumerate(moves):
        of_move = _weight(len(move), small_moves)
        weight += of_move
        if weight > most:
            yield moves[first:place]
            first, weight = place, of_move
    yield moves[first:]


def _weight(changes: int, small_moves: int) -> int:
    return 1 if changes <= 1 else small_moves


_MATCHES_PER_QUESTION: Final = 1_024
# A position of 19x19 cells is matched in 0.3 ms, one of 64x64 in 3.6 ms.
_CELLS_PER_QUESTION: Final = 512
_QUESTIONS_FOR_CELLS: Final = 4
# Each move of a list is checked, counted and looked up: 10,000 take about 2 ms.
_LINE_MOVES_PER_QUESTION: Final = 512
# A stored proposal is read in 4 microseconds.
_RECORDS_PER_QUESTION: Final = 128
# Bytes read without charge. A message of 4 MiB full of empty parts is read in 75 ms.
FREE_BYTES: Final = 65_536
_BYTES_PER_QUESTION: Final = 8_192


def cost_of_reading(size: int) -> int:
    """Return the cost of a message of this size in bytes."""
    return max(0, size - FREE_BYTES) // _BYTES_PER_QUESTION


def cost_of_listing(records: int) -> int:
    """Return the cost of reading this number of stored records."""
    return 1 + records // _RECORDS_PER_QUESTION


def cost_of_moves(count: int) -> int:
    """Return the cost of a list of moves."""
    return 1 + count // _LINE_MOVES_PER_QUESTION


def cost_of_board(cells: int) -> int:
    """Return the cost of matching a board of this number of cells once."""
    return -(-cells // _CELLS_PER_QUESTION)


def cost_of_position(board: int, most: int, both_players: bool) -> int:
    """Return the cost of a position with at most `most` matches.

    `board` is the cost of matching it once.
    """
    return board * (1 + both_players) + most // _MATCHES_PER_QUESTION


def cost_of_positions(count: int, position: int, include_cells: bool) -> int:
    """Return the cost of a call about several positions that cost `position` each."""
    return count * position + include_cells * _QUESTIONS_FOR_CELLS


def cost_of_successors(
    moves: Sequence[CandidateMoveChange], board: int, most: int, include_cells: bool
) -> int:
    """Return the cost of a call about a position and its candidate moves."""
    matches = (1 + len(moves)) * (most // _MATCHES_PER_QUESTION)
    return board + _cost_of_changes(moves, board) + matches + include_cells * _QUESTIONS_FOR_CELLS
