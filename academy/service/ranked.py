"""The patterns of a game at one moment, the strongest first, as queries and answers need them."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.fair_use import acceptable
from academy.matching.snapshot import Snapshot
from academy.service.columns import Varints

Flags = NDArray[np.bool_]
_SELECTIONS_REMEMBERED: Final = 64


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
        self.elos: NDArray[np.float64] = np.ascontiguousarray(figures["elo"])
        self.values: NDArray[np.float64] = np.ascontiguousarray(figures["value"])
        self.written_ids = Varints(self.pattern_ids)
        self.written_proposers = Varints(figures["proposers"])
        self._selections: dict[tuple[frozenset[int], float | None, int], Flags | None] = {}

    def __len__(self) -> int:
        return len(self.pattern_ids)

    def wanted(
        self, libraries: Iterable[int], player_elo: float | None = None, player: int = 0
    ) -> Flags | None:
        """Flag the patterns of some libraries (by number) that a player of an Elo accepts; None: all.

        Without an Elo everything is accepted; with `player` only what addresses this player.
        """
        key = (frozenset(libraries), player_elo, player)
        if key not in self._selections:
            if len(self._selections) >= _SELECTIONS_REMEMBERED:
                self._selections.clear()
            flags: Flags = np.isin(self.libraries, list(key[0]))
            if player_elo is not None:
                flags &= acceptable(self.elos, player_elo)
            if player:
                flags &= self.players == player
            self._selections[key] = None if flags.all() else flags
        return self._selections[key]
