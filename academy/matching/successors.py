"""Moves from a position, and which matches they bring and end."""

from collections.abc import Sequence
from itertools import accumulate, chain
from operator import index
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, CellChanges
from academy.knowledge.cells import State
from academy.matching.matches import Matches

MAX_MOVES: Final = 4096
_IS_STATE: Final = np.isin(np.arange(256), np.array(State))


class InvalidCandidateMoveError(ValueError):
    """A move that the board cannot undergo; the message names the move, the value and the rule."""


class BoardChanges(NamedTuple):
    """Moves as arrays: move i gives `cells` their new `states`, from `starts[i]` to `starts[i + 1]`."""

    starts: NDArray[np.int32]
    cells: NDArray[np.int32]
    states: NDArray[np.uint8]


def board_changes(board: Board, moves: Sequence[CellChanges]) -> BoardChanges:
    """Return what moves really change: a cell that keeps its state is left out.

    Raises InvalidCandidateMoveError.
    """
    if len(moves) > MAX_MOVES:
        raise InvalidCandidateMoveError(f"{len(moves):,} moves: at most {MAX_MOVES:,} at once")
    lengths = list(map(len, moves))
    size = len(board.states)
    longest = max(lengths, default=0)
    if longest > size:
        move = lengths.index(longest)
        raise InvalidCandidateMoveError(
            f"move {move} makes {longest:,} changes: the board has {size:,} cells"
        )
    flat = _flatten(moves)
    cells, states = flat[0::2], flat[1::2]
    # A negative number without its sign is larger than any size.
    if not ((cells.view(np.uint64) < size) & _IS_STATE.take(states, mode="clip")).all() or longest > 1:
        _check(cells, states, np.repeat(np.arange(len(moves)), lengths), size)
    kept = np.frombuffer(board.states, dtype=np.uint8).take(cells) != states
    kept_before = np.zeros(len(kept) + 1, dtype=np.int32)
    np.cumsum(kept, out=kept_before[1:])
    bounds = np.fromiter(accumulate(lengths, initial=0), dtype=np.int64)
    return BoardChanges(kept_before.take(bounds), cells[kept].astype(np.int32), states[kept].astype(np.uint8))


def _flatten(moves: Sequence[CellChanges]) -> NDArray[np.int64]:
    """Return cells and states in turn. Raises InvalidCandidateMoveError for what is not a change."""
    changes = list(chain.from_iterable(moves))
    try:
        if set(map(len, changes)) <= {2}:
            return np.fromiter(map(index, chain.from_iterable(changes)), dtype=np.int64)
    except (TypeError, OverflowError):
        pass
    move, change = next(
        (move, change) for move, made in enumerate(moves) for change in made if not _is_change(change)
    )
    raise InvalidCandidateMoveError(
        f"move {move}: {change!r} is not a change: a cell's index and its new state"
    )


def _is_change(change: Any) -> bool:
    try:
        return len(np.fromiter(map(index, change), np.int64, len(change))) == 2
    except (TypeError, OverflowError):
        return False


def _check(
    cells: NDArray[np.int64], states: NDArray[np.int64], move_of: NDArray[np.int64], size: int
) -> None:
    _require((cells >= 0) & (cells < size), move_of, cells, f"not a cell: cells are 0 to {size - 1:,}")
    allowed = ", ".join(str(int(state)) for state in State)
    _require(_IS_STATE.take(states, mode="clip"), move_of, states, f"not a state: states are {allowed}")
    keys = np.sort(move_of * size + cells)
    again = keys[1:] == keys[:-1]
    if again.any():
        move, cell = divmod(int(keys[np.argmax(again)]), size)
        raise InvalidCandidateMoveError(f"move {move} changes cell {cell} twice: each cell at most once")


def _require(
    holds: NDArray[np.bool_], moves: NDArray[np.int64], values: NDArray[np.int64], rule: str
) -> None:
    if not holds.all():
        wrong = int(np.argmin(holds))
        raise InvalidCandidateMoveError(f"move {moves[wrong]}: {values[wrong]} is {rule}")


class Successors(NamedTuple):
    """The matches of a position, and for each move what is different after it.

    `all_gone` are entries of `base` that do not occur after a move any more, `all_new` the matches that occur
    only after it: those of all moves, one move behind the other. Those of move i begin at `gone_starts[i]`
    and `new_starts[i]`, and come in the order of the ranking. Move i brings `totals[i]` matches, listed or
    not.
    """

    base: Matches
    gone_starts: NDArray[np.int32]
    all_gone: NDArray[np.int32]
    new_starts: NDArray[np.int32]
    all_new: Matches
    totals: NDArray[np.int32]
