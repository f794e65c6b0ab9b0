"""Lists of a library's patterns and tesujis: which pass a filter, in which order."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.settings import Library
from academy.knowledge.tesujis.table import TesujiTable
from academy.service.errors import InvalidFieldError, require
from academy.service.game_cache import CachedGame
from academy.service.paging import Key
from academy.service.pattern_cache import Figures
from academy.store.codec.games import library_to_proto
from academy.store.codec.patterns import proposed_by, stored_cells, use_count
from academy.v1 import libraries_pb2

_ORDER: Final = re.compile(r"\s*([a-z_]+)(?:\s+(asc|desc))?\s*")
_DEFAULT_ORDER: Final = "strength desc"
# Read from the stored patterns for each listing: contests change hundreds of them, and nothing else asks.
_COUNTS: Final = ("uses", "successes")
_LONGEST_PART: Final = 256
_TESUJI_ORDERS: Final = ("strength", "weight")
_ORDERS: Final = ("strength", "value", "elo", "proposers", *_COUNTS, "pattern_id")


def _read_order(order_by: str, orders: Sequence[str]) -> tuple[str, bool]:
    """Return by what to order, and whether the greatest comes first. Raises InvalidFieldError."""
    match = _ORDER.fullmatch(order_by or _DEFAULT_ORDER)
    if match is None or match[1] not in orders:
        what = f"{order_by[:60]!r}: one of {', '.join(orders)}, and 'desc' after it for the greatest first"
        raise InvalidFieldError("order_by", what)
    return match[1], match[2] == "desc"


class PatternListing:
    """The patterns of a library that pass a filter, in order.

    Raises InvalidFieldError for an unknown order.
    """

    def __init__(
        self, game: CachedGame, library: Library, wanted: libraries_pb2.PatternFilter, order_by: str
    ) -> None:
        by, descending = _read_order(order_by, _ORDERS)
        self._keys: NDArray[np.float64]
        figures = _filter_figures(game, library, wanted)
        self._pattern_ids: NDArray[np.int64] = figures["pattern_id"]
        if by in _COUNTS:
            stored = game.view.libraries[library].stored
            counts = (use_count(stored[pattern_id]) for pattern_id in self._pattern_ids.tolist())
            self._keys = np.fromiter((getattr(count, by) for count in counts), np.float64)
        else:
            self._keys = figures[by].astype(np.float64)
        if descending:
            self._keys = -self._keys

    @property
    def total(self) -> int:
        """The number of patterns in the listing."""
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
        """Return the key from which the page after this pattern continues."""
        place = int(np.searchsorted(self._pattern_ids, pattern_id))
        return [float(self._keys[place]), pattern_id]


def _filter_figures(game: CachedGame, library: Library, wanted: libraries_pb2.PatternFilter) -> Figures:
    figures = game.patterns.figures
    keep: NDArray[np.bool_] = figures["library"] == library_to_proto(library)
    if wanted.HasField("min_elo"):
        keep &= figures["elo"] >= wanted.min_elo
    if wanted.HasField("max_elo"):
        keep &= figures["elo"] <= wanted.max_elo
    if wanted.HasField("min_value"):
        keep &= figures["value"] >= wanted.min_value
    if wanted.HasField("max_value"):
        keep &= figures["value"] <= wanted.max_value
    if wanted.HasField("min_proposers"):
        keep &= figures["proposers"] >= wanted.min_proposers
    if wanted.player:
        keep &= figures["player"] == wanted.player
    # What costs more is looked at where the rest is passed.
    stored = game.view.libraries[library].stored
    if wanted.proposer:
        numbers = figures["pattern_id"][keep].tolist()
        keep[keep] = [proposed_by(stored[number], wanted.proposer) for number in numbers]
    if wanted.cells or wanted.HasField("min_size") or wanted.HasField("max_size"):
        passes = _cells_filter(wanted, isinstance(game.view.spec.geometry, GraphGeometry))
        numbers = figures["pattern_id"][keep].tolist()
        keep[keep] = [passes(stored_cells(stored[number])) for number in numbers]
    return figures[keep]


def _cells_filter(wanted: libraries_pb2.PatternFilter, on_map: bool) -> Callable[[str], bool]:
    """What patterns' texts must be. On a map each cell has a line of its own. Raises InvalidFieldError."""
    most = _LONGEST_PART
    require(len(wanted.cells) <= most, "filter.cells", f"more than {most} characters", limit=most)
    part = " ".join(wanted.cells.split())
    least = wanted.min_size if wanted.HasField("min_size") else 0
    greatest = wanted.max_size if wanted.HasField("max_size") else math.inf

    def passes(cells: str) -> bool:
        lines = cells.splitlines()
        size = len(lines) if on_map else len(cells.split())
        return least <= size <= greatest and any(part in " ".join(line.split()) for line in lines)

    return passes


class TesujiListing:
    """The tesujis of a table, in order; those of equal weights as by strength, equals by their codes.

    Raises InvalidFieldError for an unknown order.
    """

    def __init__(self, table: TesujiTable, order_by: str) -> None:
        by, descending = _read_order(order_by, _TESUJI_ORDERS)
        self._table = table
        sign = -1.0 if descending else 1.0
        self._keys = sign * (table.strengths if by == "strength" else table.weight_millionths)
        self._then = sign * table.strengths

    def after(self, key: Key | None) -> list[int]:
        """Return the rows after a page's key, or all of them."""
        codes, keys, then = self._table.codes, self._keys, self._then
        rows = np.arange(len(codes))
        if key is not None:
            first, second, code = float(key[0]), float(key[1]), int(key[2])
            later = (then > second) | ((then == second) & (codes > code))
            rows = np.flatnonzero((keys > first) | ((keys == first) & later))
        after: list[int] = rows[np.lexsort((codes[rows], then[rows], keys[rows]))].tolist()
        return after

    def key_of(self, code: int) -> Key:
        """Return the key from which the page after this tesuji continues."""
        (row,) = self._table.rows_of(code)
        return [float(self._keys[row]), float(self._then[row]), code]
