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
_DENSE_STAGES: Final = 3
_FIRST_CAPACITY: Final = 4096
# Columns of a record of a new match.
_SUCCESSOR, _PLACE, _SYMMETRY, _ROW, _COLUMN = range(5)


class Touched(NamedTuple):
    """The cells that moves change. Those of a framed board are called places.

    The changes of a cell are a chain: `first[cell]`, then `following[change]`; `moves` are theirs.
    `after[cell]` are all states it may get by a move that changes nothing else. `cells` are the cells of
    places, -1 beyond the edge, and `near` tells the anchors' places around which tables see a change.
    """

    first: Numbers
    following: Numbers
    moves: Numbers
    after: States
    cells: Numbers
    near: Flags


Differences = tuple[Numbers, Numbers, Numbers, Numbers, Shorts]


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
    gone_of, gone = _gone(ground, rows, changes, touched, codes, order, base)
    new = np.empty((_FIRST_CAPACITY, 5), dtype=np.int32)
    counts = np.zeros(moves, dtype=np.int64)
    arrivals = _arrived(states, ground, rows, changes)
    end = 0
    for place in range(len(order)):
        row = order[place]
        if len(wanted) > 0 and not wanted[place]:
            continue
        if units.of_row[row] >= 0:
            new, end = _mended(
                new, end, counts, most, place, row, units, nearly, states, ground, rows, changes, touched, codes
            )
        if arrivals.of_row[row] >= 0:
            new, end = _placed(
                new, end, counts, most, place, row, arrivals, ground.columns, rows.anchors
            )
    for move in range(moves):
        first, last = changes.starts[move], changes.starts[move + 1]
        if last - first > 1:
            changed = states.copy()
            for number in range(first, last):
                changed[changes.cells[number]] = changes.states[number]
            found = sifted(changed, ground, rows)
            new, end = _unlike(
                new, end, counts, most, move, found, states, changed, ground, rows, touched, codes, order, wanted
            )
    gone_starts, gone_order = _grouped(gone_of, moves)
    new_starts, new_order = _grouped(new[:end, _SUCCESSOR].copy(), moves)
    new_places = np.empty(end, dtype=np.int32)
    new_images = np.empty((end, 3), dtype=np.int16)
    for number in range(end):
        source = new_order[number]
        new_places[number] = new[source, _PLACE]
        new_images[number, 0] = new[source, _SYMMETRY]
        new_images[number, 1] = new[source, _ROW]
        new_images[number, 2] = new[source, _COLUMN]
    return base, (gone_starts, gone[gone_order], new_starts, new_places, new_images)


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
    return Touched(first, following, move_of, after, cells, near)


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
def _recorded(
    new: Numbers, end: int, counts: NDArray[np.int64], most: int, record: tuple[int, int, int, int, int]
) -> tuple[Numbers, int]:
    move = record[0]
    if counts[move] >= most:
        return new, end
    counts[move] += 1
    if end == len(new):
        larger = np.empty((2 * end, 5), dtype=np.int32)
        larger[:end] = new
        new = larger
    for column in range(5):
        new[end, column] = record[column]
    return new, end + 1


@compiled
def _placed(
    new: Numbers,
    end: int,
    counts: NDArray[np.int64],
    most: int,
    place: int,
    row: int,
    arrivals: Units,
    columns: int,
    anchors: Shorts,
) -> tuple[Numbers, int]:
    """Record the matches of a row around new anchors."""
    unit = arrivals.of_row[row]
    while unit >= 0:
        for lane in range(LANES):
            word = arrivals.bits[LANES * unit + lane]
            while word != NO_BITS:
                candidate = arrivals.links[unit, FIRST] + lane * WORD + np.intp(lowest_bit(word))
                word &= word - ONE_BIT
                symmetry = arrivals.candidates[candidate, SYMMETRY]
                cell = np.intp(arrivals.candidates[candidate, ANCHOR_COLUMN])
                anchor_row = cell // columns
                new, end = _recorded(
                    new,
                    end,
                    counts,
                    most,
                    (
                        np.intp(arrivals.candidates[candidate, ANCHOR_ROW]),
                        np.intp(place),
                        np.intp(symmetry),
                        anchor_row - anchors[row, symmetry, 0],
                        cell - anchor_row * columns - anchors[row, symmetry, 1],
                    ),
                )
        unit = arrivals.links[unit, NEXT]
    return new, end


@compiled
def _gone(
    ground: Ground, rows: Rows, changes: Changes, touched: Touched, codes: States, order: Numbers, base: Found
) -> tuple[Numbers, Numbers]:
    """Return moves and the base's matches that each of them ends."""
    places, symmetries, image_rows, image_columns, _ = base
    first, following, move_of = touched.first, touched.following, touched.moves
    cells, near, new_states = touched.cells, touched.near, changes.states
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    deltas, images = ground.deltas, ground.images
    width, always = ground.columns + 2 * ground.margin, len(images) * CODES
    moves = np.empty(_FIRST_CAPACITY, dtype=np.int32)
    gone = np.empty(_FIRST_CAPACITY, dtype=np.int32)
    last_gone = np.full(len(changes.starts), -1, dtype=np.int32)
    end = 0
    for match in range(len(places)):
        row, symmetry = order[places[match]], symmetries[match]
        anchor_row = np.intp(image_rows[match]) + anchors[row, symmetry, 0]
        anchor_column = np.intp(image_columns[match]) + anchors[row, symmetry, 1]
        anchor = (anchor_row + ground.margin) * width + anchor_column + ground.margin
        near_tests = STAGE * stages[row] if near[anchor] else 0
        far_start = rows.far[row, FAR_START]
        for number in range(near_tests + rows.far[row, FAR_COUNT]):
            if number < near_tests:
                test = np.intp(tests[starts[row] + number])
                if test == always:
                    continue
                cell = cells[anchor + deltas[images[test // CODES, symmetry]]]
                code = codes[test % CODES]
            else:
                far = far_start + number - near_tests
                cell = far_cell(ground, rows, far, symmetry, anchor_row, anchor_column)
                code = rows.far_codes[far]
            change = first[cell] if cell >= 0 else -1
            while change >= 0:
                move = move_of[change]
                if new_states[change] & code == 0 and last_gone[move] != match:
                    last_gone[move] = match
                    if end == len(gone):
                        moves, gone = _doubled(moves), _doubled(gone)
                    moves[end], gone[end] = move, match
                    end += 1
                change = following[change]
    return moves[:end], gone[:end]


@compiled
def _doubled(numbers: Numbers) -> Numbers:
    larger = np.empty(2 * len(numbers), dtype=np.int32)
    larger[: len(numbers)] = numbers
    return larger


@compiled
def _mended(
    new: Numbers,
    end: int,
    counts: NDArray[np.int64],
    most: int,
    place: int,
    row: int,
    units: Units,
    nearly: Words,
    states: States,
    ground: Ground,
    rows: Rows,
    changes: Changes,
    touched: Touched,
    codes: States,
) -> tuple[Numbers, int]:
    """Record the matches of a row that moves make where one test failed."""
    unit = units.of_row[row]
    while unit >= 0:
        for lane in range(LANES):
            word = nearly[LANES * unit + lane]
            while word != NO_BITS:
                candidate = units.links[unit, FIRST] + lane * WORD + np.intp(lowest_bit(word))
                word &= word - ONE_BIT
                symmetry = np.intp(units.candidates[candidate, SYMMETRY])
                anchor_row = np.intp(units.candidates[candidate, ANCHOR_ROW])
                anchor_column = np.intp(units.candidates[candidate, ANCHOR_COLUMN])
                cell, code = failing_test(
                    states, states, ground, rows, touched.cells, codes, row, symmetry, anchor_row, anchor_column
                )
                change = touched.first[cell]
                while change >= 0:
                    move = np.intp(touched.moves[change])
                    alone = changes.starts[move + 1] - changes.starts[move] == 1
                    if alone and changes.states[change] & code != 0:
                        new, end = _recorded(
                            new,
                            end,
                            counts,
                            most,
                            (
                                move,
                                np.intp(place),
                                symmetry,
                                anchor_row - rows.anchors[row, symmetry, 0],
                                anchor_column - rows.anchors[row, symmetry, 1],
                            ),
                        )
                    change = touched.following[change]
        unit = units.links[unit, NEXT]
    return new, end


@compiled
def failing_test(
    before: States,
    now: States,
    ground: Ground,
    rows: Rows,
    cells: Numbers,
    codes: States,
    row: int,
    symmetry: int,
    anchor_row: int,
    anchor_column: int,
) -> tuple[int, int]:
    """Return cell and code of a test that fails on the board `before`, or (-1, 0) if none does.

    Where `now` is another board, only the cells on which the two differ are looked at.
    """
    width = ground.columns + 2 * ground.margin
    anchor = (anchor_row + ground.margin) * width + anchor_column + ground.margin
    everywhere = before is now
    start, always = rows.starts[row], len(ground.images) * CODES
    for number in range(start, start + STAGE * rows.stages[row]):
        test = np.intp(rows.tests[number])
        if test < always:
            cell = cells[anchor + ground.deltas[ground.images[test // CODES, symmetry]]]
            code = codes[test % CODES]
            if cell >= 0 and before[cell] & code == 0 and (everywhere or before[cell] != now[cell]):
                return np.intp(cell), np.intp(code)
    start = rows.far[row, FAR_START]
    for far in range(start, start + rows.far[row, FAR_COUNT]):
        cell = far_cell(ground, rows, far, symmetry, anchor_row, anchor_column)
        code = rows.far_codes[far]
        if cell >= 0 and before[cell] & code == 0 and (everywhere or before[cell] != now[cell]):
            return np.intp(cell), np.intp(code)
    return np.intp(-1), np.intp(0)


@compiled
def _unlike(
    new: Numbers,
    end: int,
    counts: NDArray[np.int64],
    most: int,
    move: int,
    units: Units,
    states: States,
    changed: States,
    ground: Ground,
    rows: Rows,
    touched: Touched,
    codes: States,
    order: Numbers,
    wanted: Flags,
) -> tuple[Numbers, int]:
    """Record the matches on a changed board that are none on the base."""
    for place in range(len(order)):
        row = order[place]
        unit = units.of_row[row]
        if len(wanted) > 0 and not wanted[place]:
            continue
        while unit >= 0:
            for lane in range(LANES):
                word = units.bits[LANES * unit + lane]
                while word != NO_BITS:
                    candidate = units.links[unit, FIRST] + lane * WORD + np.intp(lowest_bit(word))
                    word &= word - ONE_BIT
                    symmetry = np.intp(units.candidates[candidate, SYMMETRY])
                    anchor_row = np.intp(units.candidates[candidate, ANCHOR_ROW])
                    anchor_column = np.intp(units.candidates[candidate, ANCHOR_COLUMN])
                    failed, _ = failing_test(
                        states, changed, ground, rows, touched.cells, codes,
                        row, symmetry, anchor_row, anchor_column,
                    )
                    if failed >= 0:
                        new, end = _recorded(
                            new, end, counts, most,
                            (
                                np.intp(move),
                                np.intp(place),
                                symmetry,
                                anchor_row - rows.anchors[row, symmetry, 0],
                                anchor_column - rows.anchors[row, symmetry, 1],
                            ),
                        )
            unit = units.links[unit, NEXT]
    return new, end


@compiled
def _grouped(moves: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """Return where the group of each move starts, and the entries group by group, each in the order given."""
    starts = np.zeros(count + 1, dtype=np.int32)
    for move in moves:
        starts[move + 1] += 1
    for move in range(count):
        starts[move + 1] += starts[move]
    following = starts[:count].copy()
    order = np.empty(len(moves), dtype=np.int32)
    for entry in range(len(moves)):
        order[following[moves[entry]]] = entry
        following[moves[entry]] += 1
    return starts, order
