"""A game's patterns as consultations need them: the matching index beside each pattern's figures."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.library import PatternEntry
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.service.ranked import Ranked
from academy.store.game_records import library_to_proto

Figures = NDArray[np.void]
_FIGURES = np.dtype(
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


class Shelf:
    """The patterns of both libraries of a game, kept up to date one by one. For one thread at a time.

    One index holds them all, since queries of two would be prepared twice. Numbers are given by game, so no
    two patterns have the same.
    """

    def __init__(self, spec: GameSpec) -> None:
        self.entries: dict[int, PatternEntry] = {}
        self._libraries: dict[int, int] = {}
        self._index = PatternIndex(spec)
        self._figures: Figures = np.empty(0, _FIGURES)
        self._changed: set[int] = set()
        self._ranked: Ranked | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def put(self, library: Library, entry: PatternEntry) -> None:
        """Add a pattern or what is newly known of it."""
        known = self.entries.get(entry.pattern_id)
        if known is None or known.pattern != entry.pattern:
            self._index.put(entry.pattern_id, entry.pattern)
        self.entries[entry.pattern_id] = entry
        self._libraries[entry.pattern_id] = library_to_proto(library)
        self._change(entry.pattern_id)

    def remove(self, pattern_id: int) -> None:
        """Take a pattern out, if it is there."""
        if self.entries.pop(pattern_id, None) is not None:
            del self._libraries[pattern_id]
            self._index.remove(pattern_id)
            self._change(pattern_id)

    def _change(self, pattern_id: int) -> None:
        self._changed.add(pattern_id)
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
            kept = self._figures[~np.isin(self._figures["pattern_id"], list(self._changed))]
            fresh = self._rows(number for number in self._changed if number in self.entries)
            figures = np.concatenate([kept, fresh])
            self._figures = figures[np.argsort(figures["pattern_id"])]
            self._changed.clear()
        return self._figures

    def _rows(self, pattern_ids: Iterable[int]) -> Figures:
        entries = map(self.entries.__getitem__, pattern_ids)
        rows = [
            (
                entry.pattern_id,
                self._libraries[entry.pattern_id],
                entry.strength,
                entry.ballot.elo,
                entry.ballot.value,
                entry.ballot.proposers,
                entry.player,
            )
            for entry in entries
        ]
        return np.array(rows, dtype=_FIGURES)
