"""Placements that fail one test only, one that a move mends."""

from typing import Final

import numpy as np

from academy.matching.changes import Changes
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import (
    ALL_BITS,
    ANCHOR_COLUMN,
    ANCHOR_ROW,
    FIRST,
    KINDS,
    NEXT,
    NO_BITS,
    OFF_BOARD,
    ONE_BIT,
    SYMMETRY,
    WHOLE_GRAPH,
    Flags,
    Shorts,
    Units,
    bits_in,
    drop_repeated,
    empty_table,
    far_cell,
    larger_units,
    no_units,
    with_candidates,
)
from academy.matching.compiled.table import (
    LANES,
    QUAD,
    WORD,
    Numbers,
    States,
    U,
    Words,
    anchors_on,
    candidate_words,
    framed,
    framed_places,
    quads_of,
    signed,
    tests_of_quad,
)
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
    near_failure,
)
from academy.matching.compiled.vectors import keep_nearly, lowest_bit, meet_nearly
from academy.matching.ground import Ground
from academy.matching.rows import FAR_COUNT, FAR_START, IMAGES, STAGE, Rows

_NO_STATE: Final = 0
_DENSE_STAGES: Final = 3


@compiled
def nearly_sifted(states: States, after: States, ground: Ground, rows: Rows) -> tuple[Units, Words]:
    """Sieve all rows; return, beside the units, the bits of candidates that fail one test only."""
    symmetries = ground.images.shape[1]
    board = framed(states, ground, OFF_BOARD)
    board_after = framed(after, ground, _NO_STATE)
    table, mended = empty_table(ground, ALL_BITS), empty_table(ground, NO_BITS)
    unit_rows, bits, links, of_row, candidates = no_units(rows)
    nearly = np.empty(0, dtype=np.uint64)
    end = 0
    for kind in range(KINDS):
        members = rows.of_kind[kind]
        if len(members) == 0:
            continue
        cells = anchors_on(states, ground.anchor_states[kind], kind == WHOLE_GRAPH)
        if len(cells) == 0:
            continue
        places = framed_places(cells, ground)
        words = candidate_words(board, states[cells], places, rows.reach, ground)
        words_after = candidate_words(board_after, after[cells], places, rows.reach, ground)
        first = len(candidates)
        candidates = with_candidates(candidates, cells, ground.columns, symmetries)
        quads = quads_of(len(cells) * symmetries)
        for quad in range(quads - 1, -1, -1):
            tests_of_quad(words, quads, quad, rows.reach, table)
            tests_of_quad(words_after, quads, quad, rows.reach, mended)
            for word in range(len(table) - LANES):
                mended[word] &= ~table[word]
            if end + len(members) > len(unit_rows):
                capacity = 2 * (end + len(members))
                nearly = larger_units(unit_rows, nearly, links, end, capacity)[1]
                unit_rows, bits, links = larger_units(unit_rows, bits, links, end, capacity)
            new_end = _nearly_met(table, mended, members, rows, unit_rows, bits, nearly, end)
            for unit in range(end, new_end):
                row = unit_rows[unit]
                if rows.far[row, IMAGES] < symmetries:
                    drop_repeated(bits, U(unit), U(quad), U(len(cells)), rows.distinct[row])
                    drop_repeated(nearly, U(unit), U(quad), U(len(cells)), rows.distinct[row])
                if rows.far[row, FAR_COUNT] > 0:
                    _sort_far(
                        bits, nearly, unit, first + quad * QUAD, candidates, states, after, ground, rows, row
                    )
                links[unit, FIRST] = first + quad * QUAD
                links[unit, NEXT] = of_row[row]
                of_row[row] = unit
            end = new_end
    return Units(unit_rows[:end], bits, links, of_row, candidates), nearly


@compiled
def _nearly_met(
    table: Words,
    mended: Words,
    members: Numbers,
    rows: Rows,
    unit_rows: Numbers,
    bits: Words,
    nearly: Words,
    first: int,
) -> int:
    """As `sieve.met_rows`, for candidates that hold or fail one test only."""
    starts, stages, tests = rows.starts, rows.stages, rows.tests
    end = U(first)
    for place in range(U(len(members))):
        row = U(members[place])
        unit_rows[end] = row
        end += meet_nearly(table, mended, tests, U(starts[row]), bits, nearly, end)
    for stage in range(U(1), U(_DENSE_STAGES)):
        kept = U(first)
        for unit in range(U(first), end):
            row = U(unit_rows[unit])
            unit_rows[kept] = row
            start = U(starts[row]) + U(STAGE) * stage if stage < U(stages[row]) else U(0)
            kept += keep_nearly(table, mended, tests, start, bits, nearly, kept, unit)
        end = kept
    kept = U(first)
    for unit in range(U(first), end):
        row = U(unit_rows[unit])
        unit_rows[kept] = row
        holds = keep_nearly(table, mended, tests, U(0), bits, nearly, kept, unit)
        for stage in range(U(_DENSE_STAGES), U(stages[row])):
            if holds == 0:
                break
            start = U(starts[row]) + U(STAGE) * stage
            holds = keep_nearly(table, mended, tests, start, bits, nearly, kept, kept)
        kept += holds
    return signed(kept)


@compiled
def _sort_far(
    bits: Words,
    nearly: Words,
    unit: int,
    first: int,
    candidates: Shorts,
    states: States,
    after: States,
    ground: Ground,
    rows: Rows,
    row: int,
) -> None:
    """Let the far tests of a unit's candidates decide which hold and which fail one test only."""
    for lane in range(LANES):
        at = LANES * unit + lane
        held, failing = bits[at], nearly[at]
        word = held | failing
        while word != NO_BITS:
            bit = signed(lowest_bit(word))
            mask = ONE_BIT << U(bit)
            word &= word - ONE_BIT
            candidate = candidates[first + lane * WORD + bit]
            failed, mendable = 0, True
            for far in range(rows.far[row, FAR_START], rows.far[row, FAR_START] + rows.far[row, FAR_COUNT]):
                cell = far_cell(
                    ground,
                    rows,
                    far,
                    candidate[SYMMETRY],
                    candidate[ANCHOR_ROW],
                    candidate[ANCHOR_COLUMN],
                )
                code = rows.far_codes[far]
                if (states[cell] if cell >= 0 else np.uint8(OFF_BOARD)) & code == 0:
                    failed += 1
                    mendable = mendable and cell >= 0 and after[cell] & code != 0
            if failed > 0:
                bits[at] &= ~mask
                if failed == 1 and mendable and held & mask != NO_BITS:
                    nearly[at] |= mask
                else:
                    nearly[at] &= ~mask


@compiled
def misses(
    ground: Ground,
    rows: Rows,
    touched: Touched,
    codes: States,
    states: States,
    units: Units,
    nearly: Words,
    order: Numbers,
    wanted: Flags,
) -> Numbers:
    """Return the near misses: place, symmetry, row, column, and the cell and the code where they fail."""
    of_row, links, candidates, cells = units.of_row, units.links, units.candidates, touched.cells
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    board, turned = framed(states, ground, OFF_BOARD), touched.turned
    margin, width = ground.margin, ground.columns + 2 * ground.margin
    found = np.empty((bits_in(nearly, U(len(units.rows))), 6), dtype=np.int32)
    end = U(0)
    for place in range(len(order)):
        row = U(order[place])
        unit = of_row[row]
        if unit < 0 or (len(wanted) > 0 and not wanted[place]):
            continue
        start, stop = U(starts[row]), U(starts[row]) + U(STAGE) * U(stages[row])
        while unit >= 0:
            at = U(unit)
            for lane in range(U(LANES)):
                word = nearly[U(LANES) * at + lane]
                while word != NO_BITS:
                    candidate = U(links[at, U(FIRST)]) + lane * U(WORD) + lowest_bit(word)
                    word &= word - ONE_BIT
                    symmetry = U(candidates[candidate, U(SYMMETRY)])
                    anchor_row = signed(candidates[candidate, U(ANCHOR_ROW)])
                    anchor_column = signed(candidates[candidate, U(ANCHOR_COLUMN)])
                    anchor = U((anchor_row + margin) * width + anchor_column + margin)
                    failing, code = near_failure(board, turned, tests, codes, start, stop, symmetry, anchor)
                    if failing >= 0:
                        cell = signed(cells[U(failing)])
                    else:
                        cell, code = far_failure(
                            states, ground, rows, row, symmetry, anchor_row, anchor_column
                        )
                    found[end, U(PLACE)], found[end, U(IMAGE)] = place, symmetry
                    found[end, U(ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                    found[end, U(COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
                    found[end, U(CELL)], found[end, U(CODE)] = cell, code
                    end += U(1)
            unit = links[at, U(NEXT)]
    return found[:end]


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
