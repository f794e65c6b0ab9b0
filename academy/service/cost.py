"""The number of questions that a call counts as, in proportion to the time that it takes.

Candidate moves are read here, because their number and length decide their cost.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.boards import Board, CellChanges, Geometry
from academy.knowledge.cells import LETTERS_TO_STATES, STATE_LETTERS, State
from academy.service.errors import InvalidFieldError, require
from academy.service.limits import Limits
from academy.v1 import consultation_pb2 as messages

# Moves that change one cell are matched as differences: this number of them takes as long as a position.
_MOVES_PER_QUESTION: Final = 16
# Other callers have their turn after moves that take as long as this number of positions.
_POSITIONS_AT_ONCE: Final = 8
_SMALL_MOVES_PER_POSITION: Final = 50

_STATE_OF: Final = dict(zip(STATE_LETTERS, STATE_LETTERS.encode().translate(LETTERS_TO_STATES), strict=True))

# The cells that a move changes, and a letter for each.
CandidateMoveChange = tuple[list[int], str]


def parse_candidate_moves(
    moves: Sequence[messages.CandidateMove], limits: Limits
) -> list[CandidateMoveChange]:
    """Check the number and length of moves, and return each one's changes. Raises InvalidFieldError."""
    count, most = len(moves), limits.successors_per_call
    require(1 <= count <= most, "moves", f"{count:,} moves: 1 to {most:,}", value=count, limit=most)
    changes, most = sum(len(move.cells) for move in moves), limits.changes_per_call
    require(
        changes <= most,
        "moves",
        f"{changes:,} changed cells in all: at most {most:,} a call",
        value=changes,
        limit=most,
    )
    changes_by_move = [(list(move.cells), move.letters) for move in moves]
    for place, (cells, letters) in enumerate(changes_by_move):
        if len(cells) != len(letters):
            raise InvalidFieldError(
                f"moves[{place}].letters",
                f"{len(letters):,} letters for {len(cells):,} cells: one for each",
                value=len(letters),
                cells=len(cells),
            )
    return changes_by_move


def read_changes(moves: Sequence[CandidateMoveChange], geometry: Geometry) -> list[CellChanges]:
    """Return the changes of each move. Raises InvalidFieldError for an unknown cell or letter."""
    size = geometry.size
    for place, (cells, letters) in enumerate(moves):
        _check_move(cells, letters, f"moves[{place}]", size)
    return [[(cell, _STATE_OF[letter]) for cell, letter in zip(*move, strict=True)] for move in moves]


def _check_move(cells: list[int], letters: str, field: str, size: int) -> None:
    for cell in cells:
        if cell >= size:
            raise InvalidFieldError(
                f"{field}.cells", f"cell {cell:,}: cells are 0 to {size - 1:,}", value=cell, size=size
            )
    if len(cells) > 1 and len(set(cells)) != len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InvalidFieldError(
            f"{field}.cells", f"cell {twice:,} twice: each cell at most once", value=twice
        )
    for letter in letters:
        if letter not in _STATE_OF:
            raise InvalidFieldError(
                f"{field}.letters",
                f"letter {letter!r}: allowed are {' '.join(STATE_LETTERS)}",
                value=letter,
            )


def read_empty_cells(cells: Sequence[int], board: Board) -> list[int]:
    """Return the cells of a question. Raises InvalidFieldError."""
    size, given = board.geometry.size, list(cells)
    seen = set()
    for place, cell in enumerate(given):
        if cell >= size or board.states[cell] != State.EMPTY or cell in seen:
            raise InvalidFieldError(
                f"cells[{place}]", f"{cell:,}: an empty cell from 0 to {size - 1:,}, each once", value=cell
            )
        seen.add(cell)
    return given


def cost_of_advice(cells: int, moves: Sequence[CandidateMoveChange], board: int) -> int:
    """Return the cost of advice on moves, or on this number of cells."""
    return board + (cost_of_changes(moves, board) if moves else -(-cells // _MOVES_PER_QUESTION))


def cost_of_changes(moves: Sequence[CandidateMoveChange], board: int) -> int:
    """Return the cost of moves on a board that costs `board` to match once."""
    of_position = _MOVES_PER_QUESTION * board
    return -(-sum(_weight(len(cells), of_position) for cells, _ in moves) // _MOVES_PER_QUESTION)


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


_PLACEMENTS_PER_QUESTION: Final = 1_024
# A position of 19x19 cells is matched in 0.3 ms, one of 64x64 in 3.6 ms.
_CELLS_PER_QUESTION: Final = 512
_QUESTIONS_FOR_CELLS: Final = 4
# Each move of a list is checked, counted and looked up: 10,000 take about 2 ms.
_MOVES_A_QUESTION: Final = 512
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


def check_line(moves: Sequence[str], limits: Limits, field: str = "moves") -> None:
    """Check the number and length of a line's moves. Raises InvalidFieldError."""
    count, most = len(moves), limits.moves_per_list
    require(count <= most, field, f"{count:,} moves: at most {most:,}", value=count, limit=most)
    lengths, longest = list(map(len, moves)), limits.characters_per_move
    if lengths and not (min(lengths) >= 1 and max(lengths) <= longest):
        place, length = next(
            (place, length) for place, length in enumerate(lengths) if not 1 <= length <= longest
        )
        raise InvalidFieldError(
            f"{field}[{place}]",
            f"{length:,} characters: a move has 1 to {longest:,}",
            value=length,
            limit=longest,
        )
    total, most = sum(lengths), limits.characters_per_list
    require(total <= most, field, f"{total:,} characters in all: at most {most:,}", value=total, limit=most)


def cost_of_moves(count: int) -> int:
    """Return the cost of a list of moves."""
    return 1 + count // _MOVES_A_QUESTION


def cost_of_board(cells: int) -> int:
    """Return the cost of matching a board of this number of cells once."""
    return -(-cells // _CELLS_PER_QUESTION)


def cost_of_position(board: int, most: int, both_players: bool = False) -> int:
    """Return the cost of a position with at most `most` placements.

    `board` is the cost of matching it once.
    """
    return board * (1 + both_players) + most // _PLACEMENTS_PER_QUESTION


def cost_of_positions(count: int, board: int, most: int, both_players: bool, include_cells: bool) -> int:
    """Return the cost of a call about several positions."""
    return count * cost_of_position(board, most, both_players) + include_cells * _QUESTIONS_FOR_CELLS


def cost_of_successors(
    moves: Sequence[CandidateMoveChange], board: int, most: int, include_cells: bool
) -> int:
    """Return the cost of a call about a position and its candidate moves."""
    placements = (1 + len(moves)) * (most // _PLACEMENTS_PER_QUESTION)
    return board + cost_of_changes(moves, board) + placements + include_cells * _QUESTIONS_FOR_CELLS
