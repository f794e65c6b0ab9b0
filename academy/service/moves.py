"""The moves and cells that a question names: read, and checked against the limits and the board."""

from collections.abc import Sequence
from typing import Final

from academy.knowledge.boards import Board, CellChanges, Geometry
from academy.knowledge.cells import LETTERS_TO_STATES, STATE_LETTERS, State
from academy.knowledge.spec import GameSpec
from academy.service.errors import InvalidFieldError, require
from academy.service.limits import Limits
from academy.v1 import consultation_pb2 as messages

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
                f"{field}.letters", f"letter {letter!r}: allowed are {' '.join(STATE_LETTERS)}", value=letter
            )


def read_empty_cells(cells: Sequence[int], board: Board, spec: GameSpec) -> list[int]:
    """Return the cells of a question. Raises InvalidFieldError."""
    size, given = board.geometry.size, list(cells)
    seen = set()
    for place, cell in enumerate(given):
        if cell >= size or board.states[cell] != State.EMPTY or cell in seen:
            raise InvalidFieldError(
                f"cells[{place}]", f"{cell:,}: an empty cell from 0 to {size - 1:,}, each once", value=cell
            )
        if spec.falls_past(board, cell):
            raise InvalidFieldError(
                f"cells[{place}]",
                f"{cell:,}: a piece falls past it; give the lowest empty cell of its column",
                value=cell,
            )
        seen.add(cell)
    return given


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
