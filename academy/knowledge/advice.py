"""One number for each candidate move, from all that is known of it: what to add to its log odds.

The number is a sum of parts, each less its mean over the moves compared, so that 0 says "as good as usual":

- tesujis: how rather strong players move into what lies around the cell (`tesujis`);
- patterns: a move is good that goes where the opponent would complete good patterns;
- the evaluation of the boards after the moves (`evaluation`), once enough contests have taught it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec, Placement

__all__ = ["ENOUGH_CONTESTS", "MOST_GAINED", "CandidateMove", "above_mean", "pattern_log_odds"]

# Contests after which an evaluation is a part of the advice.
ENOUGH_CONTESTS: Final = 30
# The placements of patterns that are counted for one move, those first that say most.
MOST_GAINED: Final = 32
# How much of what patterns say is believed; and the votes after which a pattern is half believed.
_BELIEF: Final = 2.0
_FEW_VOTES: Final = 1.0
# As many patterns that say nothing are added to those that were found.
_FEW_PATTERNS: Final = 8.0
# A value nearer to 0 or 1 is no more certain than this.
_SUREST: Final = 0.98

_PIECES: Final = {
    1: State.FIRST_SOLDIER | State.FIRST_KING,
    2: State.SECOND_SOLDIER | State.SECOND_KING,
}
_SOLDIERS: Final = {1: State.FIRST_SOLDIER, 2: State.SECOND_SOLDIER}

Change = tuple[int, int]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CandidateMove:
    """What a move does on the board.

    Attributes:
        cell: The cell that it goes to, by index; None for one that goes nowhere, as a pass.
        places: Whether it puts a piece on one empty cell and takes none of one's own away. Tesujis are about
            such moves.
        after: The board after it; None where that does not follow from the cell alone.
    """

    cell: int | None
    places: bool
    after: Board | None

    @classmethod
    def to_cell(cls, board: Board, cell: int, spec: GameSpec, player: int) -> Self:
        """Return the move that puts a piece on an empty cell.

        Args:
            board: The board before it.
            cell: The cell, by index.
            spec: The game.
            player: 1 or 2, who moves.
        """
        if spec.placement is Placement.OUTFLANKING:
            return cls(cell, True, None)
        return cls(cell, True, with_soldier(board, cell, player))

    @classmethod
    def of_changes(cls, board: Board, changes: Iterable[Change], player: int) -> Self:
        """Return the move that makes some changes.

        Args:
            board: The board before it.
            changes: The cells that change, by index, and the state that each gets.
            player: 1 or 2, who moves.
        """
        own, before = _PIECES[player], board.states
        states = bytearray(before)
        came: list[tuple[bool, int]] = []
        left = False
        for cell, state in changes:
            states[cell] = state
            if state & own and not before[cell] & own:
                came.append((before[cell] != State.EMPTY, cell))
            left = left or bool(before[cell] & own and not state & own)
        on_empty = sum(not taken for taken, _ in came)
        # A cell that was empty comes first: some moves turn other pieces over.
        cell_moved_to = min(came)[1] if came else None
        return cls(cell_moved_to, on_empty == 1 and not left, Board(board.geometry, bytes(states)))


def with_soldier(board: Board, cell: int, player: int) -> Board:
    """Return a board with a player's soldier on a cell, whatever stood there.

    Args:
        board: The board.
        cell: The cell, by index.
        player: 1 or 2.
    """
    states = bytearray(board.states)
    states[cell] = _SOLDIERS[player]
    return Board(board.geometry, bytes(states))


def opponents_change(cell: int, player: int) -> Change:
    """Return what would change if the opponent had a soldier on a cell.

    Args:
        cell: The cell, by index.
        player: 1 or 2, who is to move.
    """
    return cell, _SOLDIERS[3 - player]


def pattern_log_odds(
    moves: int, moves_of: NDArray[np.intp], values: _Floats, proposers: NDArray[np.uint32]
) -> _Floats:
    """Return what the patterns that the opponent would complete say together for each move.

    That is the mean of their values' log odds, less where they or their proposers are few. Patterns that
    overlap say the same: they do not add up.

    Args:
        moves: How many moves there are.
        moves_of: For each placement of a pattern the move that it belongs to.
        values: What its proposers expected.
        proposers: How many they were.
    """
    bounded = values.clip(1.0 - _SUREST, _SUREST)
    weighed = np.log(bounded / (1.0 - bounded)) * (proposers / (proposers + _FEW_VOTES))
    sums = np.bincount(moves_of, weights=weighed, minlength=moves)
    counts = np.bincount(moves_of, minlength=moves)
    log_odds: _Floats = _BELIEF * sums / (counts + _FEW_PATTERNS)
    return log_odds


def above_mean(values: Sequence[float] | _Floats) -> _Floats:
    """Return how much more each value is than all are on average.

    Args:
        values: The values.
    """
    array = np.asarray(values, dtype=np.float64)
    above: _Floats = array - (array.mean() if len(array) else 0.0)
    return above
