"""The matches of a query: the candidates that passed, in the order of the ranking."""

from typing import Final

import numpy as np

from academy.matching.compiled.banks import (
    BANK,
    LANES,
    NO_BITS,
    ONE_BIT,
    WORD,
    Numbers,
    States,
    U,
    bits_in_bank,
    lowest_bit,
    signed,
)
from academy.matching.compiled.compiling import compiled, entry
from academy.matching.compiled.filter import (
    ANCHOR_COLUMN,
    ANCHOR_ROW,
    OWNER,
    SYMMETRY,
    Units,
    filter_candidates,
)
from academy.matching.matches import Matches, MatchLimits, RankedRows

_NOTHING: Final = -1


@entry
def match(boards: States, library: RankedRows, limits: MatchLimits) -> Matches:
    """Return the matches on some boards, (board, cell), as `kernels.MatchFunction` says."""
    units = filter_candidates(boards, library.tables, library.rows)
    return collect_matches(units, order_units(units, library), library, limits)


@compiled
def order_units(units: Units, library: RankedRows) -> Numbers:
    """Return the units of the rows that are wanted, in the order of the ranking."""
    wanted, places = library.wanted, library.ranking.places
    first = np.full(len(library.ranking.rows), _NOTHING, dtype=np.int32)
    following = np.empty(len(units.rows), dtype=np.int32)
    # From the last to the first, as chains grow at their beginning.
    for number in range(len(units.rows)):
        unit = len(units.rows) - 1 - number
        place = places[U(units.rows[unit])]
        if place >= 0 and (len(wanted) == 0 or wanted[U(place)]):
            following[unit] = first[U(place)]
            first[U(place)] = unit
    chains = np.empty(len(first), dtype=np.int32)
    count = U(0)
    for place in range(U(len(first))):
        chains[count] = first[place]
        count += U(first[place] >= 0)
    ordered = np.empty(len(units.rows), dtype=np.int32)
    end = U(0)
    for chain in range(count):
        unit = chains[chain]
        while unit >= 0:
            ordered[end] = unit
            end += U(1)
            unit = following[U(unit)]
    return ordered[: signed(end)]


@compiled
def collect_matches(units: Units, ordered: Numbers, library: RankedRows, limits: MatchLimits) -> Matches:
    """List the first matches of some units within the limits; the second board is the owner that is not 0."""
    kept, size, total = _count_kept(units, ordered, limits)
    rows, candidates = _list_candidates(units, ordered, kept, size)
    anchors, ranking, of_candidate = library.rows.anchors, library.ranking, units.candidates
    places, symmetries = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    image_rows, image_columns = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    on_second = np.empty(size, dtype=np.bool_)
    for match in range(size):
        row, candidate = U(rows[match]), U(candidates[match])
        symmetry = U(of_candidate[candidate, U(SYMMETRY)])
        places[match] = ranking.places[row]
        symmetries[match] = symmetry
        image_rows[match] = of_candidate[candidate, U(ANCHOR_ROW)] - anchors[row, symmetry, U(0)]
        image_columns[match] = of_candidate[candidate, U(ANCHOR_COLUMN)] - anchors[row, symmetry, U(1)]
        on_second[match] = of_candidate[candidate, U(OWNER)] != 0
    ids = ranking.pattern_ids
    return Matches(ids, places, symmetries, image_rows, image_columns, on_second, signed(total), False)


@compiled
def _count_kept(units: Units, ordered: Numbers, limits: MatchLimits) -> tuple[Numbers, int, int]:
    """Return how many candidates of each unit the limits keep, the sum of that, and the number of all."""
    kept = np.empty(len(ordered), dtype=np.int32)
    left, room, total = U(limits.per_pattern), U(limits.total), U(0)
    last_row, last_owner = signed(_NOTHING), signed(_NOTHING)
    for number in range(U(len(ordered))):
        unit = U(ordered[number])
        row, owner = units.rows[unit], units.candidates[U(units.banks[unit]) * U(BANK), U(OWNER)]
        if row != last_row or owner != last_owner:
            left, last_row, last_owner = U(limits.per_pattern), row, owner
        count = bits_in_bank(units.bits, unit)
        of_unit = min(count, min(left, room))
        kept[number] = of_unit
        total += count
        left -= of_unit
        room -= of_unit
    return kept, signed(U(limits.total) - room), total


@compiled
def _list_candidates(units: Units, ordered: Numbers, kept: Numbers, size: int) -> tuple[Numbers, Numbers]:
    """Return the row and the candidate of each match."""
    rows, candidates = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    end = U(0)
    for number in range(U(len(ordered))):
        unit, stop = U(ordered[number]), end + U(kept[number])
        lane = U(0)
        while end < stop:
            word = units.bits[unit * U(LANES) + lane]
            first = U(units.banks[unit]) * U(BANK) + lane * U(WORD)
            while word != NO_BITS and end < stop:
                rows[end], candidates[end] = units.rows[unit], first + lowest_bit(word)
                word &= word - ONE_BIT
                end += U(1)
            lane += U(1)
    return rows, candidates
