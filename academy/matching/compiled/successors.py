"""Matches of the positions after single moves, told as differences from the position before.

Where a move changes one cell, its new matches are of two kinds. Around an anchor that was there before,
exactly one test failed, and the new state mends it: such near misses of all moves are found in one sieve
of the base position. Around a cell that the move makes an anchor, all else must hold: the moves' cells are
sieved as anchors of their own. Positions after moves that change more cells are sieved one by one.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    Found,
    Shorts,
    Units,
    bits_in,
    drop_repeated,
    empty_table,
    far_cell,
    larger_units,
    no_units,
    sifted,
    told,
    with_candidates,
    with_kind,
)
from academy.matching.compiled.table import (
    CODES,
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
    tests_of_quad,
)
from academy.matching.compiled.vectors import keep_nearly, lowest_bit, meet_nearly
from academy.matching.ground import Ground
from academy.matching.rows import FAR_COUNT, FAR_START, IMAGES, STAGE, Rows

_NO_STATE: Final = 0
ANY_STATE: Final = 63
_DENSE_STAGES: Final = 3
_MATCHES_AT_ONCE: Final = 1024
# Columns of a record of a match; a near miss has also the cell and the code where it fails.
_PLACE, _SYMMETRY, _ROW, _COLUMN, _CELL, _CODE = range(6)

# Where the records of each move start, and all of them, move by move.
Records = tuple[Numbers, Numbers]
Differences = tuple[Numbers, Numbers, Numbers, Numbers, Shorts]


class Touched(NamedTuple):
    """The cells that moves change. Those of a framed board are called places.

    The changes of a cell are a chain: `first[cell]`, then `following[change]`; `moves` are theirs.
    `after[cell]` are all states it may get by a move that changes nothing else. `cells` are the cells of
    places, -1 beyond the edge, and `near` tells the anchors' places around which tables see a change.
    `turned[offset, s]` is how far an offset's image lies in a framed board.
    """

    first: Numbers
    following: Numbers
    moves: Numbers
    after: States
    cells: Numbers
    near: Flags
    turned: Numbers


@compiled
def find_successors(
    states: States,
    ground: Ground,
    rows: Rows,
    changes: Changes,
    codes: States,
    order: Numbers,
    wanted: Flags,
    most: int,
) -> tuple[Found, Differences]:
    """Return the base's matches (see `sieve.find`), and of each move those that are gone and new.

    Of move i are gone the matches `gone[gone_starts[i] : gone_starts[i + 1]]` of the base, and new are places
    and (symmetry, row, column), likewise. `codes` are the codes that tests count.
    """
    moves = len(changes.starts) - 1
    touched = _touched(ground, rows, changes)
    units, nearly = _nearly_sifted(states, touched.after, ground, rows)
    size = min(U(most), bits_in(units.bits, U(len(units.rows))))
    base = told(units.of_row, units.bits, units.links, units.candidates, rows.anchors, order, wanted, size)
    gone_starts, gone = _ended(_looks(ground, rows, touched, codes, order, base), moves, changes, touched)
    misses = _misses(ground, rows, touched, codes, states, units, nearly, order, wanted)
    mended = _mended(misses, moves, changes, touched, most)
    placed = _placed(ground, rows, _arrived(states, ground, rows, changes), moves, order, wanted, most)
    unlike = _unlike(ground, rows, changes, touched, codes, states, order, wanted, most)
    new_starts, new_places, new_images = _merged(mended, placed, unlike, moves, most)
    return base, (gone_starts, gone, new_starts, new_places, new_images)


@compiled
def _touched(ground: Ground, rows: Rows, changes: Changes) -> Touched:
    size, width = ground.rows * ground.columns, ground.columns + 2 * ground.margin
    first = np.full(size, -1, dtype=np.int32)
    following = np.full(len(changes.cells), -1, dtype=np.int32)
    move_of = np.empty(len(changes.cells), dtype=np.int32)
    after = np.zeros(size, dtype=np.uint8)
    cells = np.full((ground.rows + 2 * ground.margin) * width, -1, dtype=np.int32)
    for row in range(ground.rows):
        for column in range(ground.columns):
            place = (row + ground.margin) * width + column + ground.margin
            cells[place] = row * ground.columns + column
    near = np.zeros(len(cells), dtype=np.bool_)
    for move in range(len(changes.starts) - 1):
        for change in range(changes.starts[move], changes.starts[move + 1]):
            cell = changes.cells[change]
            move_of[change] = move
            following[change] = first[cell]
            first[cell] = change
            if changes.starts[move + 1] - changes.starts[move] == 1:
                after[cell] |= changes.states[change]
            if ground.margin > 0:
                row = cell // ground.columns
                place = (row + ground.margin) * width + cell - row * ground.columns + ground.margin
                for offset in range(rows.reach):
                    near[place + ground.deltas[offset]] = True
    if ground.margin == 0:
        # On a graph all nodes are seen from the one anchor.
        near[0] = True
    turned = np.empty(ground.images.shape, dtype=np.int32)
    for offset in range(turned.shape[0]):
        for symmetry in range(turned.shape[1]):
            turned[offset, symmetry] = ground.deltas[ground.images[offset, symmetry]]
    return Touched(first, following, move_of, after, cells, near, turned)


@compiled
def _nearly_sifted(states: States, after: States, ground: Ground, rows: Rows) -> tuple[Units, Words]:
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
    return np.intp(kept)


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
            bit = np.intp(lowest_bit(word))
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
def _arrived(states: States, ground: Ground, rows: Rows, changes: Changes) -> Units:
    """Sieve all rows around the cells that moves make anchors; a candidate's anchor row is the move's number."""
    board = framed(states, ground, OFF_BOARD)
    units = no_units(rows)
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
            units = with_kind(units, board, states, cells[:count], own[:count], ground, rows, kind)
            # From here on a candidate names its move and its cell.
            for number in range(before, len(units.candidates)):
                anchor = (number - before) % count
                units.candidates[number, ANCHOR_ROW] = moves[anchor]
                units.candidates[number, ANCHOR_COLUMN] = cells[anchor]
    return units


@compiled
def _looks(
    ground: Ground, rows: Rows, touched: Touched, codes: States, order: Numbers, base: Found
) -> Numbers:
    """Return where matches look at cells that moves change: match, cell and the code that is wanted there."""
    matches = len(base[0])
    found = np.empty((0, 3), dtype=np.int32)
    end = 0
    # An array that an inner loop may replace makes it slow: room is made for many matches at once.
    for first in range(0, matches, _MATCHES_AT_ONCE):
        last = min(first + _MATCHES_AT_ONCE, matches)
        most = 0
        for match in range(first, last):
            row = order[base[0][match]]
            most += STAGE * rows.stages[row] + rows.far[row, FAR_COUNT]
        if end + most > len(found):
            found = _larger(found, end, 2 * (end + most))
        end = _looks_of(found, end, first, last, ground, rows, touched, codes, order, base)
    return found[:end]


@compiled
def _larger(records: Numbers, used: int, capacity: int) -> Numbers:
    larger = np.empty((capacity, records.shape[1]), dtype=np.int32)
    larger[:used] = records[:used]
    return larger


@compiled
def _looks_of(
    found: Numbers,
    end: int,
    first_match: int,
    last_match: int,
    ground: Ground,
    rows: Rows,
    touched: Touched,
    codes: States,
    order: Numbers,
    base: Found,
) -> int:
    places, symmetries, image_rows, image_columns, _ = base
    first, cells, near, far, far_codes = touched.first, touched.cells, touched.near, rows.far, rows.far_codes
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    turned = touched.turned
    margin, width, always = ground.margin, ground.columns + 2 * ground.margin, U(len(turned) * CODES)
    end = U(end)
    for match in range(U(first_match), U(last_match)):
        row, symmetry = U(order[U(places[match])]), U(symmetries[match])
        anchor_row = np.intp(image_rows[match]) + anchors[row, symmetry, U(0)]
        anchor_column = np.intp(image_columns[match]) + anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        start = U(starts[row])
        for number in range(start, start + U(STAGE) * U(stages[row]) if near[anchor] else start):
            test = U(tests[number])
            if test == always:
                break
            offset = test // U(CODES)
            cell = cells[anchor + U(np.intp(turned[offset, symmetry]))]
            found[end, U(0)], found[end, U(1)] = match, cell
            found[end, U(2)] = codes[test - offset * U(CODES)]
            end += U(cell >= 0 and first[U(cell)] >= 0)
        for number in range(far[row, U(FAR_START)], far[row, U(FAR_START)] + far[row, U(FAR_COUNT)]):
            cell = far_cell(ground, rows, number, symmetry, anchor_row, anchor_column)
            found[end, U(0)], found[end, U(1)], found[end, U(2)] = match, cell, far_codes[number]
            end += U(cell >= 0 and first[U(cell)] >= 0)
    return np.intp(end)


@compiled
def _ended(looks: Numbers, moves: int, changes: Changes, touched: Touched) -> tuple[Numbers, Numbers]:
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


@compiled
def _misses(
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
                    anchor_row = np.intp(candidates[candidate, U(ANCHOR_ROW)])
                    anchor_column = np.intp(candidates[candidate, U(ANCHOR_COLUMN)])
                    anchor = U((anchor_row + margin) * width + anchor_column + margin)
                    failing, code = near_failure(
                        board, turned, tests, codes, start, stop, symmetry, anchor
                    )
                    if failing >= 0:
                        cell = np.intp(cells[U(failing)])
                    else:
                        cell, code = far_failure(
                            states, ground, rows, row, symmetry, anchor_row, anchor_column
                        )
                    found[end, U(_PLACE)], found[end, U(_SYMMETRY)] = place, symmetry
                    found[end, U(_ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                    found[end, U(_COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
                    found[end, U(_CELL)], found[end, U(_CODE)] = cell, code
                    end += U(1)
            unit = links[at, U(NEXT)]
    return found[:end]


@compiled
def _mended(misses: Numbers, moves: int, changes: Changes, touched: Touched, most: int) -> Records:
    """Return the matches that moves of one change make of near misses, move by move."""
    first, following, move_of = touched.first, touched.following, touched.moves
    move_starts, states = changes.starts, changes.states
    starts = np.zeros(moves + 1, dtype=np.int32)
    for miss in range(U(len(misses))):
        change = first[U(misses[miss, U(_CELL)])]
        while change >= 0:
            move = U(move_of[U(change)])
            alone = move_starts[move + U(1)] - move_starts[move] == 1
            mends = alone and states[U(change)] & misses[miss, U(_CODE)] != 0
            starts[move + U(1)] += mends and starts[move + U(1)] < most
            change = following[U(change)]
    for move in range(moves):
        starts[move + 1] += starts[move]
    ends = starts[:moves].copy()
    found = np.empty((starts[moves], 4), dtype=np.int32)
    for miss in range(U(len(misses))):
        change = first[U(misses[miss, U(_CELL)])]
        while change >= 0:
            move = U(move_of[U(change)])
            alone = move_starts[move + U(1)] - move_starts[move] == 1
            mends = alone and states[U(change)] & misses[miss, U(_CODE)] != 0
            if mends and ends[move] < starts[move + U(1)]:
                end = U(ends[move])
                for column in range(U(4)):
                    found[end, column] = misses[miss, column]
                ends[move] += 1
            change = following[U(change)]
    return starts, found


@compiled
def near_failure(
    board: States,
    turned: Numbers,
    tests: NDArray[np.uint16],
    codes: States,
    start: int,
    stop: int,
    symmetry: int,
    anchor: int,
) -> tuple[int, int]:
    """Return place and code of the first near test that fails on a framed board, or (-1, 0) if none does."""
    always = U(len(turned) * CODES)
    for number in range(start, stop):
        test = U(tests[number])
        if test == always:
            break
        offset = test // U(CODES)
        place = anchor + U(np.intp(turned[offset, symmetry]))
        code = codes[test - offset * U(CODES)]
        if board[place] & code == 0:
            return np.intp(place), np.intp(code)
    return np.intp(-1), np.intp(0)


@compiled
def far_failure(
    states: States,
    ground: Ground,
    rows: Rows,
    row: int,
    symmetry: int,
    anchor_row: int,
    anchor_column: int,
) -> tuple[int, int]:
    """Return cell and code of the first far test that fails on the board, or (-1, 0) if none does."""
    start = rows.far[row, FAR_START]
    for number in range(start, start + rows.far[row, FAR_COUNT]):
        cell = far_cell(ground, rows, number, symmetry, anchor_row, anchor_column)
        code = rows.far_codes[number]
        if cell >= 0 and states[cell] & code == 0:
            return np.intp(cell), np.intp(code)
    return np.intp(-1), np.intp(0)


@compiled
def _placed(
    ground: Ground, rows: Rows, arrivals: Units, moves: int, order: Numbers, wanted: Flags, most: int
) -> Records:
    """Return the matches around the anchors that moves bring, move by move."""
    of_row, bits, links, candidates = arrivals.of_row, arrivals.bits, arrivals.links, arrivals.candidates
    anchors, columns = rows.anchors, ground.columns
    all_found = np.empty((bits_in(bits, U(len(arrivals.rows))), 5), dtype=np.int32)
    starts = np.zeros(moves + 1, dtype=np.int32)
    end = U(0)
    for place in range(len(order) if len(arrivals.rows) > 0 else 0):
        row = U(order[place])
        unit = of_row[row]
        if unit < 0 or (len(wanted) > 0 and not wanted[place]):
            continue
        while unit >= 0:
            at = U(unit)
            for lane in range(U(LANES)):
                word = bits[U(LANES) * at + lane]
                while word != NO_BITS:
                    candidate = U(links[at, U(FIRST)]) + lane * U(WORD) + lowest_bit(word)
                    word &= word - ONE_BIT
                    symmetry = U(candidates[candidate, U(SYMMETRY)])
                    move = U(candidates[candidate, U(ANCHOR_ROW)])
                    cell = np.intp(candidates[candidate, U(ANCHOR_COLUMN)])
                    anchor_row = cell // columns
                    all_found[end, U(_PLACE)], all_found[end, U(_SYMMETRY)] = place, symmetry
                    all_found[end, U(_ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                    all_found[end, U(_COLUMN)] = cell - anchor_row * columns - anchors[row, symmetry, U(1)]
                    all_found[end, U(4)] = move
                    fits = starts[move + U(1)] < most
                    starts[move + U(1)] += fits
                    end += U(fits)
            unit = links[at, U(NEXT)]
    for move in range(moves):
        starts[move + 1] += starts[move]
    ends = starts[:moves].copy()
    found = np.empty((end, 4), dtype=np.int32)
    for record in range(end):
        move = U(all_found[record, U(4)])
        for column in range(U(4)):
            found[U(ends[move]), column] = all_found[record, column]
        ends[move] += 1
    return starts, found


@compiled
def _unlike(
    ground: Ground,
    rows: Rows,
    changes: Changes,
    touched: Touched,
    codes: States,
    states: States,
    order: Numbers,
    wanted: Flags,
    most: int,
) -> Records:
    """Return the matches that moves of several changes make, move by move: those that failed before."""
    starts = np.zeros(len(changes.starts), dtype=np.int32)
    found = np.empty((0, 4), dtype=np.int32)
    end = 0
    for move in range(len(changes.starts) - 1):
        first, last = changes.starts[move], changes.starts[move + 1]
        if last - first > 1:
            now = states.copy()
            before = np.full(len(states), np.uint8(ANY_STATE), dtype=np.uint8)
            for number in range(first, last):
                now[changes.cells[number]] = changes.states[number]
                before[changes.cells[number]] = states[changes.cells[number]]
            units = sifted(now, ground, rows)
            size = bits_in(units.bits, U(len(units.rows)))
            if end + np.intp(size) > len(found):
                found = _larger(found, end, 2 * (end + np.intp(size)))
            end = _unlike_of(
                found, end, units, before, touched.turned, ground, rows, codes, order, wanted, most
            )
        starts[move + 1] = end
    return starts, found[:end]


@compiled
def _unlike_of(
    found: Numbers,
    end: int,
    units: Units,
    before: States,
    turned: Numbers,
    ground: Ground,
    rows: Rows,
    codes: States,
    order: Numbers,
    wanted: Flags,
    most: int,
) -> int:
    of_row, bits, links, candidates = units.of_row, units.bits, units.links, units.candidates
    starts, stages, tests, anchors, far = rows.starts, rows.stages, rows.tests, rows.anchors, rows.far
    # Only what changes can fail.
    board = framed(before, ground, ANY_STATE)
    margin, width = ground.margin, ground.columns + 2 * ground.margin
    end, last = U(end), U(end) + U(most)
    for place in range(len(order)):
        row = U(order[place])
        unit = of_row[row]
        if unit < 0 or (len(wanted) > 0 and not wanted[place]):
            continue
        start, stop = U(starts[row]), U(starts[row]) + U(STAGE) * U(stages[row])
        while unit >= 0:
            at = U(unit)
            for lane in range(U(LANES)):
                word = bits[U(LANES) * at + lane]
                while word != NO_BITS and end < last:
                    candidate = U(links[at, U(FIRST)]) + lane * U(WORD) + lowest_bit(word)
                    word &= word - ONE_BIT
                    symmetry = U(candidates[candidate, U(SYMMETRY)])
                    anchor_row = np.intp(candidates[candidate, U(ANCHOR_ROW)])
                    anchor_column = np.intp(candidates[candidate, U(ANCHOR_COLUMN)])
                    anchor = U((anchor_row + margin) * width + anchor_column + margin)
                    failing, _ = near_failure(
                        board, turned, tests, codes, start, stop, symmetry, anchor
                    )
                    if failing < 0 and far[row, U(FAR_COUNT)] > 0:
                        failing, _ = far_failure(
                            before, ground, rows, row, symmetry, anchor_row, anchor_column
                        )
                    found[end, U(_PLACE)], found[end, U(_SYMMETRY)] = place, symmetry
                    found[end, U(_ROW)] = anchor_row - anchors[row, symmetry, U(0)]
                    found[end, U(_COLUMN)] = anchor_column - anchors[row, symmetry, U(1)]
                    end += U(failing >= 0)
            unit = links[at, U(NEXT)]
    return np.intp(end)


@compiled
def _merged(
    mended: Records, placed: Records, unlike: Records, moves: int, most: int
) -> tuple[Numbers, Numbers, Shorts]:
    """Return where each move's new matches start, their places and images: by place, at most so many a move."""
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
                left < left_end
                and mended_records[left, U(_PLACE)] <= placed_records[right, U(_PLACE)]
            ):
                places[end] = mended_records[left, U(_PLACE)]
                for column in range(U(3)):
                    images[end, column] = mended_records[left, column + U(1)]
                left += U(1)
            else:
                places[end] = placed_records[right, U(_PLACE)]
                for column in range(U(3)):
                    images[end, column] = placed_records[right, column + U(1)]
                right += U(1)
            end += U(1)
        for record in range(U(unlike_starts[move]), U(unlike_starts[move + 1])):
            places[end] = unlike_records[record, U(_PLACE)]
            for column in range(U(3)):
                images[end, column] = unlike_records[record, column + U(1)]
            end += U(1)
        starts[move + 1] = end
    return starts, places[:end], images[:end]
