"""Placements that fail one test only, one that a move mends."""

from typing import Final

import numpy as np

from academy.matching.changes import BoardChanges
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.move_lists import (
    COLUMN,
    IMAGE,
    MATCH_COLUMNS,
    MOVE,
    PLACE,
    ROW,
    MoveLists,
    admitted,
    by_move,
    larger_records,
    new_tally,
)
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
    Words,
    signed,
    table_size,
)
from academy.matching.compiled.telling import listed_words
from academy.matching.compiled.touched import TouchedTests, far_failure
from academy.matching.compiled.vectors import LANES, lowest_bit
from academy.matching.ground import BoardTables
from academy.matching.matches import NO_LIMIT
from academy.matching.order import RankOrder
from academy.matching.rows import STAGE, Rows

_WORDS_AT_ONCE: Final = 256


@compiled
def mended(
    ground: BoardTables,
    rows: Rows,
    touched: TouchedTests,
    codes: States,
    states: States,
    units: Units,
    chosen: Numbers,
    order: RankOrder,
    changes: BoardChanges,
    most: int,
    each: int,
) -> MoveLists:
    """Return the matches that moves of one change make of near misses, move by move."""
    words, places_of_words, _, _ = listed_words(units, units.nearly, chosen, U(NO_LIMIT), U(NO_LIMIT))
    tally = new_tally(len(changes.starts) - 1)
    # So many matches may one near miss become.
    longest = _most_moves_of_a_cell(touched)
    at_once = max(1, _WORDS_AT_ONCE // longest)
    found = np.empty((0, MATCH_COLUMNS), dtype=np.int32)
    first, end = 0, 0
    # An array that an inner loop may replace makes it slow: room is made for many words at once.
    while words[first] != NO_BITS:
        last = first
        while last < first + at_once and words[last] != NO_BITS:
            last += 1
        room = end + (last - first) * WORD * longest
        if room > len(found):
            found = larger_records(found, end, 2 * room)
        end = _mended_of(
            found,
            end,
            words[first:last],
            places_of_words[first:last],
            ground,
            rows,
            touched,
            codes,
            states,
            units,
            order,
            changes,
            tally,
            most,
            each,
        )
        first = last
    return by_move(found[:end], tally)


@compiled
def _mended_of(
    found: Numbers,
    end: int,
    words: Words,
    places_of_words: Numbers,
    ground: BoardTables,
    rows: Rows,
    touched: TouchedTests,
    codes: States,
    states: States,
    units: Units,
    order: RankOrder,
    changes: BoardChanges,
    tally: Numbers,
    most: int,
    each: int,
) -> int:
    """Write what moves make of the near misses of some words; return the end.

    A word is met with its row's tests once more: those of its candidates that one of them lacks fail there.
    """
    tables, candidates, anchors, turned = units.tables, units.candidates, rows.anchors, touched.turned
    starts, stages, tests, cells = rows.starts, rows.stages, rows.tests, touched.cells
    first_change, following, move_of = touched.first, touched.following, touched.moves
    move_starts, new_states = changes.starts, changes.states
    margin, width = U(ground.margin), U(ground.columns + 2 * ground.margin)
    size = U(table_size(ground))
    end = U(end)
    for number in range(U(len(words))):
        word, at = words[number], U(places_of_words[number])
        unit, lane = at // U(LANES), at % U(LANES)
        row, bank = U(units.rows[unit]), U(units.banks[unit])
        place, first = order.places[row], bank * U(BANK) + lane * U(WORD)
        test_number = U(starts[row])
        stop = test_number + U(STAGE) * U(stages[row])
        while word != NO_BITS:
            test, failing, near = U(0), word, False
            # Where all near tests hold it is a far one that fails.
            if test_number < stop:
                test, near = U(tests[test_number]), True
                failing = word & ~tables[bank * size + test * U(LANES) + lane]
                test_number += U(1)
            word ^= failing
            while failing != NO_BITS:
                candidate = first + lowest_bit(failing)
                failing &= failing - ONE_BIT
                symmetry = U(candidates[candidate, U(SYMMETRY)])
                anchor_row = candidates[candidate, U(ANCHOR_ROW)]
                anchor_column = candidates[candidate, U(ANCHOR_COLUMN)]
                if near:
                    offset = test // U(CODES)
                    anchor = (U(anchor_row) + margin) * width + U(anchor_column) + margin
                    cell = signed(cells[anchor + U(signed(turned[offset, symmetry]))])
                    code = signed(codes[test - offset * U(CODES)])
                else:
                    cell, code = far_failure(states, ground, rows, row, symmetry, anchor_row, anchor_column)
                change = first_change[U(cell)]
                while change >= 0:
                    move = U(move_of[U(change)])
                    alone = move_starts[move + U(1)] - move_starts[move] == 1
                    mends = alone and new_states[U(change)] & code != 0
                    if mends and admitted(tally, move, place, most, each):
                        found[end, U(MOVE)], found[end, U(PLACE)], found[end, U(IMAGE)] = (
                            move,
                            place,
                            symmetry,
                        )
                        found[end, U(ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                        found[end, U(COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
                        end += U(1)
                    change = following[U(change)]
    return signed(end)


@compiled
def _most_moves_of_a_cell(touched: TouchedTests) -> int:
    most = 1
    for cell in range(len(touched.first)):
        count = 0
        change = touched.first[cell]
        while change >= 0:
            count += 1
            change = touched.following[change]
        most = max(most, count)
    return most
