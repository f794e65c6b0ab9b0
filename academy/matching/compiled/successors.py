"""Matches of the positions after single moves, told as differences from the position before.

Where a move changes one cell, its new matches are of two kinds. Around an anchor that was there before,
exactly one test failed, and the new state mends it: such near misses of all moves are found in one sieve
of the base position. Around a cell that the move makes an anchor, all else must hold: the moves' cells are
sieved as anchors of their own. Positions after moves that change more cells are sieved one by one.
"""

from typing import Final

import numpy as np

from academy.matching.changes import BoardChanges
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.ended import ended, looks
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
    merged,
    new_tally,
)
from academy.matching.compiled.near_misses import mended
from academy.matching.compiled.perspectives import sifted
from academy.matching.compiled.sieve import (
    ANCHOR_COLUMN,
    ANCHOR_ROW,
    OFF_BOARD,
    OWNER,
    SYMMETRY,
    WHOLE_GRAPH,
    Anchors,
    Flags,
    Shorts,
    Units,
    View,
    nearly_sifted,
    no_anchors,
    no_units,
    with_kind,
    words_around,
)
from academy.matching.compiled.table import (
    BANK,
    NO_BITS,
    ONE_BIT,
    WORD,
    Numbers,
    States,
    U,
    Words,
    framed,
    signed,
    stride_of,
)
from academy.matching.compiled.telling import in_order, listed_words, told
from academy.matching.compiled.touched import far_failure, near_failure, touched_by
from academy.matching.compiled.vectors import LANES, lowest_bit
from academy.matching.ground import BoardTables
from academy.matching.matches import NO_LIMIT, Found
from academy.matching.order import RankOrder
from academy.matching.rows import FAR_COUNT, STAGE, Rows
from academy.matching.successors import Differences

_ANY_STATE: Final = 63

_WORDS_AT_ONCE: Final = 64


@compiled
def find_successors(
    states: States,
    ground: BoardTables,
    rows: Rows,
    changes: BoardChanges,
    codes: States,
    order: RankOrder,
    wanted: Flags,
    most: int,
    each: int,
) -> tuple[Found, Differences]:
    """Return the base's matches, and of each move those gone and new, as `kernels.FindSuccessors` says."""
    moves = len(changes.starts) - 1
    touched = touched_by(ground, rows, changes)
    units = nearly_sifted(states, touched.after, ground, rows)
    chosen = in_order(units, order, wanted)
    base = told(units, units.bits, chosen, rows.anchors, order, U(most), U(each))
    looked = looks(ground, rows, touched, codes, order, base)
    gone_starts, gone = ended(looked, moves, changes, touched)
    around_old = mended(ground, rows, touched, codes, states, units, chosen, order, changes, most, each)
    arrived = _arrived(states, ground, rows, changes)
    around_new = _placed(rows, arrived, moves, order, wanted, most, each)
    new = merged(around_old, around_new, most, each)
    unlike = _unlike(ground, rows, changes, touched.turned, codes, states, order, wanted, most, each)
    if len(unlike[1]) > 0:
        new = merged(new, unlike, most, each)
    new_starts, records, totals = new
    places, images = _columns(records)
    return base, (gone_starts, gone, new_starts, places, images, totals)


@compiled
def _arrived(states: States, ground: BoardTables, rows: Rows, changes: BoardChanges) -> Units:
    """Sieve all rows around the cells that moves make anchors; candidates belong to the moves."""
    view = View(0, states, framed(states, ground, OFF_BOARD))
    symmetries = ground.images.shape[1]
    units = no_units()
    for kind in range(WHOLE_GRAPH):
        accepted = ground.anchor_states[kind]
        cells = np.empty(len(changes.starts), dtype=np.int32)
        own = np.empty(len(changes.starts), dtype=np.uint8)
        moves = np.empty(len(changes.starts), dtype=np.int32)
        count = 0
        if len(rows.of_kind[kind]) > 0:
            for move in range(len(changes.starts) - 1):
                first = changes.starts[move]
                if changes.starts[move + 1] - first == 1:
                    cell, state = changes.cells[first], changes.states[first]
                    if state & accepted != 0 and states[cell] & accepted == 0:
                        cells[count], own[count], moves[count] = cell, state, move
                        count += 1
        if count > 0:
            before = len(units.candidates)
            words = words_around(view, cells[:count], own[:count], ground, rows)
            anchors = Anchors(view, cells[:count], words, False)
            units = with_kind(units, anchors, no_anchors(view), view, None, ground, rows, kind)
            stride = signed(stride_of(count, symmetries))
            for symmetry in range(symmetries):
                first_candidate = before + symmetry * stride
                units.candidates[first_candidate : first_candidate + count, OWNER] = moves[:count]
    return units


@compiled
def _placed(
    rows: Rows, arrivals: Units, moves: int, order: RankOrder, wanted: Flags, most: int, each: int
) -> MoveLists:
    """Return the matches around the anchors that moves bring, move by move."""
    chosen = in_order(arrivals, order, wanted)
    words, places_of_words, _, _ = listed_words(arrivals, arrivals.bits, chosen, U(NO_LIMIT), U(NO_LIMIT))
    tally = new_tally(moves)
    found = np.empty((0, MATCH_COLUMNS), dtype=np.int32)
    first, end = 0, 0
    while words[first] != NO_BITS:
        last = first
        while last < first + _WORDS_AT_ONCE and words[last] != NO_BITS:
            last += 1
        room = end + (last - first) * WORD
        if room > len(found):
            found = larger_records(found, end, 2 * room)
        end = _placed_of(
            found,
            end,
            words[first:last],
            places_of_words[first:last],
            rows,
            arrivals,
            order,
            tally,
            most,
            each,
        )
        first = last
    return by_move(found[:end], tally)


@compiled
def _placed_of(
    found: Numbers,
    end: int,
    words: Words,
    places_of_words: Numbers,
    rows: Rows,
    arrivals: Units,
    order: RankOrder,
    tally: Numbers,
    most: int,
    each: int,
) -> int:
    candidates, anchors = arrivals.candidates, rows.anchors
    end = U(end)
    for number in range(U(len(words))):
        word, at = words[number], U(places_of_words[number])
        unit = at // U(LANES)
        row = U(arrivals.rows[unit])
        place, first = order.places[row], U(arrivals.banks[unit]) * U(BANK) + (at % U(LANES)) * U(WORD)
        while word != NO_BITS:
            candidate = first + lowest_bit(word)
            word &= word - ONE_BIT
            move, symmetry = U(candidates[candidate, U(OWNER)]), U(candidates[candidate, U(SYMMETRY)])
            if admitted(tally, move, place, most, each):
                found[end, U(MOVE)], found[end, U(PLACE)], found[end, U(IMAGE)] = move, place, symmetry
                found[end, U(ROW)] = candidates[candidate, U(ANCHOR_ROW)] - anchors[row, symmetry, U(0)]
                found[end, U(COLUMN)] = candidates[candidate, U(ANCHOR_COLUMN)] - anchors[row, symmetry, U(1)]
                end += U(1)
    return signed(end)


@compiled
def _unlike(
    ground: BoardTables,
    rows: Rows,
    changes: BoardChanges,
    turned: Numbers,
    codes: States,
    states: States,
    order: RankOrder,
    wanted: Flags,
    most: int,
    each: int,
) -> MoveLists:
    """Return the matches that moves of several changes make, move by move: those that failed before."""
    tally = new_tally(len(changes.starts) - 1)
    found = np.empty((0, MATCH_COLUMNS), dtype=np.int32)
    end = 0
    for move in range(len(changes.starts) - 1):
        first, last = changes.starts[move], changes.starts[move + 1]
        if last - first > 1:
            now = states.copy()
            before = np.full(len(states), np.uint8(_ANY_STATE), dtype=np.uint8)
            for number in range(first, last):
                now[changes.cells[number]] = changes.states[number]
                before[changes.cells[number]] = states[changes.cells[number]]
            units = sifted(now.reshape(1, -1), ground, rows)
            chosen = in_order(units, order, wanted)
            all_now = told(units, units.bits, chosen, rows.anchors, order, U(NO_LIMIT), U(NO_LIMIT))
            room = end + min(most, len(all_now[0]))
            if room > len(found):
                found = larger_records(found, end, 2 * room)
            end = _unlike_of(
                found, end, move, all_now, before, turned, ground, rows, codes, order, tally, most, each
            )
    return by_move(found[:end], tally)


@compiled
def _unlike_of(
    found: Numbers,
    end: int,
    move: int,
    matches: Found,
    before: States,
    turned: Numbers,
    ground: BoardTables,
    rows: Rows,
    codes: States,
    order: RankOrder,
    tally: Numbers,
    most: int,
    each: int,
) -> int:
    places, symmetries, image_rows, image_columns, _, _ = matches
    starts, stages, tests, anchors, far = rows.starts, rows.stages, rows.tests, rows.anchors, rows.far
    # Only what changes can fail.
    board = framed(before, ground, _ANY_STATE)
    margin, width = ground.margin, ground.columns + 2 * ground.margin
    end = U(end)
    for match in range(U(len(places))):
        row, symmetry = U(order.rows[U(places[match])]), U(symmetries[match])
        start, stop = U(starts[row]), U(starts[row]) + U(STAGE) * U(stages[row])
        anchor_row = signed(image_rows[match]) + anchors[row, symmetry, U(0)]
        anchor_column = signed(image_columns[match]) + anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        failing, _ = near_failure(board, turned, tests, codes, start, stop, symmetry, anchor)
        if failing < 0 and far[row, U(FAR_COUNT)] > 0:
            failing, _ = far_failure(before, ground, rows, row, symmetry, anchor_row, anchor_column)
        if failing >= 0 and admitted(tally, U(move), places[match], most, each):
            found[end, U(MOVE)], found[end, U(PLACE)], found[end, U(IMAGE)] = move, places[match], symmetry
            found[end, U(ROW)], found[end, U(COLUMN)] = image_rows[match], image_columns[match]
            end += U(1)
    return signed(end)


@compiled
def _columns(records: Numbers) -> tuple[Numbers, Shorts]:
    """Return the places of matches, and their images."""
    places = np.empty(len(records), dtype=np.int32)
    images = np.empty((3, len(records)), dtype=np.int16)
    for match in range(U(len(records))):
        places[match] = records[match, U(PLACE)]
        images[U(0), match] = records[match, U(IMAGE)]
        images[U(1), match] = records[match, U(ROW)]
        images[U(2), match] = records[match, U(COLUMN)]
    return places, images
