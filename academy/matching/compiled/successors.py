"""Matches of the positions after single moves, told as differences from the position before.

Where a move changes one cell, its new matches are of two kinds. Around an anchor that was there before,
exactly one test failed, and the new state mends it: such near misses of all moves are found in one sieve
of the base position. Around a cell that the move makes an anchor, all else must hold: the moves' cells are
sieved as anchors of their own. Positions after moves that change more cells are sieved one by one.
"""

from typing import Final

import numpy as np

from academy.matching.changes import Changes
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.ended import ended, looks
from academy.matching.compiled.near_misses import mended, misses
from academy.matching.compiled.sieve import (
    OFF_BOARD,
    OWNER,
    WHOLE_GRAPH,
    Anchors,
    Flags,
    Shorts,
    Units,
    View,
    nearly_sifted,
    no_units,
    sifted,
    with_kind,
)
from academy.matching.compiled.table import Numbers, States, U, framed, signed
from academy.matching.compiled.telling import NO_LIMIT, Found, in_order, told
from academy.matching.compiled.touched import (
    COLUMN,
    IMAGE,
    MATCH_COLUMNS,
    PLACE,
    ROW,
    Records,
    far_failure,
    larger_records,
    near_failure,
    touched_by,
)
from academy.matching.ground import Ground
from academy.matching.order import Order
from academy.matching.rows import FAR_COUNT, STAGE, Rows

_ANY_STATE: Final = 63

Differences = tuple[Numbers, Numbers, Numbers, Numbers, Shorts]


@compiled
def find_successors(
    states: States,
    ground: Ground,
    rows: Rows,
    changes: Changes,
    codes: States,
    order: Order,
    wanted: Flags,
    most: int,
) -> tuple[Found, Differences]:
    """Return the base's matches (see `telling.find`), and of each move those that are gone and new.

    Of move i are gone the matches `gone[gone_starts[i] : gone_starts[i + 1]]` of the base, and new are places
    and (symmetry, row, column), likewise. `codes` are the codes that tests count.
    """
    moves = len(changes.starts) - 1
    touched = touched_by(ground, rows, changes)
    units = nearly_sifted(states, touched.after, ground, rows)
    chosen = in_order(units, order, wanted)
    base = told(units, units.bits, chosen, rows.anchors, order, U(most), U(NO_LIMIT))
    looked = looks(ground, rows, touched, codes, order, base)
    gone_starts, gone = ended(looked, moves, changes, touched)
    missed = misses(ground, rows, touched, codes, states, units, chosen, order)
    arrived = _arrived(states, ground, rows, changes)
    new_starts, new_places, new_images = _merged(
        mended(missed, moves, changes, touched, most),
        _placed(rows, arrived, moves, order, wanted, most),
        _unlike(ground, rows, changes, touched.turned, codes, states, order, wanted, most),
        moves,
        most,
    )
    return base, (gone_starts, gone, new_starts, new_places, new_images)


@compiled
def _arrived(states: States, ground: Ground, rows: Rows, changes: Changes) -> Units:
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
            anchors = Anchors(cells[:count], own[:count])
            units = with_kind(units, view, view, None, anchors, ground, rows, kind)
            for symmetry in range(symmetries):
                for anchor in range(count):
                    units.candidates[before + symmetry * count + anchor, OWNER] = moves[anchor]
    return units


@compiled
def _placed(rows: Rows, arrivals: Units, moves: int, order: Order, wanted: Flags, most: int) -> Records:
    """Return the matches around the anchors that moves bring, move by move."""
    chosen = in_order(arrivals, order, wanted)
    places, symmetries, image_rows, image_columns, move_of, _ = told(
        arrivals, arrivals.bits, chosen, rows.anchors, order, U(NO_LIMIT), U(NO_LIMIT)
    )
    starts = np.zeros(moves + 1, dtype=np.int32)
    for match in range(U(len(places))):
        move = U(move_of[match])
        starts[move + U(1)] += starts[move + U(1)] < most
    for move in range(moves):
        starts[move + 1] += starts[move]
    ends = starts[:moves].copy()
    found = np.empty((starts[moves], MATCH_COLUMNS), dtype=np.int32)
    for match in range(U(len(places))):
        move = U(move_of[match])
        end = U(ends[move])
        if ends[move] < starts[move + U(1)]:
            found[end, U(PLACE)], found[end, U(IMAGE)] = places[match], symmetries[match]
            found[end, U(ROW)], found[end, U(COLUMN)] = image_rows[match], image_columns[match]
            ends[move] += 1
    return starts, found


@compiled
def _unlike(
    ground: Ground,
    rows: Rows,
    changes: Changes,
    turned: Numbers,
    codes: States,
    states: States,
    order: Order,
    wanted: Flags,
    most: int,
) -> Records:
    """Return the matches that moves of several changes make, move by move: those that failed before."""
    starts = np.zeros(len(changes.starts), dtype=np.int32)
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
            if end + len(all_now[0]) > len(found):
                found = larger_records(found, end, 2 * (end + len(all_now[0])))
            end = _unlike_of(found, end, all_now, before, turned, ground, rows, codes, order, most)
        starts[move + 1] = end
    return starts, found[:end]


@compiled
def _unlike_of(
    found: Numbers,
    end: int,
    matches: Found,
    before: States,
    turned: Numbers,
    ground: Ground,
    rows: Rows,
    codes: States,
    order: Order,
    most: int,
) -> int:
    places, symmetries, image_rows, image_columns, _, _ = matches
    starts, stages, tests, anchors, far = rows.starts, rows.stages, rows.tests, rows.anchors, rows.far
    # Only what changes can fail.
    board = framed(before, ground, _ANY_STATE)
    margin, width = ground.margin, ground.columns + 2 * ground.margin
    end, last = U(end), U(end) + U(most)
    for match in range(U(len(places))):
        if end == last:
            break
        row, symmetry = U(order.rows[U(places[match])]), U(symmetries[match])
        start, stop = U(starts[row]), U(starts[row]) + U(STAGE) * U(stages[row])
        anchor_row = signed(image_rows[match]) + anchors[row, symmetry, U(0)]
        anchor_column = signed(image_columns[match]) + anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        failing, _ = near_failure(board, turned, tests, codes, start, stop, symmetry, anchor)
        if failing < 0 and far[row, U(FAR_COUNT)] > 0:
            failing, _ = far_failure(before, ground, rows, row, symmetry, anchor_row, anchor_column)
        found[end, U(PLACE)], found[end, U(IMAGE)] = places[match], symmetry
        found[end, U(ROW)], found[end, U(COLUMN)] = image_rows[match], image_columns[match]
        end += U(failing >= 0)
    return signed(end)


@compiled
def _merged(
    mended: Records, placed: Records, unlike: Records, moves: int, most: int
) -> tuple[Numbers, Numbers, Shorts]:
    """Return where each move's new matches start, their places, and images; at most so many a move."""
    mended_starts, mended_records = mended
    placed_starts, placed_records = placed
    unlike_starts, unlike_records = unlike
    size = len(mended_records) + len(placed_records) + len(unlike_records)
    starts = np.zeros(moves + 1, dtype=np.int32)
    places = np.empty(size, dtype=np.int32)
    images = np.empty((size, 3), dtype=np.int16)
    end = U(0)
    for move in range(moves):
        left, left_end = U(mended_starts[move]), U(mended_starts[move + 1])
        right, right_end = U(placed_starts[move]), U(placed_starts[move + 1])
        last = min(end + (left_end - left) + (right_end - right), end + U(most))
        while end < last:
            if right == right_end or (
                left < left_end and mended_records[left, U(PLACE)] <= placed_records[right, U(PLACE)]
            ):
                places[end] = mended_records[left, U(PLACE)]
                for column in range(U(3)):
                    images[end, column] = mended_records[left, column + U(1)]
                left += U(1)
            else:
                places[end] = placed_records[right, U(PLACE)]
                for column in range(U(3)):
                    images[end, column] = placed_records[right, column + U(1)]
                right += U(1)
            end += U(1)
        for record in range(U(unlike_starts[move]), U(unlike_starts[move + 1])):
            places[end] = unlike_records[record, U(PLACE)]
            for column in range(U(3)):
                images[end, column] = unlike_records[record, column + U(1)]
            end += U(1)
        starts[move + 1] = end
    return starts, places[:end], images[:end]
