"""Sieving a library's patterns: the AND of each row's words, all patterns at once.

The first tests of all rows are done densely; then only those (row, symmetry, word) that still have
an anchor are followed. Almost all die within a head.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.matching.rows import HEAD, PatternRows, ranges
from academy.matching.table import WORD

_DENSE_TESTS: Final = 2
_MAX_DENSE_WORDS: Final = 1 << 18


class Hits(NamedTuple):
    """Rows that hold, under a symmetry, around an anchor (numbered as in the table)."""

    rows: NDArray[np.int64]
    symmetries: NDArray[np.int64]
    anchors: NDArray[np.int64]


def sieve(table: NDArray[np.uint64], patterns: PatternRows) -> Hits:
    """Return all hits, by row, symmetry and anchor. `table` is (test, symmetry, word)."""
    _, symmetries, words = table.shape
    lanes = symmetries * words
    at_once = max(1, _MAX_DENSE_WORDS // lanes)
    found = [
        _sieve_some(table, patterns, begin, min(begin + at_once, len(patterns)))
        for begin in range(0, len(patterns), at_once)
    ]
    return Hits(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _sieve_some(table: NDArray[np.uint64], patterns: PatternRows, begin: int, end: int) -> Hits:
    tests, symmetries, words = table.shape
    lanes = symmetries * words
    by_test = table.reshape(tests, lanes)
    flat = table.reshape(-1)
    heads = patterns.heads

    dense = by_test[heads[0, begin:end]]
    for place in range(1, _DENSE_TESTS):
        dense &= by_test[heads[place, begin:end]]
    alive = np.flatnonzero(dense)
    bits = dense.reshape(-1)[alive]
    rows, lane = np.divmod(alive, lanes)
    rows += begin
    distinct = np.flatnonzero(patterns.distinct[rows, lane // words])
    rows, lane, bits = rows[distinct], lane[distinct], bits[distinct]

    for place in range(_DENSE_TESTS, HEAD):
        bits &= flat[heads[place, rows].astype(np.int64) * lanes + lane]
        alive = np.flatnonzero(bits)
        if len(alive) < len(bits):
            rows, lane, bits = rows[alive], lane[alive], bits[alive]

    lengths = patterns.tail_lengths[rows]
    long = np.flatnonzero(lengths)
    if len(long):
        lengths = lengths[long]
        tail_tests = patterns.tails[ranges(patterns.tail_starts[rows[long]], lengths)].astype(np.int64)
        tail_bits = flat[tail_tests * lanes + np.repeat(lane[long], lengths)]
        firsts = np.cumsum(lengths, dtype=np.int64) - lengths
        bits[long] &= np.bitwise_and.reduceat(tail_bits, firsts)
        alive = np.flatnonzero(bits)
        rows, lane, bits = rows[alive], lane[alive], bits[alive]

    each_bit = np.unpackbits(bits.view(np.uint8), bitorder="little")
    which, bit = np.divmod(np.flatnonzero(each_bit), WORD)
    symmetry, word = np.divmod(lane[which], words)
    return Hits(rows[which], symmetry, word * WORD + bit)
