"""Candidate moves as a request tells them: read, and weighed by what they cost."""

from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.boards import Geometry
from academy.knowledge.cells import LETTERS_TO_STATES, STATE_LETTERS
from academy.matching.changes import Change
from academy.service.limits import Limits
from academy.service.refusals import InvalidField, require
from academy.v1 import consultation_pb2 as messages

# Moves that change one cell are matched by what is different: so many of them take as long as a position.
_MOVES_PER_QUESTION: Final = 16
# Others are let in after moves that take as long as so many positions: of small ones after all of a call.
_POSITIONS_AT_ONCE: Final = 8
_SMALL_MOVES_PER_POSITION: Final = 50

_STATE_OF: Final = dict(zip(STATE_LETTERS, STATE_LETTERS.encode().translate(LETTERS_TO_STATES), strict=True))

# The cells that a move changes, and a letter for each.
ToldMove = tuple[list[int], str]
Move = list[Change]


def told_moves(moves: Sequence[messages.CandidateMove], limits: Limits) -> list[ToldMove]:
    """Check how much is asked, and return what is told of each move. Raises InvalidField."""
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
    told = [(list(move.cells), move.letters) for move in moves]
    for place, (cells, letters) in enumerate(told):
        if len(cells) != len(letters):
            raise InvalidField(
                f"moves[{place}].letters",
                f"{len(letters):,} letters for {len(cells):,} cells: one for each",
                value=len(letters),
                cells=len(cells),
            )
    return told


def changes_of_moves(moves: Sequence[ToldMove], geometry: Geometry) -> list[Move]:
    """Return what each move changes. Raises InvalidField for a cell or letter that there is not."""
    size = geometry.size
    for place, (cells, letters) in enumerate(moves):
        _check_move(cells, letters, f"moves[{place}]", size)
    return [[(cell, _STATE_OF[letter]) for cell, letter in zip(*move, strict=True)] for move in moves]


def _check_move(cells: list[int], letters: str, field: str, size: int) -> None:
    for cell in cells:
        if cell >= size:
            raise InvalidField(
                f"{field}.cells", f"cell {cell:,}: cells are 0 to {size - 1:,}", value=cell, size=size
            )
    if len(cells) > 1 and len(set(cells)) != len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InvalidField(f"{field}.cells", f"cell {twice:,} twice: each cell at most once", value=twice)
    for letter in letters:
        if letter not in _STATE_OF:
            raise InvalidField(
                f"{field}.letters",
                f"letter {letter!r}: allowed are {' '.join(STATE_LETTERS)}",
                value=letter,
            )


def questions_of(moves: Sequence[ToldMove], board: int) -> int:
    """How many questions some moves count as, where matching the board once counts as `board`."""
    of_position = _MOVES_PER_QUESTION * board
    return -(-sum(_weight(len(cells), of_position) for cells, _ in moves) // _MOVES_PER_QUESTION)


def in_parts(moves: Sequence[Move], board: int) -> Iterator[Sequence[Move]]:
    """Return the moves in parts that take about as long as each other, in order."""
    most = max(1, _POSITIONS_AT_ONCE // board) * _SMALL_MOVES_PER_POSITION
    first, weight = 0, 0
    for place, move in enumerate(moves):
        of_move = _weight(len(move), _SMALL_MOVES_PER_POSITION)
        weight += of_move
        if weight > most:
            yield moves[first:place]
            first, weight = place, of_move
    yield moves[first:]


def _weight(changes: int, small_moves: int) -> int:
    return 1 if changes <= 1 else small_moves
