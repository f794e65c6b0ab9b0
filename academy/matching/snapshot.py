"""The patterns of an index at one moment, for queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board, InvalidBoardError
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.matching import kernels
from academy.matching.anchoring import TESTED_CODES
from academy.matching.changes import Change, changes_of
from academy.matching.ground import BoardTables
from academy.matching.matches import NO_LIMIT, Found, Matches
from academy.matching.order import RankOrder, order_of
from academy.matching.rows import Rows
from academy.matching.successors import Successors

_STATES: Final = bytes(State)
_EVERYTHING: Final = np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Patterns of a snapshot in the order in which a query is to tell them. Made by `Snapshot.rank`."""

    pattern_ids: NDArray[np.int64]
    order: RankOrder

    def __len__(self) -> int:
        return len(self.pattern_ids)


class MatchQuery(NamedTuple):
    """One of several queries: a board, and how much is to be told of it (see `Snapshot.match`)."""

    board: Board
    most: int = NO_LIMIT
    each: int = NO_LIMIT


class Snapshot:
    """Patterns that stay as they are, whatever is put into their index or removed from it later.

    Any number of threads may query it at once; the compiled kernel runs without the interpreter's lock.
    """

    def __init__(self, spec: GameSpec, ground: BoardTables, rows: Rows, kernel: str | None) -> None:
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
        return self._ranking(pattern_ids.take(order), rows.take(order))

    def rank(self, pattern_ids: NDArray[np.int64]) -> Ranking:
        """Return these patterns, some or all and each once, in this order.

        Raises KeyError for one that is not here. Costs far more than a query: keep it for the next one.
        """
        known = self.by_number
        # What is searched for in order is found in a third of the time.
        ascending = np.argsort(pattern_ids)
        places = np.empty_like(ascending)
        places[ascending] = np.searchsorted(known.pattern_ids, pattern_ids.take(ascending))
        missing = (
            known.pattern_ids.take(places, mode="clip") != pattern_ids if len(known) else pattern_ids >= 0
        )
        if missing.any():
            raise KeyError(int(pattern_ids[missing][0]))
        return self._ranking(pattern_ids, known.order.rows.take(places))

    def _ranking(self, pattern_ids: NDArray[np.int64], rows: NDArray[np.int32]) -> Ranking:
        return Ranking(pattern_ids, order_of(rows, len(self._rows.starts)))

    def part(self, ranking: Ranking, first: int, end: int) -> tuple["Snapshot", Ranking]:
        """Return the patterns from place `first` of a ranking to before place `end`, in the same order.

        Queries of them alone take less time. What is known of them is shared, so a part takes some 8 bytes a
        pattern.
        """
        rows = ranking.order.rows[first:end]
        chosen = np.zeros(len(self._rows.starts), dtype=np.bool_)
        chosen[rows] = True
        of_kind = tuple(members[chosen[members]] for members in self._rows.of_kind)
        part = Snapshot(self._spec, self._ground, self._rows._replace(of_kind=of_kind), self._kernel_name)
        return part, self._ranking(ranking.pattern_ids[first:end], rows)

    def match(
        self,
        board: Board,
        ranking: Ranking | None = None,
        wanted: NDArray[np.bool_] | None = None,
        most: int = NO_LIMIT,
        each: int = NO_LIMIT,
        both: bool = False,
    ) -> Matches:
        """Return every place where a pattern, under any of the game's symmetries, lies on the board.

        Patterns come as in `ranking` (all of them by number, if that is None), of these only those
        that are `wanted` (one flag for each; None: all). No more than `most` matches are told, and of
        one pattern no more than `each`, so that a pattern of few cells leaves room for others. With `both`
        the board is also asked about as the other player of a symmetric game sees it; `each` counts for
        either of the two.
        Raises InvalidBoardError for a board of another geometry or with cells that hold no state.
        """
        self._check_board(board)
        ranking, flags = self._asked(ranking, wanted)
        boards = _as_states(self._states(board, both)).reshape(1 + both, -1)
        found = self._kernel().find(boards, self._ground, self._rows, ranking.order, flags, most, each)
        return _matches(ranking, found)

    def match_each(
        self,
        queries: Sequence[MatchQuery],
        ranking: Ranking | None = None,
        wanted: NDArray[np.bool_] | None = None,
        both: bool = False,
    ) -> list[Matches]:
        """Answer several queries, at least one, each as `match` would, in less time.

        Raises InvalidBoardError like `match`, and answers none then.
        """
        for query in queries:
            self._check_board(query.board)
        ranking, flags = self._asked(ranking, wanted)
        boards = _as_states(b"".join(self._states(query.board, both) for query in queries))
        most = np.array([query.most for query in queries], dtype=np.int64)
        each = np.array([query.each for query in queries], dtype=np.int64)
        places, symmetries, rows, columns, numbers, starts, totals = self._kernel().find_each(
            boards.reshape(len(queries), 1 + both, -1),
            *(self._ground, self._rows, ranking.order, flags, most, each),
        )
        on_reversed, ends = numbers.astype(np.bool_), starts.tolist()
        return [
            Matches(
                ranking.pattern_ids,
                places[first:end],
                symmetries[first:end],
                rows[first:end],
                columns[first:end],
                on_reversed[first:end],
                total,
            )
            for first, end, total in zip(ends[:-1], ends[1:], totals.tolist(), strict=True)
        ]

    def match_successors(
        self,
        board: Board,
        moves: Sequence[Sequence[Change]],
        ranking: Ranking | None = None,
        wanted: NDArray[np.bool_] | None = None,
        most: int = NO_LIMIT,
        each: int = NO_LIMIT,
    ) -> Successors:
        """Match a board, and the boards after each of some moves, by what is different there.

        A move is the changes that it makes: a cell's index, row by row, and the state it gets. Moves that
        change one cell cost a few microseconds, others as much as a query each. `ranking` and `wanted` are
        as in `match`; `most` and `each` limit the base's matches and the new ones of each move, and where
        they cut off any of the base's, those do not come back for others that are gone.
        Raises InvalidBoardError like `match`, and InvalidCandidateMoveError.
        """
        self._check_board(board)
        changes = changes_of(board, moves)
        ranking, flags = self._asked(ranking, wanted)
        states = _as_states(board.states)
        base, (gone_starts, gone, new_starts, places, images, totals) = self._kernel().find_successors(
            states, self._ground, self._rows, changes, TESTED_CODES, ranking.order, flags, most, each
        )
        new = (places, *images, np.zeros(len(places), dtype=np.int16), int(totals.sum()))
        return Successors(
            _matches(ranking, base), gone_starts, gone, new_starts, _matches(ranking, new), totals
        )

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

    def _states(self, board: Board, both: bool) -> bytes:
        return board.states + self._spec.reversed_board(board).states if both else board.states

    def _check_board(self, board: Board) -> None:
        geometry = self._spec.geometry
        if board.geometry is not geometry and board.geometry != geometry:
            raise InvalidBoardError(
                f"a board that is not one of {self._spec.game_id!r}: its geometry differs"
            )
        if len(board.states) != geometry.size:
            raise InvalidBoardError(f"a board of {len(board.states)} states for {geometry.size} cells")
        unknown = board.states.translate(None, _STATES)
        if unknown:
            allowed = ", ".join(str(int(state)) for state in State)
            raise InvalidBoardError(f"state {unknown[0]} on a board: it must be one of {allowed}")


def _as_states(states: bytes) -> NDArray[np.uint8]:
    # Arrays that can be written and arrays that cannot are two types, and everything is compiled for each.
    return np.frombuffer(bytearray(states), dtype=np.uint8)


def _matches(ranking: Ranking, found: Found) -> Matches:
    places, symmetries, rows, columns, boards, total = found
    return Matches(ranking.pattern_ids, places, symmetries, rows, columns, boards.astype(np.bool_), total)
