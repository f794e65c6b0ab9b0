"""A game's patterns as consultations need them: the matching index beside each pattern's figures."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.library import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.signatures import Ballot
from academy.knowledge.spec import GameSpec
from academy.matching.index import LAYOUT, PatternIndex
from academy.service.ranked import Ranked
from academy.store.game_records import library_to_proto

Figures = NDArray[np.void]
_FIGURES: Final = np.dtype(
    [
        ("pattern_id", np.int64),
        ("library", np.uint8),
        ("strength", np.float64),
        ("elo", np.float64),
        ("value", np.float64),
        ("proposers", np.uint32),
        ("player", np.uint32),
    ]
)
# What arrays of `Shelf.kept` can be read by.
SHELF_LAYOUT: Final = f"{LAYOUT} {_FIGURES.descr}"


class Shelf:
    """The patterns of both libraries of a game, kept up to date one by one. For one thread at a time.

    How often they were used is not kept here: no answer tells it, and each contest would change hundreds.

    One index holds them all, since queries of two would be prepared twice. Numbers are given by game, so no
    two patterns have the same.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._index = PatternIndex(spec)
        self._figures: Figures = np.empty(0, _FIGURES)
        # Rows that are to replace those of the same number; None for a pattern that is gone.
        self._changed: dict[int, tuple[float, ...] | None] = {}
        self._ranked: Ranked | None = None

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, pattern_id: int) -> bool:
        return pattern_id in self._index

    def put(self, library: Library, entry: PatternEntry) -> None:
        """Add a pattern, in place of the one of its number if there is one."""
        self._index.put(entry.pattern_id, entry.pattern)
        self.restate(library, entry.pattern_id, entry.player, entry.ballot)

    def restate(self, library: Library, pattern_id: int, player: int, ballot: Ballot) -> None:
        """Take other votes for a pattern that is here, or another player addressed."""
        self._change(
            pattern_id,
            (
                pattern_id,
                library_to_proto(library),
                ballot.strength,
                ballot.elo,
                ballot.value,
                ballot.proposers,
                player,
            ),
        )

    def remove(self, pattern_id: int) -> None:
        """Take a pattern out, if it is there."""
        if pattern_id in self._index:
            self._index.remove(pattern_id)
            self._change(pattern_id, None)

    def _change(self, pattern_id: int, row: tuple[float, ...] | None) -> None:
        self._changed[pattern_id] = row
        self._ranked = None

    @property
    def ranked(self) -> Ranked:
        """The patterns as they are now, for queries; the same object until the next change."""
        if self._ranked is None:
            self._ranked = Ranked(self._index.snapshot(), self.figures)
        return self._ranked

    @property
    def figures(self) -> Figures:
        """One row a pattern, by number."""
        if self._changed:
            rows = (row for _, row in sorted(self._changed.items()) if row is not None)
            fresh = np.fromiter(rows, _FIGURES)
            kept = self._figures[~np.isin(self._figures["pattern_id"], list(self._changed))]
            # Both are in order: nothing has to be sorted.
            self._figures = np.insert(kept, np.searchsorted(kept["pattern_id"], fresh["pattern_id"]), fresh)
            self._changed.clear()
        return self._figures

    def kept(self) -> dict[str, NDArray[Any]]:
        """Return all it holds as arrays that do not change any more, to `restore` another from."""
        return self._index.kept() | {"figures": self.figures.view(np.uint8)}

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Fill a shelf that is empty yet with what another one of the same game held.

        The arrays must be as `kept` gave them under the same `SHELF_LAYOUT`: they are not looked through.
        """
        self._index.restore(kept)
        self._figures = kept["figures"].view(_FIGURES)
