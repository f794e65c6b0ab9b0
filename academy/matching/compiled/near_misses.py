"""Placements that fail one test only, one that a move mends."""

from typing import Final

import numpy as np

from academy.matching.changes import Changes
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import ANCHOR_COLUMN, ANCHOR_ROW, SYMMETRY, Units
from academy.matching.compiled.table import (
    BANK,
    CODES,
    NO_BITS,
    ONE_BIT,
    WORD,
    Numbers,
    States,
    U,
    signed,
    table_size,
)
from academy.matching.compiled.telling import NO_LIMIT, listed_words
from academy.matching.compiled.touched import (
    CELL,
    CODE,
    COLUMN,
    IMAGE,
    MATCH_COLUMNS,
    PLACE,
    ROW,
    Records,
    Touched,
    far_failure,
)
from academy.matching.compiled.vectors import LANES, lowest_bit
from academy.matching.ground import Ground
from academy.matching.order import Order
from academy.matching.rows import STAGE, Rows

_MISS_COLUMNS: Final = 6


@compiled
def misses(
    ground: Ground,
    rows: Rows,
    touched: Touched,
    codes: States,
    states: States,
    units: Units,
    chosen: Numbers,
    order: Order,
) -> Numbers:
    """Return the near misses: place, symmetry, row, column, and the cell and the code where they fail.

    A word is met with its row's tests once more: those of its candidates that one of them lacks fail there.
    """
    tables, candidates, cells, turned = units.tables, units.candidates, touched.cells, touched.turned
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    margin, width = U(ground.margin), U(ground.columns + 2 * ground.margin)
    size = U(table_size(ground))
    words, places_of_words, count, _ = listed_words(units, units.nearly, chosen, U(NO_LIMIT), U(NO_LIMIT))
    found = np.empty((count, _MISS_COLUMNS), dtype=np.int32)
    end, number = U(0), U(0)
    while end < count:
        word, at = words[number], U(places_of_words[number])
        number += U(1)
        unit, lane = at // U(LANES), at % U(LANES)
        row, bank = U(units.rows[unit]), U(units.banks[unit])
        place, first = order.places[row], bank * U(BANK) + lane * U(WORD)
        start = U(starts[row])
        for test_number in range(start, start + U(STAGE) * U(stages[row])):
            test = U(tests[test_number])
            failing = word & ~tables[bank * size + test * U(LANES) + lane]
            word ^= failing
            offset = test // U(CODES)
            while failing != NO_BITS:
                candidate = first + lowest_bit(failing)
                failing &= failing - ONE_BIT
                symmetry = U(candidates[candidate, U(SYMMETRY)])
                anchor_row = candidates[candidate, U(ANCHOR_ROW)]
                anchor_column = candidates[candidate, U(ANCHOR_COLUMN)]
                anchor = (U(anchor_row) + margin) * width + U(anchor_column) + margin
                found[end, U(PLACE)], found[end, U(IMAGE)] = place, symmetry
                found[end, U(ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                found[end, U(COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
                found[end, U(CELL)] = cells[anchor + U(signed(turned[offset, symmetry]))]
                found[end, U(CODE)] = codes[test - offset * U(CODES)]
                end += U(1)
        # All near tests of these hold: it is a far one that they fail.
        while word != NO_BITS:
            candidate = first + lowest_bit(word)
            word &= word - ONE_BIT
            symmetry = U(candidates[candidate, U(SYMMETRY)])
            anchor_row = candidates[candidate, U(ANCHOR_ROW)]
            anchor_column = candidates[candidate, U(ANCHOR_COLUMN)]
            cell, code = far_failure(states, ground, rows, row, symmetry, anchor_row, anchor_column)
            found[end, U(PLACE)], found[end, U(IMAGE)] = place, symmetry
            found[end, U(ROW)] = anchor_row - anchors[row, symmetry, U(0)]
            found[end, U(COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
            found[end, U(CELL)], found[end, U(CODE)] = cell, code
            end += U(1)
    return found


@compiled
def mended(misses: Numbers, moves: int, changes: Changes, touched: Touched, most: int) -> Records:
    """Return the matches that moves of one change make of near misses, move by move."""
    first, following, move_of = touched.first, touched.following, touched.moves
    move_starts, states = changes.starts, changes.states
    starts = np.zeros(moves + 1, dtype=np.int32)
    for miss in range(U(len(misses))):
        change = first[U(misses[miss, U(CELL)])]
        while change >= 0:
            move = U(move_of[U(change)])
            alone = move_starts[move + U(1)] - move_starts[move] == 1
            mends = alone and states[U(change)] & misses[miss, U(CODE)] != 0
            starts[move + U(1)] += mends and starts[move + U(1)] < most
            change = following[U(change)]
    for move in range(moves):
        starts[move + 1] += starts[move]
    ends = starts[:moves].copy()
    found = np.empty((starts[moves], MATCH_COLUMNS), dtype=np.int32)
    for miss in range(U(len(misses))):
        change = first[U(misses[miss, U(CELL)])]
        while change >= 0:
            move = U(move_of[U(change)])
            alone = move_starts[move + U(1)] - move_starts[move] == 1
            mends = alone and states[U(change)] & misses[miss, U(CODE)] != 0
            if mends and ends[move] < starts[move + U(1)]:
                end = U(ends[move])
                for column in range(U(MATCH_COLUMNS)):
                    found[end, column] = misses[miss, column]
                ends[move] += 1
            change = following[U(change)]
    return starts, found
