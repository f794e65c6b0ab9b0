"""Sieving a library's patterns: the AND of each row's words, all patterns at once.

The first tests of all rows are done densely; then only those (row, symmetry, word) that still have
an anchor are followed. Almost all die within a head.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.matching.rows import HEAD, PatternRows, ranges
from academy.matching.table import WORD

_DENSE_TESTS: Final = 4
_MAX_DENSE_WORDS: Final = 1 << 16
_MAX_TAIL_TESTS: Final = 1 << 20


class Hits(NamedTuple):
    """Rows that hold, under a symmetry, around an anchor (numbered as in the table)."""

    rows: NDArray[np.int64]
    symmetries: NDArray[np.int64]
    anchors: NDArray[np.int64]


def sieve_all(tables: Iterable[NDArray[np.uint64]], patterns: PatternRows) -> Hits:
    """Return the hits of a table that comes by some words at a time, like `sieve`."""
    found = []
    first_anchor = 0
    for table in tables:
        rows, symmetries, anchors = sieve(table, patterns)
        found.append(Hits(rows, symmetries, anchors + first_anchor))
        first_anchor += table.shape[2] * WORD
    hits = _joined(found)
    if len(found) == 1:
        return hits
    order = np.lexsort((hits.anchors, hits.symmetries, hits.rows))
    return Hits(*(column[order] for column in hits))


def sieve(table: NDArray[np.uint64], patterns: PatternRows) -> Hits:
    """Return all hits, ordered by row, symmetry and anchor. `table` is (test, symmetry, word)."""
    _, symmetries, words = table.shape
    lanes = symmetries * words
    at_once = max(1, _MAX_DENSE_WORDS // lanes)
    return _joined(
        [
            _sieve_some(table, patterns, begin, min(begin + at_once, len(patterns)))
            for begin in range(0, len(patterns), at_once)
        ]
    )


def _joined(found: list[Hits]) -> Hits:
    return Hits(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _sieve_some(table: NDArray[np.uint64], patterns: PatternRows, begin: int, end: int) -> Hits:
    tests, symmetries, words = table.shape
    lanes = symmetries * words
    by_test = table.reshape(tests, lanes)
    flat = table.reshape(-1)
    heads = patterns.heads

    # `take` is several times as fast as indexing with an array.
    dense = by_test.take(heads[0, begin:end], axis=0)
    for place in range(1, _DENSE_TESTS):
        dense &= by_test.take(heads[place, begin:end], axis=0)
    alive = np.flatnonzero(dense != 0)
    bits = dense.reshape(-1).take(alive)
    rows, lane = np.divmod(alive, lanes)
    rows += begin
    distinct = patterns.distinct.reshape(-1).take(rows * symmetries + lane // words)
    rows, lane, bits = rows[distinct], lane[distinct], bits[distinct]

    for place in range(_DENSE_TESTS, HEAD):
        bits &= flat.take(heads[place].take(rows).astype(np.int64) * lanes + lane)
        alive = np.flatnonzero(bits != 0)
        rows, lane, bits = rows.take(alive), lane.take(alive), bits.take(alive)

    long = np.flatnonzero(patterns.tail_lengths.take(rows))
    if len(long):
        bits[long] &= _tails(flat, lanes, patterns, rows.take(long), lane.take(long))
        alive = np.flatnonzero(bits != 0)
        rows, lane, bits = rows.take(alive), lane.take(alive), bits.take(alive)

    each_bit = np.unpackbits(bits.view(np.uint8), bitorder="little")
    which, bit = np.divmod(np.flatnonzero(each_bit), WORD)
    symmetry, word = np.divmod(lane[which], words)
    return Hits(rows[which], symmetry, word * WORD + bit)


def _tails(
    flat: NDArray[np.uint64],
    lanes: int,
    patterns: PatternRows,
    rows: NDArray[np.int64],
    lane: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """Return the AND of each row's tail, in its lane. No tail may be empty."""
    lengths = patterns.tail_lengths.take(rows)
    starts = patterns.tail_starts.take(rows)
    found = np.empty(len(rows), dtype=np.uint64)
    at_once = max(1, _MAX_TAIL_TESTS // int(lengths.max()))
    for begin in range(0, len(rows), at_once):
        part = slice(begin, begin + at_once)
        tests = patterns.tails.take(ranges(starts[part], lengths[part])).astype(np.int64)
        bits = flat.take(tests * lanes + np.repeat(lane[part], lengths[part]))
        firsts = np.cumsum(lengths[part], dtype=np.int64) - lengths[part]
        np.bitwise_and.reduceat(bits, firsts, out=found[part])
    return found
