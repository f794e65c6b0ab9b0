"""The matches that candidates are, in the order in which a query wants its patterns.

What a branch depends on here is as good as random, and guessing wrong costs more than all else: what is left
is listed without one, unit by unit, word by word, bit by bit.
"""

from typing import Final

import numpy as np

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.perspectives import sifted
from academy.matching.compiled.sieve import (
    ANCHOR_COLUMN,
    ANCHOR_ROW,
    OWNER,
    SYMMETRY,
    Flags,
    Shorts,
    Units,
)
from academy.matching.compiled.table import BANK, NO_BITS, ONE_BIT, WORD, Numbers, States, U, Words, signed
from academy.matching.compiled.vectors import LANES, bits_in_bank, bits_set, lanes_in_use, lowest_bit
from academy.matching.ground import BoardTables
from academy.matching.matches import Found
from academy.matching.order import RankOrder
from academy.matching.rows import Rows

_NOBODY: Final = -1
# Few banks have more lanes in use, and few of these more bits: so many are written without looking.
_LANES_AT_ONCE: Final = 4
_BITS_AT_ONCE: Final = 2


@compiled
def find(
    boards: States, ground: BoardTables, rows: Rows, order: RankOrder, wanted: Flags, most: int, each: int
) -> Found:
    """Return the matches on some boards, (board, cell), as `kernels.Find` says."""
    units = sifted(boards, ground, rows)
    return told(units, units.bits, in_order(units, order, wanted), rows.anchors, order, U(most), U(each))


@compiled
def in_order(units: Units, order: RankOrder, wanted: Flags) -> Numbers:
    """Return the units of the rows that are asked for, by the rows' places in the order."""
    first = np.full(len(order.rows), _NOBODY, dtype=np.int32)
    following = np.empty(len(units.rows), dtype=np.int32)
    # From the last to the first, as chains grow at their beginning.
    for number in range(len(units.rows)):
        unit = len(units.rows) - 1 - number
        place = order.places[U(units.rows[unit])]
        if place >= 0 and (len(wanted) == 0 or wanted[U(place)]):
            following[unit] = first[U(place)]
            first[U(place)] = unit
    chains = np.empty(len(first), dtype=np.int32)
    count = U(0)
    for place in range(U(len(first))):
        chains[count] = first[place]
        count += U(first[place] >= 0)
    found = np.empty(len(units.rows), dtype=np.int32)
    end = U(0)
    for chain in range(count):
        unit = chains[chain]
        while unit >= 0:
            found[end] = unit
            end += U(1)
            unit = following[U(unit)]
    return found[: signed(end)]


@compiled
def told(
    units: Units, bits: Words, chosen: Numbers, anchors: Shorts, order: RankOrder, most: int, each: int
) -> Found:
    """Tell the first `most` matches of the chosen units, `each` at most of a pattern on one board.

    Returns place in the order, symmetry, row, column, and the owner of the candidate, and how many matches
    there are without any limit.
    """
    words, places_of_words, size, total = listed_words(units, bits, chosen, most, each)
    rows, found = _candidates_of(units, words, places_of_words, size)
    places = np.empty(size, dtype=np.int32)
    symmetries = np.empty(size, dtype=np.int16)
    image_rows = np.empty(size, dtype=np.int16)
    image_columns = np.empty(size, dtype=np.int16)
    owners = np.empty(size, dtype=np.int16)
    candidates = units.candidates
    for match in range(size):
        row, candidate = U(rows[match]), U(found[match])
        symmetry = U(candidates[candidate, U(SYMMETRY)])
        places[match] = order.places[row]
        symmetries[match] = symmetry
        image_rows[match] = candidates[candidate, U(ANCHOR_ROW)] - anchors[row, symmetry, U(0)]
        image_columns[match] = candidates[candidate, U(ANCHOR_COLUMN)] - anchors[row, symmetry, U(1)]
        owners[match] = candidates[candidate, U(OWNER)]
    return places, symmetries, image_rows, image_columns, owners, signed(total)


@compiled
def _candidates_of(
    units: Units, words: Words, places_of_words: Numbers, size: int
) -> tuple[Numbers, Numbers]:
    """Return the row and the candidate of each bit of some words that end with an empty one."""
    # What is written too much of a word is written over, or lies behind the last.
    rows = np.empty(size + U(_BITS_AT_ONCE), dtype=np.int32)
    found = np.empty(size + U(_BITS_AT_ONCE), dtype=np.int32)
    number, end = U(0), U(0)
    while words[number] != NO_BITS:
        # A word's place names its unit and its lane.
        word, at = words[number], U(places_of_words[number])
        unit = at // U(LANES)
        row = units.rows[unit]
        first = U(units.banks[unit]) * U(BANK) + (at % U(LANES)) * U(WORD)
        following = end + bits_set(word)
        for bit in range(U(_BITS_AT_ONCE)):
            rows[end + bit], found[end + bit] = row, first + lowest_bit(word)
            word &= word - ONE_BIT
        end += U(_BITS_AT_ONCE)
        while word != NO_BITS:
            rows[end], found[end] = row, first + lowest_bit(word)
            word &= word - ONE_BIT
            end += U(1)
        end = following
        number += U(1)
    return rows, found


@compiled
def listed_words(
    units: Units, bits: Words, chosen: Numbers, most: int, each: int
) -> tuple[Words, Numbers, int, int]:
    """List words of the chosen units that are not empty, and their places among `bits`.

    Of one row on one board only the lowest `each` bits are kept, and in all the first `most`. Returns also
    how many bits are kept and how many there are.
    """
    words = np.empty(len(chosen) * LANES + LANES, dtype=np.uint64)
    places = np.empty(len(words), dtype=np.int32)
    listed, total, left, room = U(0), U(0), each, most
    last_row, last_owner = signed(_NOBODY), signed(_NOBODY)
    for number in range(U(len(chosen))):
        unit = U(chosen[number])
        row, owner = units.rows[unit], units.candidates[U(units.banks[unit]) * U(BANK), U(OWNER)]
        if row != last_row or owner != last_owner:
            left, last_row, last_owner = each, row, owner
        count = bits_in_bank(bits, unit)
        total += count
        kept = min(count, min(left, room))
        if kept > U(0):
            left -= kept
            room -= kept
            listed = _list_words(words, places, listed, bits, unit, count, kept)
    words[listed] = NO_BITS
    places[listed] = 0
    return words, places, most - room, total


@compiled
def _list_words(
    words: Words, places: Numbers, listed: int, bits: Words, unit: int, count: int, kept: int
) -> int:
    first = U(LANES) * unit
    if kept == count:
        lanes = lanes_in_use(bits, unit)
        end: int = listed + bits_set(lanes)
        for number in range(U(_LANES_AT_ONCE)):
            # Where no lane is left any will do: it is written over.
            at = first + lowest_bit(lanes) % U(LANES)
            words[listed + number], places[listed + number] = bits[at], at
            lanes &= lanes - ONE_BIT
        listed += U(_LANES_AT_ONCE)
        while lanes != NO_BITS:
            at = first + lowest_bit(lanes)
            words[listed], places[listed] = bits[at], at
            lanes &= lanes - ONE_BIT
            listed += U(1)
        return end
    for lane in range(U(LANES)):
        word = bits[first + lane]
        size = bits_set(word)
        if size > kept:
            word = lowest_bits(word, kept)
            size = kept
        kept -= size
        words[listed], places[listed] = word, first + lane
        listed += U(word != NO_BITS)
    return listed


@compiled
def lowest_bits(word: int, count: int) -> int:
    """Return only the lowest bits of a word that has more."""
    left = word
    for _ in range(count):
        left &= left - ONE_BIT
    return word ^ left
