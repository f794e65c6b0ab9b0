"""Lists of a library's patterns and tesujis: which pass a filter, in which order."""

import math
import re
from collections.abc import Callable, Sequence
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


class Listing:
    """Rows in order: by the first of their keys, equals by the next one, and at last by their numbers.

    A row's number is that of a pattern, or the code of a tesuji.
    """

    def __init__(self, numbers: NDArray[np.int64], *keys: NDArray[np.float64]) -> None:
        self.numbers = numbers
        self._keys = keys

    def after(self, key: Key | None) -> NDArray[np.intp]:
        """Return the rows after a page's key, or all of them."""
        rows = np.arange(len(self.numbers))
        if key is not None:
            later = self.numbers > int(key[-1])
            for column, value in reversed(list(zip(self._keys, map(float, key[:-1]), strict=True))):
                later = (column > value) | ((column == value) & later)
            rows = np.flatnonzero(later)
        return rows[np.lexsort([column[rows] for column in (self.numbers, *reversed(self._keys))])]

    def key_of(self, number: int) -> Key:
        """Return the key from which the page after this row continues."""
        (row,) = np.flatnonzero(self.numbers == number)
        return [*(float(column[row]) for column in self._keys), number]


def list_patterns(
    game: CachedGame, library: Library, wanted: libraries_pb2.PatternFilter, order_by: str
) -> Listing:
    """Return the patterns of a library that pass a filter. Raises InvalidFieldError."""
    by, descending = _read_order(order_by, _ORDERS)
    figures = _filter_figures(game, library, wanted)
    if by in _COUNTS:
        stored = game.view.libraries[library].stored
        counts = (use_count(stored[number]) for number in figures["pattern_id"].tolist())
        keys = np.fromiter((getattr(count, by) for count in counts), np.float64)
    else:
        keys = figures[by].astype(np.float64)
    return Listing(figures["pattern_id"], -keys if descending else keys)


def list_tesujis(table: TesujiTable, order_by: str) -> Listing:
    """Return the rows of a table; those of equal weights come as by strength. Raises InvalidFieldError."""
    by, descending = _read_order(order_by, _TESUJI_ORDERS)
    sign = -1.0 if descending else 1.0
    keys = (table.strengths if by == "strength" else table.weight_millionths).astype(np.float64)
    return Listing(table.codes, sign * keys, sign * table.strengths)


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
