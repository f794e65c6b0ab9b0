"""Listing a pattern library: filter, order, and where the next page begins."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.settings import Library
from academy.service.live_games import LiveGame
from academy.service.paging import Key
from academy.service.refusals import require
from academy.service.shelves import Figures
from academy.store.game_records import library_to_proto
from academy.store.pattern_records import proposed_by, use_count
from academy.v1 import libraries_pb2

_ORDER: Final = re.compile(r"\s*([a-z_]+)(?:\s+(asc|desc))?\s*")
_DEFAULT_ORDER: Final = "strength desc"
# Read from the stored patterns for each listing: contests change hundreds of them, and nothing else asks.
_COUNTS: Final = ("uses", "successes")
_ORDERS: Final = ("strength", "value", "elo", "proposers", *_COUNTS, "pattern_id")


class PatternListing:
    """The patterns of a library that a filter leaves, in order. Raises InvalidField for an unknown order."""

    def __init__(
        self, game: LiveGame, library: Library, wanted: libraries_pb2.PatternFilter, order_by: str
    ) -> None:
        found = _ORDER.fullmatch(order_by or _DEFAULT_ORDER)
        require(
            found is not None and found[1] in _ORDERS,
            "order_by",
            f"{order_by[:60]!r}: one of {', '.join(_ORDERS)}, and 'desc' after it for the greatest first",
        )
        assert found is not None
        self._keys: NDArray[np.float64]
        figures = _wanted(game, library, wanted)
        self._pattern_ids: NDArray[np.int64] = figures["pattern_id"]
        if found[1] in _COUNTS:
            stored = game.view.libraries[library].stored
            counts = (use_count(stored[pattern_id]) for pattern_id in self._pattern_ids.tolist())
            self._keys = np.fromiter((getattr(count, found[1]) for count in counts), np.float64)
        else:
            self._keys = figures[found[1]].astype(np.float64)
        if found[2] == "desc":
            self._keys = -self._keys

    @property
    def total(self) -> int:
        """How many patterns there are in all."""
        return len(self._pattern_ids)

    def after(self, key: Key | None) -> Iterator[int]:
        """Yield the numbers of the patterns after a page's key, or all of them."""
        pattern_ids, keys = self._pattern_ids, self._keys
        if key is not None:
            value, last = float(key[0]), int(key[1])
            later = (keys > value) | ((keys == value) & (pattern_ids > last))
            pattern_ids, keys = pattern_ids[later], keys[later]
        yield from pattern_ids[np.lexsort((pattern_ids, keys))].tolist()

    def key_of(self, pattern_id: int) -> Key:
        """What a page that ends with this pattern is continued by."""
        place = int(np.searchsorted(self._pattern_ids, pattern_id))
        return [float(self._keys[place]), pattern_id]


def _wanted(game: LiveGame, library: Library, wanted: libraries_pb2.PatternFilter) -> Figures:
    figures = game.shelf.figures
    keep: NDArray[np.bool_] = figures["library"] == library_to_proto(library)
    if wanted.HasField("min_elo"):
        keep &= figures["elo"] >= wanted.min_elo
    if wanted.HasField("min_value"):
        keep &= figures["value"] >= wanted.min_value
    if wanted.HasField("max_value"):
        keep &= figures["value"] <= wanted.max_value
    if wanted.HasField("min_proposers"):
        keep &= figures["proposers"] >= wanted.min_proposers
    if wanted.player:
        keep &= figures["player"] == wanted.player
    if wanted.proposer:
        stored = game.view.libraries[library].stored
        by_number = figures["pattern_id"].tolist()
        keep[keep] = [
            proposed_by(stored[pattern_id], wanted.proposer)
            for pattern_id, kept in zip(by_number, keep.tolist(), strict=True)
            if kept
        ]
    return figures[keep]
