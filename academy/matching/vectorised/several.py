"""Several queries and several answers, one after the other: what is gained by one call is nothing here."""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from academy.matching.ground import BoardTables
from academy.matching.matches import FoundEach
from academy.matching.order import RankOrder
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records
from academy.matching.rows import Rows
from academy.matching.vectorised.sieve import find
from academy.matching.vectorised.writing import write

Numbers = NDArray[np.int32]


def find_each(
    boards: NDArray[np.uint8],
    ground: BoardTables,
    rows: Rows,
    order: RankOrder,
    wanted: NDArray[np.bool_],
    most: NDArray[np.int64],
    each: NDArray[np.int64],
) -> FoundEach:
    """Return what is found by each query, as `kernels.FindEach` says."""
    limits = zip(most.tolist(), each.tolist(), strict=True)
    found = [
        find(asked, ground, rows, order, wanted, *limit) for asked, limit in zip(boards, limits, strict=True)
    ]
    places, symmetries, image_rows, image_columns, numbers, totals = zip(*found, strict=True)
    return (
        np.concatenate(places),
        np.concatenate(symmetries),
        np.concatenate(image_rows),
        np.concatenate(image_columns),
        np.concatenate(numbers),
        np.array([0, *accumulate(map(len, places))], dtype=np.int32),
        np.array(totals, dtype=np.int64),
    )


def write_each(
    lists: PlacementLists, ends: Numbers, lost: Lost, records: Records, fields: Fields
) -> tuple[NDArray[np.uint8], Numbers, Numbers, Numbers]:
    """Return messages and their tables, as `kernels.WriteEach` says."""
    lasts = ends.tolist()
    written = [
        write(_some(lists, first, last), lost, records, fields)
        for first, last in zip([0, *lasts[:-1]], lasts, strict=True)
    ]
    messages, tables = zip(*written, strict=True)
    return np.concatenate(messages), _ends(messages), np.concatenate(tables), _ends(tables)


def _ends(parts: tuple[NDArray[np.generic], ...]) -> Numbers:
    return np.cumsum([len(part) for part in parts], dtype=np.int32)


def _some(lists: PlacementLists, first: int, last: int) -> PlacementLists:
    start, end = lists.starts[first], lists.starts[last]
    return PlacementLists(
        lists.places[start:end],
        lists.symmetries[start:end],
        lists.rows[start:end],
        lists.columns[start:end],
        lists.for_opponent[start:end],
        lists.starts[first : last + 1] - start,
        lists.totals[first:last],
        lists.more[first:last],
    )
