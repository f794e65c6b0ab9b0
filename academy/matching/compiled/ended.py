"""The matches that moves end."""

from typing import Final

import numpy as np

from academy.matching.changes import BoardChanges
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.move_lists import larger_records
from academy.matching.compiled.sieve import far_cell
from academy.matching.compiled.table import CODES, Numbers, States, U, signed
from academy.matching.compiled.touched import TouchedTests
from academy.matching.ground import BoardTables
from academy.matching.matches import Found
from academy.matching.order import RankOrder
from academy.matching.rows import FAR_COUNT, FAR_START, STAGE, Rows

_MATCHES_AT_ONCE: Final = 1024


@compiled
def looks(
    ground: BoardTables, rows: Rows, touched: TouchedTests, codes: States, order: RankOrder, base: Found
) -> Numbers:
    """Return where matches look at cells that some move spoils: match, cell and the code wanted there."""
    matches = len(base[0])
    found = np.empty((0, 3), dtype=np.int32)
    end = 0
    # An array that an inner loop may replace makes it slow: room is made for many matches at once.
    for first in range(0, matches, _MATCHES_AT_ONCE):
        last = min(first + _MATCHES_AT_ONCE, matches)
        most = 0
        for match in range(first, last):
            row = order.rows[base[0][match]]
            most += STAGE * rows.stages[row] + rows.far[row, FAR_COUNT]
        if end + most > len(found):
            found = larger_records(found, end, 2 * (end + most))
        end = _looks_of(found, end, first, last, ground, rows, touched, codes, order, base)
    return found[:end]


@compiled
def _looks_of(
    found: Numbers,
    end: int,
    first_match: int,
    last_match: int,
    ground: BoardTables,
    rows: Rows,
    touched: TouchedTests,
    codes: States,
    order: RankOrder,
    base: Found,
) -> int:
    places, symmetries, image_rows, image_columns, _, _ = base
    first, got, cells, near = touched.first, touched.got, touched.cells, touched.near
    far, far_codes = rows.far, rows.far_codes
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    turned = touched.turned
    margin, width, always = ground.margin, ground.columns + 2 * ground.margin, U(len(turned) * CODES)
    end = U(end)
    for match in range(U(first_match), U(last_match)):
        row, symmetry = U(order.rows[U(places[match])]), U(symmetries[match])
        anchor_row = signed(image_rows[match]) + anchors[row, symmetry, U(0)]
        anchor_column = signed(image_columns[match]) + anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        start = U(starts[row])
        for number in range(start, start + U(STAGE) * U(stages[row]) if near[anchor] else start):
            test = U(tests[number])
            if test == always:
                break
            offset = test // U(CODES)
            place = anchor + U(signed(turned[offset, symmetry]))
            code = codes[test - offset * U(CODES)]
            found[end, U(0)], found[end, U(1)], found[end, U(2)] = match, cells[place], code
            end += U((got[place] & ~code) != 0)
        for number in range(far[row, U(FAR_START)], far[row, U(FAR_START)] + far[row, U(FAR_COUNT)]):
            cell = far_cell(ground, rows, number, symmetry, anchor_row, anchor_column)
            found[end, U(0)], found[end, U(1)], found[end, U(2)] = match, cell, far_codes[number]
            end += U(cell >= 0 and first[U(cell)] >= 0)
    return signed(end)


@compiled
def ended(
    looks: Numbers, moves: int, changes: BoardChanges, touched: TouchedTests
) -> tuple[Numbers, Numbers]:
    """Return where the matches that each move ends start, and these matches."""
    first, following, move_of, states = touched.first, touched.following, touched.moves, changes.states
    starts = np.zeros(moves + 1, dtype=np.int32)
    last_match = np.full(moves, -1, dtype=np.int32)
    for look in range(U(len(looks))):
        match, cell, code = looks[look, U(0)], U(looks[look, U(1)]), looks[look, U(2)]
        change = first[cell]
        while change >= 0:
            move = U(move_of[U(change)])
            if states[U(change)] & code == 0 and last_match[move] != match:
                last_match[move] = match
                starts[move + U(1)] += 1
            change = following[U(change)]
    for move in range(moves):
        starts[move + 1] += starts[move]
    ends = starts[:moves].copy()
    last_match[:] = -1
    found = np.empty(starts[moves], dtype=np.int32)
    for look in range(U(len(looks))):
        match, cell, code = looks[look, U(0)], U(looks[look, U(1)]), looks[look, U(2)]
        change = first[cell]
        while change >= 0:
            move = U(move_of[U(change)])
            if states[U(change)] & code == 0 and last_match[move] != match:
                last_match[move] = match
                found[U(ends[move])] = match
                ends[move] += 1
            change = following[U(change)]
    return starts, found
