"""The patterns of a game at one moment, strongest first, with the columns that answers list."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.fair_use import acceptable
from academy.matching.index import Snapshot
from academy.matching.matches import Flags, Matches, MatchQuery, join_matches

_SELECTIONS_REMEMBERED: Final = 64
# Patterns matched first for each placement: in a full library one pattern in ten lies on a position.
_MATCHED_FIRST: Final = 16
_MOST_OF_ALL: Final = 0.75


class RankedPatterns:
    """Patterns with their figures; neither changes.

    A *place* is a pattern's index in this order. `columns` are those of `academy.v1.PatternTable`.
    """

    def __init__(self, snapshot: Snapshot, figures: NDArray[np.void]) -> None:
        order = np.lexsort((figures["pattern_id"], figures["library"], -figures["strength"]))
        figures = figures.take(order)
        self.columns: dict[str, NDArray[Any]] = {
            "pattern_ids": np.ascontiguousarray(figures["pattern_id"]),
            "libraries": np.ascontiguousarray(figures["library"]),
            "proposers": np.ascontiguousarray(figures["proposers"]),
            "elos": np.ascontiguousarray(figures["elo"]),
            "values": np.ascontiguousarray(figures["value"]),
        }
        self.pattern_ids: NDArray[np.int64] = self.columns["pattern_ids"]
        self.libraries: NDArray[np.uint8] = self.columns["libraries"]
        self.players: NDArray[np.uint32] = np.ascontiguousarray(figures["player"])
        self.snapshot = snapshot.rank(self.pattern_ids)
        self._selections: dict[tuple[frozenset[int], float | None, int], Flags | None] = {}
        self._parts: dict[tuple[int, int], Snapshot] = {}

    def __len__(self) -> int:
        return len(self.pattern_ids)

    def select(
        self, libraries: Iterable[int], player_elo: float | None = None, player: int = 0
    ) -> Flags | None:
        """Return a flag for each place (None: all are selected): the patterns of some libraries (by number).

        With `player_elo` only patterns that a player of this Elo accepts; with `player` only what addresses
        this player.
        """
        key = (frozenset(libraries), player_elo, player)
        if key not in self._selections:
            if len(self._selections) >= _SELECTIONS_REMEMBERED:
                self._selections.clear()
            flags: Flags = np.isin(self.libraries, list(key[0]))
            if player_elo is not None:
                flags &= acceptable(self.columns["elos"], player_elo)
            if player:
                flags &= self.players == player
            self._selections[key] = None if flags.all() else flags
        return self._selections[key]

    def match(self, query: MatchQuery) -> Matches:
        """Return the placements on a board, the strongest patterns' first.

        A library has many times more placements than a query wants, so the strongest patterns are matched
        first, and the weaker ones only if those had too few. Raises InvalidBoardError.
        """
        size, first = len(self), self._count_first(query)
        if first == size:
            return self.snapshot.match(query)
        strongest = self._match_part(query, 0, first)
        listed = len(strongest.places)
        if listed == query.max_matches:
            return strongest._replace(more=True)
        left = query._replace(max_matches=query.max_matches - listed)
        rest = self._match_part(left, first, size)
        rest = rest._replace(places=rest.places + np.int32(first))
        return join_matches([strongest, rest])._replace(ranked_ids=self.pattern_ids)

    def _count_first(self, query: MatchQuery) -> int:
        """Return how many of the strongest patterns are matched first."""
        size = len(self)
        wanted = size if query.wanted is None else np.count_nonzero(query.wanted)
        if _MATCHED_FIRST * query.max_matches >= _MOST_OF_ALL * wanted:
            return size
        # A power of two, so that few parts are kept for all queries.
        first = 1 << int(_MATCHED_FIRST * query.max_matches * size / wanted - 1).bit_length()
        return first if first < _MOST_OF_ALL * size else size

    def _match_part(self, query: MatchQuery, first: int, end: int) -> Matches:
        """Match the patterns from one place to another; their places count from the first of them."""
        if (first, end) not in self._parts:
            self._parts[first, end] = self.snapshot.part(first, end)
        wanted = None if query.wanted is None else query.wanted[first:end]
        return self._parts[first, end].match(query._replace(wanted=wanted))
