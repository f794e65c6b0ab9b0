"""The patterns of a game at one moment, the strongest first, as queries and answers need them."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.fair_use import acceptable
from academy.matching.matches import NO_LIMIT, Matches
from academy.matching.snapshot import Ranking, Snapshot
from academy.service.pattern_tables import records_of

Flags = NDArray[np.bool_]
_SELECTIONS_REMEMBERED: Final = 64
# Enough of the strongest are looked at first: of full libraries one pattern in ten lies on a position.
_LOOKED_AT: Final = 16
_MOST_OF_ALL: Final = 0.75


class Selection(NamedTuple):
    """Which patterns are asked for: a flag for each place (None: all), and the share of them that is."""

    wanted: Flags | None
    share: float


class Ranked:
    """Patterns with their figures, all of which stay as they are.

    A *place* is a pattern's index in this order.
    """

    def __init__(self, snapshot: Snapshot, figures: NDArray[np.void]) -> None:
        order = np.lexsort((figures["pattern_id"], figures["library"], -figures["strength"]))
        figures = figures[order]
        self.snapshot = snapshot
        self.pattern_ids: NDArray[np.int64] = np.ascontiguousarray(figures["pattern_id"])
        self.ranking = snapshot.rank(self.pattern_ids)
        self.libraries: NDArray[np.uint8] = np.ascontiguousarray(figures["library"])
        self.players: NDArray[np.uint32] = np.ascontiguousarray(figures["player"])
        self._elos: NDArray[np.float64] = np.ascontiguousarray(figures["elo"])
        self.records = records_of(figures)
        self._selections: dict[tuple[frozenset[int], float | None, int], Selection] = {}
        self._parts: dict[tuple[int, int], tuple[Snapshot, Ranking]] = {}

    def __len__(self) -> int:
        return len(self.pattern_ids)

    def selection(
        self, libraries: Iterable[int], player_elo: float | None = None, player: int = 0
    ) -> Selection:
        """Select the patterns of some libraries (by number) that a player of an Elo accepts.

        Without an Elo everything is accepted; with `player` only what addresses this player.
        """
        key = (frozenset(libraries), player_elo, player)
        if key not in self._selections:
            if len(self._selections) >= _SELECTIONS_REMEMBERED:
                self._selections.clear()
            flags: Flags = np.isin(self.libraries, list(key[0]))
            if player_elo is not None:
                flags &= acceptable(self._elos, player_elo)
            if player:
                flags &= self.players == player
            share = float(flags.mean()) if len(flags) else 1.0
            self._selections[key] = Selection(None if share == 1.0 else flags, share)
        return self._selections[key]

    def match(
        self, board: Board, selection: Selection, most: int, each: int = NO_LIMIT, both: bool = False
    ) -> Matches:
        """Return the first `most` placements on a board; `each` and `both` are as in `Snapshot.match`.

        A library has many times as many placements as are asked for, so the strongest patterns are looked at
        alone first, and the weaker ones only where those had too few. Raises InvalidBoard.
        """
        size = len(self)
        first = size
        if _LOOKED_AT * most < _MOST_OF_ALL * size * selection.share:
            # A power of two, so that few parts are kept for all that is asked.
            first = 1 << int(_LOOKED_AT * most / selection.share - 1).bit_length()
        if first >= _MOST_OF_ALL * size:
            return self.snapshot.match(board, self.ranking, selection.wanted, most, each, both)
        found = self._matched(board, selection, 0, first, most, each, both)
        told = len(found)
        if told == most:
            return found.with_more()
        rest = self._matched(board, selection, first, size, most - told, each, both)
        return Matches(
            self.pattern_ids,
            np.concatenate([found.places, rest.places + np.int32(first)]),
            np.concatenate([found.symmetries, rest.symmetries]),
            np.concatenate([found.rows, rest.rows]),
            np.concatenate([found.columns, rest.columns]),
            np.concatenate([found.reversed, rest.reversed]),
            found.total + rest.total,
        )

    def _matched(
        self, board: Board, selection: Selection, first: int, end: int, most: int, each: int, both: bool
    ) -> Matches:
        """Match the patterns from one place to another; their places count from the first of them."""
        if (first, end) not in self._parts:
            self._parts[first, end] = self.snapshot.part(self.ranking, first, end)
        snapshot, ranking = self._parts[first, end]
        wanted = None if selection.wanted is None else selection.wanted[first:end]
        return snapshot.match(board, ranking, wanted, most, each, both)
