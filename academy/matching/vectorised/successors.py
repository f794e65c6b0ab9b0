"""Matches of the positions after single moves, told as differences from the position before.

Every position is matched for itself: correct, and slow beside `compiled.successors`.
"""

import numpy as np
from numpy.typing import NDArray

from academy.matching.changes import BoardChanges
from academy.matching.ground import BoardTables
from academy.matching.matches import NO_LIMIT, Found
from academy.matching.order import RankOrder
from academy.matching.rows import Rows
from academy.matching.successors import Differences
from academy.matching.vectorised.sieve import find


def find_successors(
    states: NDArray[np.uint8],
    ground: BoardTables,
    rows: Rows,
    changes: BoardChanges,
    codes: NDArray[np.uint8],
    order: RankOrder,
    wanted: NDArray[np.bool_],
    most: int,
    each: int,
) -> tuple[Found, Differences]:
    """Return the base's matches, and of each move those gone and new, as `kernels.FindSuccessors` says."""
    base = find(states.reshape(1, -1), ground, rows, order, wanted, most, each)
    base_keys, all_keys = _keys(base), _keys(_found(states, ground, rows, order, wanted))
    gone, new_places, new_images, totals = [], [], [], []
    for first, last in zip(changes.starts[:-1], changes.starts[1:], strict=True):
        changed = states.copy()
        changed[changes.cells[first:last]] = changes.states[first:last]
        found = _found(changed, ground, rows, order, wanted)
        keys = _keys(found)
        gone.append(np.flatnonzero(~np.isin(base_keys, keys)).astype(np.int32))
        begun = np.flatnonzero(~np.isin(keys, all_keys))
        totals.append(len(begun))
        begun = begun[_number_of_place(found[0][begun]) < each][:most]
        new_places.append(found[0][begun])
        new_images.append(np.stack(found[1:4])[:, begun])
    nothing = np.zeros(0, dtype=np.int32)
    return base, (
        _starts(gone),
        np.concatenate([nothing, *gone]),
        _starts(new_places),
        np.concatenate([nothing, *new_places]),
        np.concatenate([np.zeros((3, 0), dtype=np.int16), *new_images], axis=1),
        np.array(totals, dtype=np.int32),
    )


def _found(
    states: NDArray[np.uint8], ground: BoardTables, rows: Rows, order: RankOrder, wanted: NDArray[np.bool_]
) -> Found:
    return find(states.reshape(1, -1), ground, rows, order, wanted, NO_LIMIT, NO_LIMIT)


def _number_of_place(places: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return how many entries before each one, in order, have the same place."""
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    before: NDArray[np.intp] = np.arange(len(places)) - np.repeat(starts, np.diff(starts, append=len(places)))
    return before


def _keys(found: Found) -> NDArray[np.int64]:
    places, symmetries, rows, columns, _, _ = found
    key = places.astype(np.int64)
    for column in (symmetries, rows, columns):
        key = (key << 14) + (column.astype(np.int64) & 0x3FFF)
    return key


def _starts(groups: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int32)
