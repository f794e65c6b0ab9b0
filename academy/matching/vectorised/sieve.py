"""All placements of a library's patterns on a board, all patterns at once.

The first stage of all rows is done densely; then only those (row, symmetry, word) that still have
an anchor are followed. Almost all die within two stages.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.arrays import ranges
from academy.matching.ground import Ground
from academy.matching.rows import FAR_COUNT, FAR_START, STAGE, Rows
from academy.matching.vectorised.table import WORD, anchors_on, framed, tables

_MAX_DENSE_WORDS: Final = 1 << 16
_MAX_FAR_TESTS: Final = 1 << 20
_MAX_PLACES_OF_A_SHORT: Final = 1 << 16

Numbers = NDArray[np.int64]
Found = tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.int16], NDArray[np.int16], int]


class _Hits(NamedTuple):
    """Rows that hold, under a symmetry, around an anchor on a cell."""

    rows: Numbers
    symmetries: Numbers
    cells: Numbers


def find(
    states: NDArray[np.uint8],
    ground: Ground,
    rows: Rows,
    order: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    most: int,
) -> Found:
    """Return the matches: place in `order`, symmetry, row and column of each, and how many there are in all.

    Rows come as in `order`, without those that are not `wanted` (all are if that is empty).
    """
    board = framed(states, ground)
    hits = [
        _far_tests_held(_hits(board, cells, ground, rows, members), states, ground, rows)
        for kind, members in enumerate(rows.of_kind)
        if len(members) and len(cells := anchors_on(states, ground, kind))
    ]
    found = _joined(hits)
    place_of_row = np.full(len(rows.starts), len(order), dtype=np.int32)
    kept = np.flatnonzero(wanted) if len(wanted) else np.arange(len(order))
    place_of_row[order[kept]] = kept
    places = place_of_row.take(found.rows)
    if len(kept) < len(rows.starts):
        told = np.flatnonzero(places < len(order))
        places, found = places.take(told), _Hits(*(column.take(told) for column in found))
    # The hits of a row are in order already, and short numbers are sorted much faster.
    keys = places.astype(np.uint16) if len(order) <= _MAX_PLACES_OF_A_SHORT else places
    first = np.argsort(keys, kind="stable")[:most]
    matched, symmetries, cells = (column.take(first) for column in found)
    anchor_rows, anchor_columns = np.divmod(cells, ground.columns)
    anchors = rows.anchors[matched, symmetries]
    return (
        places.take(first),
        symmetries.astype(np.int16),
        (anchor_rows - anchors[:, 0]).astype(np.int16),
        (anchor_columns - anchors[:, 1]).astype(np.int16),
        len(places),
    )


def _joined(found: list[_Hits]) -> _Hits:
    nothing = _Hits(*(np.zeros(0, dtype=np.int64) for _ in _Hits._fields))
    return _Hits(*(np.concatenate(columns) for columns in zip(nothing, *found, strict=True)))


def _hits(
    board: NDArray[np.uint8], cells: Numbers, ground: Ground, rows: Rows, members: NDArray[np.int32]
) -> _Hits:
    found = []
    first_anchor = 0
    for table in tables(board, cells, ground, rows.reach):
        _, symmetries, words = table.shape
        at_once = max(1, _MAX_DENSE_WORDS // (symmetries * words))
        for begin in range(0, len(members), at_once):
            some = _sieved(table, rows, members[begin : begin + at_once])
            found.append(some._replace(cells=cells.take(some.cells + first_anchor)))
        first_anchor += words * WORD
    hits = _joined(found)
    if first_anchor - words * WORD == 0:
        return hits
    order = np.lexsort((hits.cells, hits.symmetries, hits.rows))
    return _Hits(*(column.take(order) for column in hits))


def _sieved(table: NDArray[np.uint64], rows: Rows, members: NDArray[np.int32]) -> _Hits:
    """Return the hits of some rows, with the anchors' numbers for cells."""
    tests, symmetries, words = table.shape
    lanes = symmetries * words
    by_test = table.reshape(tests, lanes)
    flat = table.reshape(-1)
    starts, stages = rows.starts.take(members), rows.stages.take(members)

    # `take` is several times as fast as indexing with an array.
    first = rows.tests.take(starts[:, None] + np.arange(STAGE)).astype(np.intp)
    dense = by_test.take(first[:, 0], axis=0)
    for place in range(1, STAGE):
        dense &= by_test.take(first[:, place], axis=0)
    alive = np.flatnonzero(dense != 0)
    bits = dense.reshape(-1).take(alive)
    row, lane = np.divmod(alive, lanes)
    distinct = rows.distinct.reshape(-1).take(members.take(row) * np.int64(symmetries) + lane // words)
    row, lane, bits = row[distinct], lane[distinct], bits[distinct]

    done = []
    stage = 1
    while len(row):
        ended = stages.take(row) <= stage
        if ended.any():
            done.append((row[ended], lane[ended], bits[ended]))
            row, lane, bits = row[~ended], lane[~ended], bits[~ended]
        places = starts.take(row) + stage * STAGE
        for place in range(STAGE):
            bits &= flat.take(rows.tests.take(places + place).astype(np.intp) * lanes + lane)
        alive = np.flatnonzero(bits)
        row, lane, bits = row.take(alive), lane.take(alive), bits.take(alive)
        stage += 1
    if not done:
        return _joined([])
    row, lane, bits = (np.concatenate(columns) for columns in zip(*done, strict=True))
    order = np.argsort(row * np.int64(lanes) + lane)
    row, lane, bits = row.take(order), lane.take(order), bits.take(order)

    each_bit = np.unpackbits(bits.view(np.uint8), bitorder="little")
    which, bit = np.divmod(np.flatnonzero(each_bit), WORD)
    symmetry, word = np.divmod(lane.take(which), words)
    return _Hits(members.take(row.take(which)).astype(np.int64), symmetry, word * WORD + bit)


def _far_tests_held(hits: _Hits, states: NDArray[np.uint8], ground: Ground, rows: Rows) -> _Hits:
    """Return the hits around which the board has what patterns want beyond the table's offsets."""
    counts = rows.far[:, FAR_COUNT].take(hits.rows)
    far = np.flatnonzero(counts)
    if not len(far):
        return hits
    holds = np.ones(len(counts), dtype=np.bool_)
    at_once = max(1, _MAX_FAR_TESTS // int(counts.max()))
    for begin in range(0, len(far), at_once):
        some = far[begin : begin + at_once]
        lengths = counts.take(some)
        tests = ranges(rows.far[:, FAR_START].take(hits.rows.take(some)), lengths)
        turns = np.repeat(ground.matrices.take(hits.symmetries.take(some), axis=0), lengths, axis=0)
        offsets = np.matmul(turns, rows.far_offsets.take(tests, axis=0)[:, :, None].astype(np.int32))
        row, column = np.divmod(np.repeat(hits.cells.take(some), lengths), ground.columns)
        row, column = row + offsets[:, 0, 0], column + offsets[:, 1, 0]
        on_board = (row >= 0) & (row < ground.rows) & (column >= 0) & (column < ground.columns)
        seen = states.take(np.where(on_board, row * ground.columns + column, 0))
        accepted = np.where(on_board, seen, np.uint8(State.OFF_BOARD)) & rows.far_codes.take(tests) != 0
        holds[some] = np.logical_and.reduceat(accepted, np.cumsum(lengths) - lengths)
    return _Hits(*(column[holds] for column in hits))
