"""The matching index of one library of patterns, and its snapshots, which answer queries."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import (
    Board,
    CellChanges,
    Geometry,
    GraphGeometry,
    HexGeometry,
    InvalidBoardError,
)
from academy.knowledge.cells import State
from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import GridSymmetry, NodeSymmetry
from academy.matching import kernels
from academy.matching.anchoring import anchor_pattern
from academy.matching.board_tables import BoardTables, Neighbourhood, SymmetryGroup, board_tables
from academy.matching.matches import Matches, MatchLimits, MatchQuery, RankedRows, Ranking, rank_rows
from academy.matching.rows import PatternRows, Rows, rows_from_arrays
from academy.matching.successors import Successors, board_changes

# Raised with every change of what rows hold or mean, so that arrays saved before are not used.
LAYOUT: Final = 2
_BOARDS_REMEMBERED: Final = 32
_STATES: Final = bytes(State)
_EVERYTHING: Final = np.zeros(0, dtype=np.bool_)


class Snapshot:
    """The patterns of an index at one moment, in the order of a ranking (by default, by number).

    A snapshot does not change when its index does. Any number of threads may query it at once; the compiled
    kernel runs without the interpreter's lock.
    """

    def __init__(
        self,
        spec: GameSpec,
        tables: BoardTables,
        rows: Rows,
        kernel: str | None,
        ranking: Ranking | None = None,
    ) -> None:
        self._spec = spec
        self._tables = tables
        self._rows = rows
        self._kernel_name = kernel
        self._given_ranking = ranking

    def __len__(self) -> int:
        return sum(len(members) for members in self._rows.of_kind)

    @cached_property
    def ranking(self) -> Ranking:
        """The order in which matches list the patterns."""
        return _rank_by_number(self._rows) if self._given_ranking is None else self._given_ranking

    def rank(self, pattern_ids: NDArray[np.int64]) -> "Snapshot":
        """Return the snapshot with only these patterns, each once, in this order.

        Raises KeyError for one that is not here. Costs far more than a query: keep it for the next one.
        """
        known = _rank_by_number(self._rows)
        # A search for ascending numbers takes a third of the time.
        ascending = np.argsort(pattern_ids)
        places = np.empty_like(ascending)
        places[ascending] = np.searchsorted(known.pattern_ids, pattern_ids.take(ascending))
        if len(known.pattern_ids):
            missing = known.pattern_ids.take(places, mode="clip") != pattern_ids
        else:
            missing = np.ones(len(pattern_ids), dtype=np.bool_)
        if missing.any():
            raise KeyError(int(pattern_ids[missing][0]))
        return self._rank(pattern_ids, known.rows.take(places), self._rows)

    def part(self, first: int, end: int) -> "Snapshot":
        """Return a snapshot of only the patterns from place `first` to before place `end`, in the same order.

        Queries of them alone take less time. What is known of them is shared, so a part takes some 8 bytes a
        pattern.
        """
        rows = self.ranking.rows[first:end]
        chosen = np.zeros(len(self._rows.starts), dtype=np.bool_)
        chosen[rows] = True
        of_kind = tuple(members[chosen[members]] for members in self._rows.of_kind)
        return self._rank(self.ranking.pattern_ids[first:end], rows, self._rows._replace(of_kind=of_kind))

    def _rank(self, pattern_ids: NDArray[np.int64], rows: NDArray[np.int32], of_rows: Rows) -> "Snapshot":
        ranking = rank_rows(pattern_ids, rows, len(of_rows.starts))
        return Snapshot(self._spec, self._tables, of_rows, self._kernel_name, ranking)

    def match(self, query: MatchQuery) -> Matches:
        """Return every place where a pattern, under any of the game's symmetries, lies on the board.

        Raises InvalidBoardError for a board of another geometry or with cells that hold no state.
        """
        self._check_board(query.board)
        states = query.board.states
        if query.both_perspectives:
            states += self._spec.reversed_board(query.board).states
        boards = _as_array(states).reshape(1 + query.both_perspectives, -1)
        return self._kernel().match(boards, self._ranked_rows(query), _limits(query))

    def match_successors(self, query: MatchQuery, moves: Sequence[CellChanges]) -> Successors:
        """Match a board, and the boards after each of some moves, by what is different there.

        A move is the changes that it makes: a cell's index, row by row, and the state it gets. Moves that
        change one cell cost a few microseconds, others as much as a query each. The query's limits hold for
        the base's matches and for the new ones of each move; where they cut off any of the base's, those do
        not come back for others that are gone. The query is of one perspective. Raises InvalidBoardError
        like `match`, and InvalidCandidateMoveError.
        """
        self._check_board(query.board)
        changes = board_changes(query.board, moves)
        states = _as_array(query.board.states)
        return self._kernel().match_successors(states, changes, self._ranked_rows(query), _limits(query))

    def _ranked_rows(self, query: MatchQuery) -> RankedRows:
        wanted = _EVERYTHING if query.wanted is None else query.wanted
        count = len(self.ranking.rows)
        if query.wanted is not None and len(wanted) != count:
            raise ValueError(f"{len(wanted)} flags for a ranking of {count} patterns: one for each")
        return RankedRows(self._tables, self._rows, self.ranking, wanted)

    def _kernel(self) -> kernels.Kernel:
        return kernels.kernel(self._kernel_name or kernels.in_use())

    def _check_board(self, board: Board) -> None:
        if board.geometry != self._spec.geometry:
            raise InvalidBoardError(
                f"a board that is not one of {self._spec.game_id!r}: its geometry differs"
            )
        cells = self._tables.rows * self._tables.columns
        if len(board.states) != cells:
            raise InvalidBoardError(f"a board of {len(board.states)} states for {cells} cells")
        unknown = board.states.translate(None, _STATES)
        if unknown:
            allowed = ", ".join(str(int(state)) for state in State)
            raise InvalidBoardError(f"state {unknown[0]} on a board: it must be one of {allowed}")


def _rank_by_number(rows: Rows) -> Ranking:
    members = np.concatenate(rows.of_kind)
    pattern_ids = rows.pattern_ids.take(members)
    order = np.argsort(pattern_ids)
    return rank_rows(pattern_ids.take(order), members.take(order), len(rows.starts))


def _as_array(states: bytes) -> NDArray[np.uint8]:
    # Numba compiles everything a second time for an array that cannot be written.
    return np.frombuffer(bytearray(states), dtype=np.uint8)


def _limits(query: MatchQuery) -> MatchLimits:
    return MatchLimits(query.max_matches, query.max_matches_each)


class PatternIndex:
    """Patterns of one game by number, and where on a board they occur.

    Patterns are matched as they are stored, for player 1; `both_perspectives` asks for player 2 of a
    symmetric game too. Any thread may change the index or query it at any time: a query is answered from
    the `snapshot` it began with, and sees all changes made before.
    """

    def __init__(self, spec: GameSpec, kernel: str | None = None) -> None:
        """Begin without patterns; queries are answered by a kernel (None: by the one in use at the time)."""
        self._spec = spec
        self._kernel = kernel
        self._group, neighbourhood = _around(spec.geometry, spec.symmetry_group)
        self._tables = board_tables(spec, self._group, neighbourhood)
        self._rows = PatternRows(self._group.count, neighbourhood)
        self._row_of: dict[int, int] = {}
        # Restored arrays that `_rows` and `_row_of` do not contain yet: they are read when a pattern changes.
        self._unread: Mapping[str, NDArray[Any]] | None = None
        self._lock = Lock()
        self._snapshot: Snapshot | None = None

    def __len__(self) -> int:
        unread = self._unread
        return len(self._row_of) if unread is None else len(unread["rows"])

    def __contains__(self, pattern_id: int) -> bool:
        with self._lock:
            self._read_rows()
            return pattern_id in self._row_of

    def put(self, pattern_id: int, pattern: Pattern) -> None:
        """Add a pattern, or replace the one of that number.

        Raises InvalidPatternError where it cannot occur in the game's geometry; the index then stays as it
        was.
        """
        self._spec.check_pattern(pattern)
        if isinstance(self._spec.geometry, GraphGeometry):
            _check_nodes(pattern, self._spec.geometry.size)
        anchored = anchor_pattern(pattern, self._group, isinstance(self._spec.geometry, HexGeometry))
        with self._lock:
            self._read_rows()
            if pattern_id in self._row_of:
                self._remove(pattern_id)
            self._row_of[pattern_id] = self._rows.append(pattern_id, anchored)
            self._snapshot = None

    def remove(self, pattern_id: int) -> None:
        """Remove a pattern. Raises KeyError for a number that is not in the index."""
        with self._lock:
            self._read_rows()
            self._remove(pattern_id)
            self._snapshot = None

    def _remove(self, pattern_id: int) -> None:
        self._rows.remove(self._row_of.pop(pattern_id))
        renumbered = self._rows.compact()
        if renumbered:
            self._row_of = renumbered

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the content as arrays that never change, from which `restore` fills another index."""
        with self._lock:
            self._read_rows()
            return self._rows.to_arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Fill this empty index with the content of another one of the same game.

        The arrays must come from `to_arrays` under the same `LAYOUT`: they are not checked.
        """
        with self._lock:
            self._unread = arrays
            self._snapshot = None

    def _read_rows(self) -> None:
        if self._unread is not None:
            self._row_of = self._rows.restore(self._unread)
            self._unread = None

    def snapshot(self) -> Snapshot:
        """Return the patterns as they are now; the same object until the next change."""
        known = self._snapshot
        if known is None:
            with self._lock:
                rows = self._rows.freeze() if self._unread is None else rows_from_arrays(self._unread)
                known = self._snapshot = Snapshot(self._spec, self._tables, rows, self._kernel)
        return known

    def match(self, board: Board, both_perspectives: bool = False) -> Matches:
        """Return every place where a pattern lies on the board (see `Snapshot.match`)."""
        return self.snapshot().match(MatchQuery(board, both_perspectives=both_perspectives))


@lru_cache(maxsize=_BOARDS_REMEMBERED)
def _around(
    geometry: Geometry, symmetries: tuple[GridSymmetry, ...] | tuple[NodeSymmetry, ...]
) -> tuple[SymmetryGroup, Neighbourhood]:
    """What all games of a board and its symmetries have in common."""
    group = SymmetryGroup(symmetries)
    return group, Neighbourhood(geometry, group)


def _check_nodes(pattern: Pattern, size: int) -> None:
    for row, node in pattern.cells:
        if row != 0 or not 0 <= node < size:
            raise InvalidPatternError(
                f"cell {(row, node)} of a pattern: on this board it is (0, node), node 0 to {size - 1}"
            )
