"""Candidate moves as a request tells them: read, and weighed by what they cost."""

from collections.abc import Iterator, Sequence
from typing import Final

from academy.knowledge.boards import Geometry
from academy.knowledge.cells import LETTERS_TO_STATES, STATE_LETTERS
from academy.matching.changes import Change
from academy.service.limits import Limits
from academy.service.refusals import require
from academy.v1 import consultation_pb2 as messages

# Moves that change one cell are matched by what is different: so many of them take as long as a position.
_MOVES_PER_QUESTION: Final = 16
# Others are let in after moves that take as long as so many positions.
_QUESTIONS_AT_ONCE: Final = 8

Move = list[Change]


def check_candidates(moves: Sequence[messages.CandidateMove], limits: Limits) -> None:
    """Check how much is asked, before anything is read. Raises InvalidField."""
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
    for place, move in enumerate(moves):
        cells, letters = len(move.cells), len(move.letters)
        require(
            cells == letters,
            f"moves[{place}].letters",
            f"{letters:,} letters for {cells:,} cells: one for each",
            value=letters,
            cells=cells,
        )


def read_candidates(moves: Sequence[messages.CandidateMove], geometry: Geometry) -> list[Move]:
    """Return what each move changes. Raises InvalidField for a cell or letter that there is not."""
    return [_read(move, f"moves[{place}]", geometry.size) for place, move in enumerate(moves)]


def _read(move: messages.CandidateMove, field: str, size: int) -> Move:
    cells = list(move.cells)
    for cell in cells:
        require(
            cell < size,
            f"{field}.cells",
            f"cell {cell:,}: cells are 0 to {size - 1:,}",
            value=cell,
            size=size,
        )
    if len(set(cells)) != len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        require(False, f"{field}.cells", f"cell {twice:,} twice: each cell at most once", value=twice)
    for letter in move.letters:
        require(
            letter in STATE_LETTERS,
            f"{field}.letters",
            f"letter {letter!r}: allowed are {' '.join(STATE_LETTERS)}",
            value=letter,
        )
    return list(zip(cells, move.letters.encode().translate(LETTERS_TO_STATES), strict=True))


def questions_of(moves: Sequence[messages.CandidateMove]) -> int:
    """How many questions some moves count as: by what it costs to answer."""
    return -(-sum(_weight(len(move.cells)) for move in moves) // _MOVES_PER_QUESTION)


def in_parts(moves: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """Return the moves in parts that take about as long as each other, in order."""
    first, weight = 0, 0
    for place, move in enumerate(moves):
        weight += _weight(len(move))
        if weight > _QUESTIONS_AT_ONCE * _MOVES_PER_QUESTION:
            yield moves[first:place]
            first, weight = place, _weight(len(move))
    yield moves[first:]


def _weight(changes: int) -> int:
    return 1 if changes <= 1 else _MOVES_PER_QUESTION
