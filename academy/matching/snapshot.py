"""The patterns of an index at one moment, for queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, InvalidBoard
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.matching import kernels
from academy.matching.anchoring import TESTED_CODES
from academy.matching.changes import Change, changes_of
from academy.matching.ground import Ground
from academy.matching.matches import Matches
from academy.matching.rows import Rows
from academy.matching.successors import Successors

NO_LIMIT: Final = (1 << 62) - 1
_STATES: Final = bytes(State)
_EVERYTHING: Final = np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Patterns of a snapshot in the order in which a query is to tell them. Made by `Snapshot.rank`."""

    pattern_ids: NDArray[np.int64]
    rows: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, first: int, end: int) -> "Ranking":
        """Return the patterns from place `first` to before place `end`, in the same order."""
        return Ranking(self.pattern_ids[first:end], self.rows[first:end])


class Snapshot:
    """Patterns that stay as they are, whatever is put into their index or removed from it later.

    Any number of threads may query it at once; the compiled kernel runs without the interpreter's lock.
    """

    def __init__(self, spec: GameSpec, ground: Ground, rows: Rows, kernel: str | None) -> None:
        self._spec = spec
        self._ground = ground
        self._rows = rows
        self._kernel_name = kernel

    def __len__(self) -> int:
        return sum(len(members) for members in self._rows.of_kind)

    @cached_property
    def by_number(self) -> Ranking:
        """All patterns, the least number first."""
        rows = np.concatenate(self._rows.of_kind)
        pattern_ids = self._rows.pattern_ids.take(rows)
        order = np.argsort(pattern_ids)
        return Ranking(pattern_ids.take(order), rows.take(order))

    def rank(self, pattern_ids: NDArray[np.int64]) -> Ranking:
        """Return these patterns, some or all and each once, in this order.

        Raises KeyError for one that is not here. Costs far more than a query: keep it for the next one.
        """
        known = self.by_number
        places = np.searchsorted(known.pattern_ids, pattern_ids)
        missing = (
            known.pattern_ids.take(places, mode="clip") != pattern_ids if len(known) else pattern_ids >= 0
        )
        if missing.any():
            raise KeyError(int(pattern_ids[missing][0]))
        return Ranking(pattern_ids, known.rows.take(places))

    def of(self, ranking: Ranking) -> "Snapshot":
        """Return a snapshot of only these patterns, which a query is done with sooner.

        It shares what is known of them, so it takes 4 bytes a pattern. Numbers hold there too, and
        so do rankings that name no others.
        """
        chosen = np.zeros(len(self._rows.starts), dtype=np.bool_)
        chosen[ranking.rows] = True
        of_kind = tuple(members[chosen[members]] for members in self._rows.of_kind)
        return Snapshot(self._spec, self._ground, self._rows._replace(of_kind=of_kind), self._kernel_name)

    def match(
        self,
        board: Board,
        ranking: Ranking | None = None,
        wanted: NDArray[np.bool_] | None = None,
        most: int = NO_LIMIT,
    ) -> Matches:
        """Return every place where a pattern, under any of the game's symmetries, lies on the board.

        Patterns come as in `ranking` (all of them by number, if that is None), of these only those
        that are `wanted` (one flag for each; None: all), and no more than `most` matches.
        Raises InvalidBoard for a board of another geometry or with cells that hold no state.
        """
        self._check_board(board)
        ranking, flags = self._asked(ranking, wanted)
        states = np.frombuffer(board.states, dtype=np.uint8)
        found = self._kernel().find(states, self._ground, self._rows, ranking.rows, flags, most)
        return _matches(ranking, found)

    def match_successors(
        self,
        board: Board,
        moves: Sequence[Sequence[Change]],
        ranking: Ranking | None = None,
        wanted: NDArray[np.bool_] | None = None,
        most: int = NO_LIMIT,
    ) -> Successors:
        """Match a board, and the boards after each of some moves, by what is different there.

        A move is the changes that it makes: a cell's index, row by row, and the state it gets. Moves that
        change one cell cost a few microseconds, others as much as a query each. `ranking` and `wanted` are
        as in `match`; `most` is a limit on the base's matches and on the new ones of each move, and where it
        cuts off any of the base's, those do not come back for others that are gone.
        Raises InvalidBoard like `match`, and InvalidMove.
        """
        self._check_board(board)
        changes = changes_of(board, moves)
        ranking, flags = self._asked(ranking, wanted)
        states = np.frombuffer(board.states, dtype=np.uint8)
        base, (gone_starts, gone, new_starts, places, images) = self._kernel().find_successors(
            states, self._ground, self._rows, changes, TESTED_CODES, ranking.rows, flags, most
        )
        new = (places, images[:, 0], images[:, 1], images[:, 2], len(places))
        return Successors(_matches(ranking, base), gone_starts, gone, new_starts, _matches(ranking, new))

    def _asked(
        self, ranking: Ranking | None, wanted: NDArray[np.bool_] | None
    ) -> tuple[Ranking, NDArray[np.bool_]]:
        ranking = self.by_number if ranking is None else ranking
        if wanted is None:
            return ranking, _EVERYTHING
        if len(wanted) != len(ranking):
            raise ValueError(f"{len(wanted)} flags for a ranking of {len(ranking)} patterns: one for each")
        return ranking, wanted

    def _kernel(self) -> kernels.Kernel:
        return kernels.current() if self._kernel_name is None else kernels.kernel(self._kernel_name)

    def _check_board(self, board: Board) -> None:
        geometry = self._spec.geometry
        if board.geometry is not geometry and board.geometry != geometry:
            raise InvalidBoard(f"a board that is not one of {self._spec.game_id!r}: its geometry differs")
        if len(board.states) != geometry.size:
            raise InvalidBoard(f"a board of {len(board.states)} states for {geometry.size} cells")
        unknown = board.states.translate(None, _STATES)
        if unknown:
            allowed = ", ".join(str(int(state)) for state in State)
            raise InvalidBoard(f"state {unknown[0]} on a board: it must be one of {allowed}")


def _matches(ranking: Ranking, found: kernels.Found) -> Matches:
    places, symmetries, rows, columns, total = found
    return Matches(ranking.pattern_ids.take(places), symmetries, rows, columns, places, total)
