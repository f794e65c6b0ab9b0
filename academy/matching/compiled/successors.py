"""Matches of the positions after single moves, as differences from the position before.

Where a move changes one cell, its new matches are of two kinds. Around an anchor that was there before,
exactly one test failed, and the new state mends it: such near misses of all moves are found by filtering
the base position once. Around a cell that the move makes an anchor, all else must hold: the moves' cells are
filtered as anchors of their own. Positions after moves that change more cells are filtered one by one.
"""

from typing import Final, NamedTuple

import numpy as np

from academy.matching.anchoring import TESTED_CODES
from academy.matching.board_tables import BoardTables
from academy.matching.compiled.banks import (
    BANK,
    CODES,
    LANES,
    NO_BITS,
    ONE_BIT,
    WORD,
    Numbers,
    States,
    U,
    bits_in_bank,
    framed,
    lowest_bit,
    signed,
    stride_of,
    table_size,
)
from academy.matching.compiled.collect import collect_matches, order_units
from academy.matching.compiled.compiling import compiled, entry
from academy.matching.compiled.filter import (
    ANCHOR_COLUMN,
    ANCHOR_ROW,
    OFF_BOARD,
    OWNER,
    SYMMETRY,
    WHOLE_GRAPH,
    Anchors,
    Flags,
    Search,
    Units,
    View,
    far_cell,
    filter_candidates,
    filter_kind,
    filter_nearly,
    no_anchors,
    no_units,
    words_around,
)
from academy.matching.matches import NO_LIMIT, Matches, MatchLimits, RankedRows
from academy.matching.rows import FAR_COUNT, FAR_START, STAGE
from academy.matching.successors import BoardChanges, Successors

_ANY_STATE: Final = np.uint8(0xFF)
_MATCHES_AT_ONCE: Final = 1024
# Columns of a record of a new match.
_MOVE, _PLACE, _IMAGE, _ROW, _COLUMN = range(5)
_RECORD_COLUMNS: Final = 5
# Columns of a tally, which has a row for each move: the place seen last, how many matches of it were kept,
# how many of all places, and how many matches there were.
_LAST_PLACE, _OF_PLACE, _KEPT, _TOTAL = range(4)


class Affected(NamedTuple):
    """The cells that moves change. Those of a framed board are called places.

    The changes of a cell are a chain: `first[cell]`, then `following[change]`; `moves` are theirs.
    `after[cell]` are all states it may get by a move that changes nothing else, `reached[place]` all it may
    get by any move. `cells` are the cells of places, -1 beyond the edge, and `near` flags the anchors' places
    around which tables see a change. `turned[offset, s]` is how far an offset's image lies in a framed board.
    """

    first: Numbers
    following: Numbers
    moves: Numbers
    after: States
    reached: States
    cells: Numbers
    near: Flags
    turned: Numbers


class MoveLists(NamedTuple):
    """New matches: where the records of each move start, all records, and the totals without limits."""

    starts: Numbers
    records: Numbers
    totals: Numbers


class Task(NamedTuple):
    """One query: the position, the moves, and the library under limits."""

    states: States
    changes: BoardChanges
    library: RankedRows
    limits: MatchLimits
    affected: Affected


@entry
def match_successors(
    states: States, changes: BoardChanges, library: RankedRows, limits: MatchLimits
) -> Successors:
    """Return the matches that moves end and bring, as `kernels.MatchSuccessorsFunction` says."""
    task = Task(states, changes, library, limits, _index_changes(library, changes))
    units = filter_nearly(states, task.affected.after, library.tables, library.rows)
    ordered = order_units(units, library)
    base = collect_matches(units, ordered, library, limits)
    gone_starts, gone = _collect_removed(_collect_affected_tests(task, base), task)
    new = _merge(_collect_mended(task, units, ordered), _collect_arrived(task), limits)
    if _has_long_moves(changes):
        new = _merge(new, _collect_by_position(task), limits)
    all_new = _as_matches(new.records, library)
    return Successors(base, gone_starts, gone, new.starts, all_new, new.totals)


@compiled
def _index_changes(library: RankedRows, changes: BoardChanges) -> Affected:
    """Return the cells that moves change, indexed by cell and by place."""
    tables = library.tables
    size, width = tables.rows * tables.columns, tables.columns + 2 * tables.margin
    first = np.full(size, -1, dtype=np.int32)
    following = np.full(len(changes.cells), -1, dtype=np.int32)
    move_of = np.empty(len(changes.cells), dtype=np.int32)
    after = np.zeros(size, dtype=np.uint8)
    cells = _cells_by_place(tables)
    near = np.zeros(len(cells), dtype=np.bool_)
    reached = np.zeros(len(cells), dtype=np.uint8)
    for move in range(len(changes.starts) - 1):
        for change in range(changes.starts[move], changes.starts[move + 1]):
            cell = changes.cells[change]
            move_of[change] = move
            following[change] = first[cell]
            first[cell] = change
            if changes.starts[move + 1] - changes.starts[move] == 1:
                after[cell] |= changes.states[change]
            row = cell // tables.columns
            place = (row + tables.margin) * width + cell - row * tables.columns + tables.margin
            reached[place] |= changes.states[change]
            if tables.margin > 0:
                for offset in range(library.rows.reach):
                    near[place + tables.deltas[offset]] = True
    if tables.margin == 0:
        # On a graph all nodes are seen from the one anchor.
        near[0] = True
    turned = np.empty(tables.images.shape, dtype=np.int32)
    for offset in range(len(tables.images)):
        for symmetry in range(tables.images.shape[1]):
            turned[offset, symmetry] = tables.deltas[tables.images[offset, symmetry]]
    return Affected(first, following, move_of, after, reached, cells, near, turned)


@compiled
def _cells_by_place(tables: BoardTables) -> Numbers:
    """Return the cell at each place of the framed board, -1 beyond the edge."""
    width = tables.columns + 2 * tables.margin
    cells = np.full((tables.rows + 2 * tables.margin) * width, -1, dtype=np.int32)
    for row in range(tables.rows):
        for column in range(tables.columns):
            place = (row + tables.margin) * width + column + tables.margin
            cells[place] = row * tables.columns + column
    return cells


@compiled
def _has_long_moves(changes: BoardChanges) -> bool:
    most = 0
    for move in range(len(changes.starts) - 1):
        most = max(most, changes.starts[move + 1] - changes.starts[move])
    return most > 1


# Matches that moves end


@compiled
def _collect_affected_tests(task: Task, base: Matches) -> Numbers:
    """Return the tests of matches that some move may fail: match, cell and the code wanted there."""
    rows, ranking = task.library.rows, task.library.ranking
    tests = np.empty((0, 3), dtype=np.int32)
    end = len(tests)
    # An array that an inner loop may replace makes it slow: room is made for many matches at once.
    for first in range(0, len(base.places), _MATCHES_AT_ONCE):
        last = min(first + _MATCHES_AT_ONCE, len(base.places))
        most = 0
        for match in range(first, last):
            row = ranking.rows[base.places[match]]
            most += STAGE * rows.stages[row] + rows.far[row, FAR_COUNT]
        tests = _with_capacity(tests, end, end + most)
        end = _write_affected_tests(tests, end, (first, last), task, base)
    return tests[:end]


@compiled
def _write_affected_tests(out: Numbers, end: int, part: tuple[int, int], task: Task, base: Matches) -> int:
    """Write the affected tests of a part of the matches to `out`, behind `end`; return the new end."""
    tables, rows, order = task.library.tables, task.library.rows, task.library.ranking.rows
    affected = task.affected
    first, reached, cells, near = affected.first, affected.reached, affected.cells, affected.near
    far, far_codes = rows.far, rows.far_codes
    starts, stages, tests, anchors = rows.starts, rows.stages, rows.tests, rows.anchors
    turned = affected.turned
    margin, width, always = tables.margin, tables.columns + 2 * tables.margin, U(len(turned) * CODES)
    end = U(end)
    for match in range(U(part[0]), U(part[1])):
        row, symmetry = U(order[U(base.places[match])]), U(base.symmetries[match])
        anchor_row = signed(base.rows[match]) + anchors[row, symmetry, U(0)]
        anchor_column = signed(base.columns[match]) + anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        start = U(starts[row])
        for number in range(start, start + U(STAGE) * U(stages[row]) if near[anchor] else start):
            test = U(tests[number])
            if test == always:
                break
            offset = test // U(CODES)
            place = anchor + U(signed(turned[offset, symmetry]))
            code = TESTED_CODES[test - offset * U(CODES)]
            out[end, U(0)], out[end, U(1)], out[end, U(2)] = match, cells[place], code
            end += U((reached[place] & ~code) != 0)
        for number in range(far[row, U(FAR_START)], far[row, U(FAR_START)] + far[row, U(FAR_COUNT)]):
            cell = far_cell(tables, rows, number, symmetry, (anchor_row, anchor_column))
            out[end, U(0)], out[end, U(1)], out[end, U(2)] = match, cell, far_codes[number]
            end += U(cell >= 0 and first[U(cell)] >= 0)
    return signed(end)


@compiled
def _collect_removed(tests: Numbers, task: Task) -> tuple[Numbers, Numbers]:
    """Return where the matches that each move ends start, and these matches."""
    moves = len(task.changes.starts) - 1
    starts = np.zeros(moves + 1, dtype=np.int32)
    _visit_removed(tests, task, starts[1:], np.empty(0, dtype=np.int32))
    for move in range(moves):
        starts[move + 1] += starts[move]
    removed = np.empty(starts[moves], dtype=np.int32)
    _visit_removed(tests, task, starts[:moves].copy(), removed)
    return starts, removed


@compiled
def _visit_removed(tests: Numbers, task: Task, ends: Numbers, removed: Numbers) -> None:
    """Advance a move's end by each match that the move ends; write the match there if `removed` has room."""
    first, following, states = task.affected.first, task.affected.following, task.changes.states
    move_of, last_match = task.affected.moves, np.full(len(ends), -1, dtype=np.int32)
    writes = len(removed) > 0
    for number in range(U(len(tests))):
        match, cell, code = tests[number, U(0)], U(tests[number, U(1)]), tests[number, U(2)]
        change = first[cell]
        while change >= 0:
            move = U(move_of[U(change)])
            if states[U(change)] & code == 0 and last_match[move] != match:
                last_match[move] = match
                if writes:
                    removed[U(ends[move])] = match
                ends[move] += 1
            change = following[U(change)]


# Matches that moves bring


@compiled
def _collect_mended(task: Task, units: Units, ordered: Numbers) -> MoveLists:
    """Return the matches that moves of one change make of near misses, move by move."""
    tally = _new_tally(len(task.changes.starts) - 1)
    longest = U(_most_moves_of_a_cell(task.affected))
    records = np.empty((0, _RECORD_COLUMNS), dtype=np.int32)
    end = len(records)
    for number in range(U(len(ordered))):
        unit = U(ordered[number])
        near_misses = bits_in_bank(units.nearly, unit)
        if near_misses > U(0):
            records = _with_capacity(records, end, end + signed(near_misses * longest))
            end = _mend_unit(records, end, task, units, unit, tally)
    return _by_move(records[:end], tally)


@compiled
def _mend_unit(records: Numbers, end: int, task: Task, units: Units, unit: int, tally: Numbers) -> int:
    """Write what moves make of the near misses of a unit; return the end.

    A word is intersected with its row's tests once more, which shows where each of its candidates fails.
    """
    tables, rows = task.library.tables, task.library.rows
    row, bank, size = U(units.rows[unit]), U(units.banks[unit]), U(table_size(tables))
    for lane in range(U(LANES)):
        word = units.nearly[unit * U(LANES) + lane]
        first = bank * U(BANK) + lane * U(WORD)
        number = U(rows.starts[row])
        stop = number + U(STAGE) * U(rows.stages[row])
        while word != NO_BITS:
            test, failing, near = U(0), word, False
            # Where all near tests hold it is a far one that fails.
            if number < stop:
                test, near = U(rows.tests[number]), True
                failing = word & ~units.tests[bank * size + test * U(LANES) + lane]
                number += U(1)
            word ^= failing
            while failing != NO_BITS:
                candidate = units.candidates[first + lowest_bit(failing)]
                failing &= failing - ONE_BIT
                if near:
                    failed = _failing_test(task, candidate, test)
                else:
                    failed = _failing_far_test(task, candidate, row)
                end = _mend_candidate(records, end, task, (row, candidate), failed, tally)
    return end


@compiled
def _failing_test(task: Task, candidate: Numbers, test: int) -> tuple[int, int]:
    """Return the cell and the code of a near test of a candidate."""
    tables, offset = task.library.tables, test // U(CODES)
    margin, width = tables.margin, tables.columns + 2 * tables.margin
    anchor = (candidate[ANCHOR_ROW] + margin) * width + candidate[ANCHOR_COLUMN] + margin
    place = U(anchor + task.affected.turned[offset, U(candidate[SYMMETRY])])
    return signed(task.affected.cells[place]), signed(TESTED_CODES[test - offset * U(CODES)])


@compiled
def _failing_far_test(task: Task, candidate: Numbers, row: int) -> tuple[int, int]:
    anchor = (signed(candidate[ANCHOR_ROW]), signed(candidate[ANCHOR_COLUMN]))
    return _far_failure(task, task.states, row, signed(candidate[SYMMETRY]), anchor)


@compiled
def _mend_candidate(
    records: Numbers,
    end: int,
    task: Task,
    match: tuple[int, Numbers],
    failed: tuple[int, int],
    tally: Numbers,
) -> int:
    """Write a near miss, a row and its candidate, for each move that mends it; return the end."""
    row, candidate = match
    cell, code = failed
    changes, affected, anchors = task.changes, task.affected, task.library.rows.anchors
    place, symmetry = task.library.ranking.places[row], U(candidate[SYMMETRY])
    change = affected.first[U(cell)]
    while change >= 0:
        move = U(affected.moves[U(change)])
        alone = changes.starts[move + U(1)] - changes.starts[move] == 1
        if alone and changes.states[U(change)] & code != 0 and _admit(tally, move, place, task.limits):
            records[U(end), U(_MOVE)], records[U(end), U(_PLACE)], records[U(end), U(_IMAGE)] = (
                move,
                place,
                symmetry,
            )
            records[U(end), U(_ROW)] = candidate[ANCHOR_ROW] - anchors[row, symmetry, U(0)]
            records[U(end), U(_COLUMN)] = candidate[ANCHOR_COLUMN] - anchors[row, symmetry, U(1)]
            end += 1
        change = affected.following[U(change)]
    return end


@compiled
def _most_moves_of_a_cell(affected: Affected) -> int:
    most = 1
    for cell in range(len(affected.first)):
        count = 0
        change = affected.first[cell]
        while change >= 0:
            count += 1
            change = affected.following[change]
        most = max(most, count)
    return most


@compiled
def _collect_arrived(task: Task) -> MoveLists:
    """Return the matches around the anchors that moves bring, move by move."""
    units = _filter_arrived(task)
    ordered, tally = order_units(units, task.library), _new_tally(len(task.changes.starts) - 1)
    records = np.empty((0, _RECORD_COLUMNS), dtype=np.int32)
    end = len(records)
    for number in range(U(len(ordered))):
        unit = U(ordered[number])
        records = _with_capacity(records, end, end + signed(bits_in_bank(units.bits, unit)))
        end = _list_unit(records, end, task, units, unit, tally)
    return _by_move(records[:end], tally)


@compiled
def _list_unit(records: Numbers, end: int, task: Task, units: Units, unit: int, tally: Numbers) -> int:
    """Write the candidates of a unit, which belong to moves, as their matches; return the end."""
    candidates, anchors, row = units.candidates, task.library.rows.anchors, U(units.rows[unit])
    place = task.library.ranking.places[row]
    for lane in range(U(LANES)):
        word = units.bits[unit * U(LANES) + lane]
        first = U(units.banks[unit]) * U(BANK) + lane * U(WORD)
        while word != NO_BITS:
            candidate = first + lowest_bit(word)
            word &= word - ONE_BIT
            move, symmetry = U(candidates[candidate, U(OWNER)]), U(candidates[candidate, U(SYMMETRY)])
            if _admit(tally, move, place, task.limits):
                at = U(end)
                records[at, U(_MOVE)], records[at, U(_PLACE)], records[at, U(_IMAGE)] = move, place, symmetry
                records[at, U(_ROW)] = candidates[candidate, U(ANCHOR_ROW)] - anchors[row, symmetry, U(0)]
                records[at, U(_COLUMN)] = (
                    candidates[candidate, U(ANCHOR_COLUMN)] - anchors[row, symmetry, U(1)]
                )
                end += 1
    return end


@compiled
def _filter_arrived(task: Task) -> Units:
    """Filter all rows around the cells that moves make anchors; candidates belong to the moves."""
    states, changes, tables, rows = task.states, task.changes, task.library.tables, task.library.rows
    view = View(0, states, framed(states, tables, OFF_BOARD))
    search = Search(tables, rows, False, view)
    symmetries = tables.images.shape[1]
    units = no_units()
    for kind in range(WHOLE_GRAPH):
        accepted = tables.anchor_states[kind]
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
            words = words_around(view, cells[:count], own[:count], search)
            anchors = Anchors(view, cells[:count], words, False)
            units = filter_kind(units, search, kind, anchors, no_anchors(view))
            stride = signed(stride_of(count, symmetries))
            for symmetry in range(symmetries):
                first_candidate = before + symmetry * stride
                for number in range(count):
                    units.candidates[first_candidate + number, OWNER] = moves[number]
    return units


@compiled
def _collect_by_position(task: Task) -> MoveLists:
    """Return the matches that moves of several changes make, move by move: those that failed before."""
    states, changes, library = task.states, task.changes, task.library
    tally = _new_tally(len(changes.starts) - 1)
    records = np.empty((0, _RECORD_COLUMNS), dtype=np.int32)
    end = len(records)
    for move in range(len(changes.starts) - 1):
        first, last = changes.starts[move], changes.starts[move + 1]
        if last - first > 1:
            now = states.copy()
            before = np.full(len(states), _ANY_STATE, dtype=np.uint8)
            for number in range(first, last):
                now[changes.cells[number]] = changes.states[number]
                before[changes.cells[number]] = states[changes.cells[number]]
            units = filter_candidates(now.reshape(1, -1), library.tables, library.rows)
            no_limits = MatchLimits(signed(NO_LIMIT), signed(NO_LIMIT))
            matches = collect_matches(units, order_units(units, library), library, no_limits)
            records = _with_capacity(records, end, end + min(task.limits.total, len(matches.places)))
            end = _list_new(records, end, task, (move, matches), before, tally)
    return _by_move(records[:end], tally)


@compiled
def _list_new(
    records: Numbers, end: int, task: Task, of_move: tuple[int, Matches], before: States, tally: Numbers
) -> int:
    """Write those matches of a move that failed on the board before; return the end.

    Only the cells that the move changes have their state in `before`: no other can fail.
    """
    move, matches = of_move
    tables, rows = task.library.tables, task.library.rows
    board = framed(before, tables, _ANY_STATE)
    margin, width = tables.margin, tables.columns + 2 * tables.margin
    for match in range(U(len(matches.places))):
        place, symmetry = matches.places[match], U(matches.symmetries[match])
        row = U(task.library.ranking.rows[U(place)])
        anchor_row = signed(matches.rows[match]) + rows.anchors[row, symmetry, U(0)]
        anchor_column = signed(matches.columns[match]) + rows.anchors[row, symmetry, U(1)]
        anchor = U((anchor_row + margin) * width + anchor_column + margin)
        fails = _fails_near(task, board, row, symmetry, anchor)
        if not fails and rows.far[row, U(FAR_COUNT)] > 0:
            fails = _far_failure(task, before, row, signed(symmetry), (anchor_row, anchor_column))[0] >= 0
        if fails and _admit(tally, U(move), place, task.limits):
            at = U(end)
            records[at, U(_MOVE)], records[at, U(_PLACE)], records[at, U(_IMAGE)] = move, place, symmetry
            records[at, U(_ROW)], records[at, U(_COLUMN)] = matches.rows[match], matches.columns[match]
            end += 1
    return end


@compiled
def _fails_near(task: Task, board: States, row: int, symmetry: int, anchor: int) -> bool:
    """Whether a near test fails on a framed board."""
    rows, turned = task.library.rows, task.affected.turned
    start, always = U(rows.starts[row]), U(len(turned) * CODES)
    for number in range(start, start + U(STAGE) * U(rows.stages[row])):
        test = U(rows.tests[number])
        if test == always:
            break
        offset = test // U(CODES)
        place = anchor + U(signed(turned[offset, symmetry]))
        if board[place] & TESTED_CODES[test - offset * U(CODES)] == 0:
            return True
    return False


@compiled
def _far_failure(
    task: Task, states: States, row: int, symmetry: int, anchor: tuple[int, int]
) -> tuple[int, int]:
    """Return cell and code of the first far test that fails on the board, or (-1, 0) if none does."""
    tables, rows = task.library.tables, task.library.rows
    start = rows.far[row, FAR_START]
    for number in range(start, start + rows.far[row, FAR_COUNT]):
        cell = far_cell(tables, rows, number, symmetry, anchor)
        code = rows.far_codes[number]
        if cell >= 0 and states[cell] & code == 0:
            return signed(cell), signed(code)
    return signed(-1), signed(0)


# Lists of new matches, in the order of the ranking, under limits that hold for each move


@compiled
def _new_tally(moves: int) -> Numbers:
    """Return a tally of moves for which nothing was counted."""
    tally = np.zeros((moves, 4), dtype=np.int32)
    tally[:, _LAST_PLACE] = -1
    return tally


@compiled
def _admit(tally: Numbers, move: int, place: int, limits: MatchLimits) -> bool:
    """Count a match of a move, and return whether the limits have room for it.

    Matches of a move come in the order of their patterns' places.
    """
    tally[move, U(_TOTAL)] += 1
    of_place = tally[move, U(_OF_PLACE)] if tally[move, U(_LAST_PLACE)] == place else 0
    has_room = of_place < limits.per_pattern and tally[move, U(_KEPT)] < limits.total
    tally[move, U(_LAST_PLACE)] = place
    tally[move, U(_OF_PLACE)] = of_place + has_room
    tally[move, U(_KEPT)] += has_room
    return has_room


@compiled
def _with_capacity(records: Numbers, used: int, capacity: int) -> Numbers:
    """Return the records, or a copy with twice the capacity where they have less."""
    if capacity <= len(records):
        return records
    larger = np.empty((2 * capacity, records.shape[1]), dtype=np.int32)
    for number in range(U(used)):
        for column in range(U(records.shape[1])):
            larger[number, column] = records[number, column]
    return larger


@compiled
def _by_move(records: Numbers, tally: Numbers) -> MoveLists:
    """Return the records move by move, each move's in the order in which they came."""
    moves = len(tally)
    starts = np.zeros(moves + 1, dtype=np.int32)
    for move in range(moves):
        starts[move + 1] = starts[move] + tally[move, _KEPT]
    ends = starts[:moves].copy()
    ordered = np.empty((len(records), _RECORD_COLUMNS), dtype=np.int32)
    for number in range(U(len(records))):
        move = U(records[number, U(_MOVE)])
        _copy_record(records, number, ordered, U(ends[move]))
        ends[move] += 1
    return MoveLists(starts, ordered, tally[:, _TOTAL].copy())


@compiled
def _copy_record(records: Numbers, number: int, target: Numbers, place: int) -> None:
    for column in range(U(_RECORD_COLUMNS)):
        target[place, column] = records[number, column]


@compiled
def _merge(first: MoveLists, second: MoveLists, limits: MatchLimits) -> MoveLists:
    """Return the matches of two lists for each move as one, in the order of places, under the limits."""
    moves = len(first.totals)
    tally = _new_tally(moves)
    starts = np.zeros(moves + 1, dtype=np.int32)
    merged = np.empty((len(first.records) + len(second.records), _RECORD_COLUMNS), dtype=np.int32)
    end = U(0)
    for move in range(U(moves)):
        left, left_end = U(first.starts[move]), U(first.starts[move + U(1)])
        right, right_end = U(second.starts[move]), U(second.starts[move + U(1)])
        while left < left_end or right < right_end:
            if right == right_end or (
                left < left_end and first.records[left, U(_PLACE)] <= second.records[right, U(_PLACE)]
            ):
                _copy_record(first.records, left, merged, end)
                left += U(1)
            else:
                _copy_record(second.records, right, merged, end)
                right += U(1)
            end += U(_admit(tally, move, merged[end, U(_PLACE)], limits))
        starts[move + U(1)] = end
    return MoveLists(starts, merged[: signed(end)], first.totals + second.totals)


@compiled
def _as_matches(records: Numbers, library: RankedRows) -> Matches:
    columns = np.empty((_RECORD_COLUMNS, len(records)), dtype=np.int32)
    for match in range(U(len(records))):
        for column in range(U(_RECORD_COLUMNS)):
            columns[column, match] = records[match, column]
    on_second = np.zeros(len(records), dtype=np.bool_)
    places, symmetries, rows, image_columns = (
        columns[_PLACE],
        columns[_IMAGE],
        columns[_ROW],
        columns[_COLUMN],
    )
    ids = library.ranking.pattern_ids
    return Matches(ids, places, symmetries, rows, image_columns, on_second, len(records), False)
