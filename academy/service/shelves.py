"""A library of patterns as consultations need it: the matching index beside each pattern's figures."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.library import PatternEntry
from academy.knowledge.spec import GameSpec
from academy.matching.index import PatternIndex
from academy.matching.matches import Matches
from academy.matching.snapshot import Ranking, Snapshot

Figures = NDArray[np.void]
_FIGURES = np.dtype(
    [
        ("pattern_id", np.int64),
        ("strength", np.float64),
        ("elo", np.float64),
        ("value", np.float64),
        ("proposers", np.uint32),
        ("player", np.uint32),
    ]
)


@dataclass(frozen=True, slots=True)
class Standing:
    """The patterns of a shelf at one moment, the strongest first: how to match them, and their figures."""

    figures: Figures
    _snapshot: Snapshot
    _ranking: Ranking

    def match(self, board: Board, wanted: NDArray[np.bool_] | None, most: int) -> Matches:
        """Return the placements of the strongest patterns, of those that are wanted (None: of all).

        The figures of a placement's pattern are `figures[matches.places]`.
        """
        return self._snapshot.match(board, self._ranking, wanted, most)


class Shelf:
    """The patterns of one library of a game, kept up to date one by one. For one thread at a time."""

    def __init__(self, spec: GameSpec) -> None:
        self.entries: dict[int, PatternEntry] = {}
        self._index = PatternIndex(spec)
        self._figures: Figures = np.empty(0, _FIGURES)
        self._changed: set[int] = set()
        self._standing: Standing | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def put(self, entry: PatternEntry) -> None:
        """Add a pattern or what is newly known of it."""
        known = self.entries.get(entry.pattern_id)
        if known is None or known.pattern != entry.pattern:
            self._index.put(entry.pattern_id, entry.pattern)
        self.entries[entry.pattern_id] = entry
        self._changed.add(entry.pattern_id)
        self._standing = None

    def remove(self, pattern_id: int) -> None:
        """Take a pattern out, if it is there."""
        if self.entries.pop(pattern_id, None) is not None:
            self._index.remove(pattern_id)
            self._changed.add(pattern_id)
            self._standing = None

    @property
    def standing(self) -> Standing:
        """The patterns as they are now; of equally strong ones the least number comes first."""
        if self._standing is None:
            figures = self.figures[np.argsort(-self.figures["strength"], kind="stable")]
            snapshot = self._index.snapshot()
            ranking = snapshot.rank(np.ascontiguousarray(figures["pattern_id"]))
            self._standing = Standing(figures, snapshot, ranking)
        return self._standing

    @property
    def figures(self) -> Figures:
        """One row a pattern, by number."""
        if self._changed:
            kept = self._figures[~np.isin(self._figures["pattern_id"], list(self._changed))]
            fresh = _rows(self.entries[number] for number in self._changed if number in self.entries)
            figures = np.concatenate([kept, fresh])
            self._figures = figures[np.argsort(figures["pattern_id"])]
            self._changed.clear()
        return self._figures


def _rows(entries: Iterable[PatternEntry]) -> Figures:
    rows = [
        (
            entry.pattern_id,
            entry.strength,
            entry.ballot.elo,
            entry.ballot.value,
            entry.ballot.proposers,
            entry.player,
        )
        for entry in entries
    ]
    return np.array(rows, dtype=_FIGURES)
