"""One number for each candidate move, from all that is known of it: what to add to its log odds.

The number is a sum of parts, each less its mean over the moves compared, so that 0 says "as good as usual":

- tesujis: how rather strong players move into what lies around the cell (`tesujis`);
- patterns: a move is good that goes where the opponent would complete good patterns;
- the evaluation of the boards after the moves (`evaluation`), once enough contests have taught it.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, CellChange
from academy.knowledge.cells import Code, State
from academy.knowledge.learnt_weights import Floats
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.tesujis.surroundings import surroundings

__all__ = [
    "ENOUGH_CONTESTS",
    "MOST_GAINED",
    "CandidateMove",
    "above_mean",
    "opponents_change",
    "pattern_log_odds",
    "states_after",
    "with_all_changes",
]

# Contests after which an evaluation is a part of the advice.
ENOUGH_CONTESTS: Final = 30
# The matches of patterns that are counted for one move, those first that say most.
MOST_GAINED: Final = 32
# How much of what patterns say is believed; and the votes after which a pattern is half believed.
_BELIEF: Final = 2.0
_FEW_VOTES: Final = 1.0
# As many patterns that say nothing are added to those that were found.
_FEW_PATTERNS: Final = 8.0
# A value nearer to 0 or 1 is no more certain than this.
_SUREST: Final = 0.98

_PIECES: Final = {1: Code.FIRST_PIECE, 2: Code.SECOND_PIECE}
_SOLDIERS: Final = {1: State.FIRST_SOLDIER, 2: State.SECOND_SOLDIER}


class CandidateMove(NamedTuple):
    """What a move does on the board.

    Attributes:
        cell: The cell that it goes to, by index; None for one that goes nowhere, as a pass.
        places: Whether it puts a piece on one empty cell and takes none of one's own away. Tesujis are about
            such moves.
        changes: The cells that change, by index, and the state that each gets; None where that does not
            follow from the cell alone.
    """

    cell: int | None
    places: bool
    changes: tuple[CellChange, ...] | None

    @classmethod
    def to_cells(cls, cells: Iterable[int], spec: GameSpec, player: int) -> list[Self]:
        """Return the moves that go to empty cells.

        Args:
            cells: The cells, by index.
            spec: The game.
            player: 1 or 2, who moves.
        """
        changes_others = spec.placement in (Placement.OUTFLANKING, Placement.CAPTURING)
        # A piece that came from another cell has left it.
        if changes_others or spec.moves_pieces:
            return [cls(cell, True, None) for cell in cells]
        return [cls(cell, True, ((cell, _SOLDIERS[player]),)) for cell in cells]

    @classmethod
    def of_changes(cls, board: Board, changes: Iterable[CellChange], player: int) -> Self:
        """Return the move that makes some changes.

        Args:
            board: The board before it.
            changes: The cells that change, by index, and the state that each gets.
            player: 1 or 2, who moves.
        """
        own, before, changed = _PIECES[player], board.states, tuple(changes)
        came = [
            (before[cell] != State.EMPTY, cell)
            for cell, state in changed
            if state & own and not before[cell] & own
        ]
        left = any(before[cell] & own and not state & own for cell, state in changed)
        on_empty = sum(not taken for taken, _ in came)
        # A cell that was empty comes first: some moves turn other pieces over.
        return cls(min(came)[1] if came else None, on_empty == 1 and not left, changed)


def with_all_changes(
    moves: Sequence[CandidateMove], board: Board, spec: GameSpec, player: int
) -> Sequence[CandidateMove]:
    """Return moves with all that they change, also where they take chains, as in Go, or turn pieces over.

    Args:
        moves: The moves.
        board: The board before them.
        spec: The game.
        player: 1 or 2, who moves.
    """
    around = surroundings(spec)
    cells = [move.cell for move in moves if move.changes is None and move.cell is not None]
    if around is None or not cells:
        return moves
    soldier = _SOLDIERS[player]
    others = dict(zip(cells, around.others_changed(board, cells, player), strict=True))
    return [
        move
        if move.changes is not None or move.cell is None
        # The cell itself is empty in the end where the move takes its own chain.
        else CandidateMove(move.cell, move.places, ((move.cell, soldier), *others[move.cell]))
        for move in moves
    ]


def states_after(board: Board, moves: Sequence[CandidateMove]) -> NDArray[np.uint8] | None:
    """Return the boards after moves.

    Args:
        board: The board before them.
        moves: The moves.

    Returns:
        One row of `State` a move; None where what one of them changes is not known.
    """
    states = np.tile(np.frombuffer(board.states, dtype=np.uint8), (len(moves), 1))
    for row, move in zip(states, moves, strict=True):
        if move.changes is None:
            return None
        for cell, state in move.changes:
            row[cell] = state
    return states


def opponents_change(cell: int, player: int) -> CellChange:
    """Return what would change if the opponent had a soldier on a cell.

    Args:
        cell: The cell, by index.
        player: 1 or 2, who is to move.
    """
    return cell, _SOLDIERS[3 - player]


def pattern_log_odds(
    moves: int, moves_of: NDArray[np.intp], values: Floats, proposers: NDArray[np.uint32]
) -> Floats:
    """Return what the patterns that the opponent would complete say together for each move.

    That is the mean of their values' log odds, less where they or their proposers are few. Patterns that
    overlap say the same: they do not add up.

    Args:
        moves: How many moves there are.
        moves_of: For each match of a pattern the move that it belongs to.
        values: What its proposers expected.
        proposers: How many they were.
    """
    bounded = values.clip(1.0 - _SUREST, _SUREST)
    weighed = np.log(bounded / (1.0 - bounded)) * (proposers / (proposers + _FEW_VOTES))
    sums = np.bincount(moves_of, weights=weighed, minlength=moves)
    counts = np.bincount(moves_of, minlength=moves)
    log_odds: Floats = _BELIEF * sums / (counts + _FEW_PATTERNS)
    return log_odds


def above_mean(values: Sequence[float] | Floats) -> Floats:
    """Return how much more each value is than all are on average.

    Args:
        values: The values.
    """
    array = np.asarray(values, dtype=np.float64)
    above: Floats = array - (array.mean() if len(array) else 0.0)
    return above
