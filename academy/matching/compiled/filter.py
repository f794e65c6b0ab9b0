"""Which candidates of which rows pass all tests.

For every bank of candidates all rows are intersected with the bank's table. Every row is intersected with
eight tests at once; only rows with a candidate left are intersected with the next four. On request candidates
that fail one test only are kept too: those that a move may mend.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.board_tables import BoardTables
from academy.matching.compiled.banks import (
    ALL_BITS,
    BANK,
    LANES,
    NO_BITS,
    ONE_BIT,
    WORD,
    Bank,
    Numbers,
    States,
    U,
    Words,
    aligned_words,
    anchors_on,
    banks_of,
    both,
    candidate_words,
    either,
    framed,
    framed_places,
    has_bits,
    load_bank,
    lowest_bit,
    signed,
    store_bank,
    stride_of,
    table_size,
    write_tests,
)
from academy.matching.compiled.compiling import compiled
from academy.matching.rows import FAR_COUNT, FAR_START, IMAGES, STAGE, Rows

KINDS: Final = 4
WHOLE_GRAPH: Final = 3
OFF_BOARD: Final = np.uint8(32)
_NO_STATE: Final = np.uint8(0)
_FIRST_PIECE: Final = 0
_SECOND_PIECE: Final = 1
# States that belong to no player, to the first and to the second: those of the first, shifted left.
_NEITHER: Final = np.uint8(State.EMPTY | State.OFF_BOARD)
_FIRST: Final = np.uint8(State.FIRST_SOLDIER | State.FIRST_KING)
_SECOND: Final = np.uint8(State.SECOND_SOLDIER | State.SECOND_KING)
_APART: Final = np.uint8(2)
# Columns of a candidate. It belongs to a board or, where a move brings its anchor, to a move.
SYMMETRY, ANCHOR_ROW, ANCHOR_COLUMN, OWNER = range(4)
_CANDIDATE_COLUMNS: Final = 4

Shorts = NDArray[np.int16]
Flags = NDArray[np.bool_]


class Units(NamedTuple):
    """What the filter leaves: a *unit* is a row with its candidates in one bank.

    `rows`, `banks` and `bits` (a bank each) are those of the units. Bank b holds the candidates from
    `b * BANK` on. `nearly` are the candidates that fail one test only, and `tests` the tables of the banks,
    which show that test; both are empty unless asked for.
    """

    rows: Numbers
    banks: Numbers
    bits: Words
    nearly: Words
    candidates: Shorts
    tests: Words


class View(NamedTuple):
    """A board, the same within its frame, and its number among those that are matched together."""

    number: int
    states: States
    board: States


class Anchors(NamedTuple):
    """Cells `on` a board that are anchors of patterns, and the words around them.

    The words may be those of the board with the colours `swapped`.
    """

    on: View
    cells: Numbers
    words: Words
    swapped: bool


class Search(NamedTuple):
    """What is looked for: with `mends`, also candidates that fail one test that the board `after` passes."""

    tables: BoardTables
    rows: Rows
    mends: bool
    after: View


@compiled
def filter_candidates(boards: States, tables: BoardTables, rows: Rows) -> Units:
    """Filter the candidates of all rows on some boards: (board, cell).

    Where one board is the other with the colours exchanged, most is computed once.
    """
    units = no_units()
    swapped = len(boards) == 2 and _is_swapped(boards[0], boards[1])
    for number in range(1 if swapped else len(boards)):
        view = View(number, boards[number], framed(boards[number], tables, OFF_BOARD))
        last = len(boards) - 1
        other_view = View(last, boards[last], framed(boards[last], tables, OFF_BOARD)) if swapped else view
        search = Search(tables, rows, False, view)
        first = _pieces(signed(_FIRST_PIECE), swapped, search)
        second = _pieces(signed(_SECOND_PIECE), swapped, search)
        for kind in range(KINDS):
            if len(rows.of_kind[kind]) == 0:
                continue
            # What is the first player's on one board is the second player's on the other.
            if kind == _FIRST_PIECE:
                here, there = first, second
            elif kind == _SECOND_PIECE:
                here, there = second, first
            else:
                cells = anchors_on(view.states, tables.anchor_states[kind], kind == WHOLE_GRAPH)
                here = anchors_around(view, cells, search)
                there = here
            cells_there = there.cells if swapped else there.cells[:0]
            units = filter_kind(
                units, search, kind, here, Anchors(other_view, cells_there, there.words, True)
            )
    return units


@compiled
def filter_nearly(states: States, after: States, tables: BoardTables, rows: Rows) -> Units:
    """Filter on one board, and keep candidates that fail one test only, one that the states `after` pass."""
    units = no_units()
    view = View(0, states, framed(states, tables, OFF_BOARD))
    search = Search(tables, rows, True, View(0, after, framed(after, tables, _NO_STATE)))
    for kind in range(KINDS):
        cells = anchors_on(states, tables.anchor_states[kind], kind == WHOLE_GRAPH)
        if len(rows.of_kind[kind]) > 0 and len(cells) > 0:
            units = filter_kind(units, search, kind, anchors_around(view, cells, search), no_anchors(view))
    return units


@compiled
def _pieces(kind: int, swapped: bool, search: Search) -> Anchors:
    """Return a player's pieces as anchors if rows have such, or such of the other player if `swapped`."""
    of_kind, view = search.rows.of_kind, search.after
    if len(of_kind[kind]) == 0 and not (swapped and len(of_kind[1 - kind]) > 0):
        return no_anchors(view)
    cells = anchors_on(view.states, search.tables.anchor_states[kind], kind == WHOLE_GRAPH)
    return anchors_around(view, cells, search)


@compiled
def _is_swapped(first: States, second: States) -> bool:
    different = np.uint8(0)
    for cell in range(U(len(first))):
        state = first[cell]
        swapped = state & _NEITHER | (state & _FIRST) << _APART | (state & _SECOND) >> _APART
        different |= swapped ^ second[cell]
    return bool(different == 0)


@compiled
def no_units() -> Units:
    """Return units without any."""
    numbers, words = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64)
    return Units(numbers, numbers, words, words, np.empty((0, _CANDIDATE_COLUMNS), dtype=np.int16), words)


@compiled
def anchors_around(view: View, cells: Numbers, search: Search) -> Anchors:
    """Return cells of a board as anchors."""
    return Anchors(view, cells, words_around(view, cells, view.states[cells], search), False)


@compiled
def words_around(view: View, cells: Numbers, own: States, search: Search) -> Words:
    """Return the words of anchors that have certain states themselves (`banks.candidate_words`)."""
    places = framed_places(cells, search.tables)
    return candidate_words(view.board, own, places, search.rows.reach, search.tables)


@compiled
def no_anchors(view: View) -> Anchors:
    """Return anchors without any cells."""
    return Anchors(view, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64), False)


@compiled
def filter_kind(units: Units, search: Search, kind: int, anchors: Anchors, others: Anchors) -> Units:
    """Filter the rows of one kind around some anchors, and around others; there are no others if `mends`."""
    members, symmetries = search.rows.of_kind[kind], search.tables.images.shape[1]
    own_banks = banks_of(len(anchors.cells), symmetries)
    banks = own_banks + banks_of(len(others.cells), symmetries)
    first_bank = U(len(units.candidates) // BANK)
    candidates = _with_candidates(units.candidates, anchors, search.tables.columns, symmetries)
    candidates = _with_candidates(candidates, others, search.tables.columns, symmetries)
    size, end = U(table_size(search.tables)), U(len(units.rows))
    room = banks * U(len(members)) + U(1)
    # Numbers of units and words are written only so far as there are units: memory not written costs nothing.
    grown = Units(
        _larger(units.rows, end, end + room),
        _larger(units.banks, end, end + room),
        _with_room(units.bits, end, room, U(LANES)),
        _with_room(units.nearly, end, room, U(LANES)) if search.mends else units.nearly,
        candidates,
        _with_room(units.tests, first_bank, banks, size) if search.mends else aligned_words(size),
    )
    words_after, mended = anchors.words, grown.tests[:0]
    if search.mends:
        words_after = words_around(search.after, anchors.cells, search.after.states[anchors.cells], search)
        mended = aligned_words(size)
        mended[:] = NO_BITS
    for number in range(banks):
        bank = first_bank + number
        here, of_here = (anchors, number) if number < own_banks else (others, number - own_banks)
        table = grown.tests[bank * size : (bank + U(1)) * size] if search.mends else grown.tests
        table[len(table) - LANES :] = ALL_BITS
        here_banks = banks_of(len(here.cells), symmetries)
        write_tests(here.words, here_banks, of_here, search.rows.reach, table, here.swapped)
        first = end
        if search.mends:
            write_tests(words_after, here_banks, of_here, search.rows.reach, mended, here.swapped)
            for word in range(U(len(table) - LANES)):
                mended[word] &= ~table[word]
            end = _intersect_rows_nearly(table, mended, members, search.rows, grown, first)
        else:
            end = _intersect_rows(table, members, search.rows, grown, first)
        grown.banks[first:end] = bank
        for unit in range(first, end):
            if search.rows.unusual[U(grown.rows[unit])]:
                _drop_repeated(grown, search, unit, of_here, U(len(here.cells)))
                _pass_far_tests(grown, search, unit, here.on)
    kept_tests = grown.tests if search.mends else units.tests
    return Units(grown.rows[:end], grown.banks[:end], grown.bits, grown.nearly, candidates, kept_tests)


@compiled
def _with_candidates(candidates: Shorts, anchors: Anchors, columns: int, symmetries: int) -> Shorts:
    """Return the candidates, and behind them, from a bank's beginning on, those of more anchors."""
    cells, owner = anchors.cells, anchors.on.number
    if len(cells) == 0:
        return candidates
    end = len(candidates)
    extended = np.empty((end + signed(banks_of(len(cells), symmetries)) * BANK, _CANDIDATE_COLUMNS), np.int16)
    for candidate in range(U(end)):
        for field in range(U(_CANDIDATE_COLUMNS)):
            extended[candidate, field] = candidates[candidate, field]
    stride = stride_of(len(cells), symmetries)
    for number in range(U(len(cells))):
        row = cells[number] // columns
        column = cells[number] - row * columns
        for symmetry in range(U(symmetries)):
            candidate = U(end) + symmetry * stride + number
            extended[candidate, U(SYMMETRY)] = symmetry
            extended[candidate, U(ANCHOR_ROW)] = row
            extended[candidate, U(ANCHOR_COLUMN)] = column
            extended[candidate, U(OWNER)] = owner
    return extended


@compiled
def _larger(numbers: Numbers, used: int, capacity: int) -> Numbers:
    larger = np.empty(capacity, dtype=np.int32)
    for number in range(U(used)):
        larger[number] = numbers[number]
    return larger


@compiled
def _with_room(words: Words, used: int, more: int, size: int) -> Words:
    """Return a copy of the first `used` groups of words with room for more of them."""
    larger = aligned_words((used + more) * size)
    for word in range(U(used * size)):
        larger[word] = words[word]
    return larger


@compiled
def _intersect_rows(table: Words, members: Numbers, rows: Rows, units: Units, first: int) -> int:
    """Write, from unit `first` on, the rows that some candidate of a bank passes; return the end."""
    starts, stages, tests, unit_rows, bits = rows.starts, rows.stages, rows.tests, units.rows, units.bits
    end = first
    for place in range(U(len(members))):
        row = U(members[place])
        unit_rows[end] = row
        start = U(starts[row])
        # The first stage of all holds always.
        second = start + U(STAGE) if stages[row] > 1 else U(0)
        passed = both(_pass_four(table, tests, start), _pass_four(table, tests, second))
        store_bank(bits, end, passed)
        end += U(has_bits(passed))
    kept = first
    for unit in range(first, end):
        row = U(unit_rows[unit])
        unit_rows[kept] = row
        start, last = U(starts[row]), U(stages[row])
        third = start + U(2 * STAGE) if last > U(2) else U(0)
        passed = both(load_bank(bits, unit), _pass_four(table, tests, third))
        for stage in range(U(3), last):
            if not has_bits(passed):
                break
            passed = both(passed, _pass_four(table, tests, start + U(STAGE) * stage))
        store_bank(bits, kept, passed)
        kept += U(has_bits(passed))
    return kept


@compiled
def _pass_four(table: Words, tests: NDArray[np.uint16], start: int) -> Bank:
    """Return the candidates that pass the four tests from `start` on."""
    return both(
        both(load_bank(table, U(tests[start])), load_bank(table, U(tests[start + U(1)]))),
        both(load_bank(table, U(tests[start + U(2)])), load_bank(table, U(tests[start + U(3)]))),
    )


@compiled
def _intersect_rows_nearly(
    table: Words, mended: Words, members: Numbers, rows: Rows, units: Units, first: int
) -> int:
    """As `_intersect_rows`; candidates that fail one test only, one that `mended` has, stay in `nearly`."""
    everything = (ALL_BITS, ALL_BITS, ALL_BITS, ALL_BITS, ALL_BITS, ALL_BITS, ALL_BITS, ALL_BITS)
    nothing = (NO_BITS, NO_BITS, NO_BITS, NO_BITS, NO_BITS, NO_BITS, NO_BITS, NO_BITS)
    end = first
    for place in range(U(len(members))):
        row = U(members[place])
        units.rows[end] = row
        start, stages = U(rows.starts[row]), U(rows.stages[row])
        passed, nearly = everything, nothing
        for stage in range(stages):
            first_test = start + U(STAGE) * stage
            for number in range(first_test, first_test + U(STAGE)):
                test = U(rows.tests[number])
                holds = load_bank(table, test)
                nearly = either(both(nearly, holds), both(passed, load_bank(mended, test)))
                passed = both(passed, holds)
            if not has_bits(either(passed, nearly)):
                break
        store_bank(units.bits, end, passed)
        store_bank(units.nearly, end, nearly)
        end += U(has_bits(either(passed, nearly)))
    return end


@compiled
def _drop_repeated(units: Units, search: Search, unit: int, bank: int, anchors: int) -> None:
    """Remove the candidates under symmetries that give the image of an earlier one.

    The unit's bank has number `bank` among those of the anchors.
    """
    row = U(units.rows[unit])
    distinct = search.rows.distinct[row]
    if search.rows.far[row, U(IMAGES)] == len(distinct):
        return
    stride = stride_of(anchors, len(distinct))
    for lane in range(U(LANES)):
        first = bank * U(BANK) + lane * U(WORD)
        last = min(U(len(distinct)), (first + U(WORD - 1)) // stride + U(1))
        for symmetry in range(first // stride, last):
            if not distinct[symmetry]:
                low = max(symmetry * stride, first) - first
                high = min((symmetry + U(1)) * stride, first + U(WORD)) - first
                repeated = (ALL_BITS >> (U(WORD) - (high - low))) << low
                units.bits[U(LANES) * unit + lane] &= ~repeated
                if search.mends:
                    units.nearly[U(LANES) * unit + lane] &= ~repeated


@compiled
def _pass_far_tests(units: Units, search: Search, unit: int, view: View) -> None:
    """Remove the candidates of a unit that fail far tests; those that fail one test only stay in `nearly`."""
    row, bits, nearly = U(units.rows[unit]), units.bits, units.nearly
    if search.rows.far[row, U(FAR_COUNT)] == 0:
        return
    for lane in range(U(LANES)):
        at = U(LANES) * unit + lane
        word = bits[at] | nearly[at] if search.mends else bits[at]
        while word != NO_BITS:
            left = word & (word - ONE_BIT)
            mask = word ^ left
            candidate = U(units.banks[unit]) * U(BANK) + lane * U(WORD) + lowest_bit(word)
            failures = _far_failures(units.candidates[candidate], view, search, row)
            if failures > 0:
                if search.mends:
                    fails_one = failures == 1 and bits[at] & mask != NO_BITS
                    nearly[at] = nearly[at] | mask if fails_one else nearly[at] & ~mask
                bits[at] &= ~mask
            word = left


@compiled
def _far_failures(candidate: Shorts, view: View, search: Search, row: int) -> int:
    """Return 0 if all far tests hold, 1 if one fails that holds after a move, else 2."""
    rows = search.rows
    start, failures = rows.far[row, FAR_START], 0
    for far in range(start, start + rows.far[row, FAR_COUNT]):
        symmetry, anchor = candidate[SYMMETRY], (candidate[ANCHOR_ROW], candidate[ANCHOR_COLUMN])
        cell = far_cell(search.tables, rows, far, symmetry, anchor)
        code = rows.far_codes[far]
        state = view.states[cell] if cell >= 0 else OFF_BOARD
        if state & code == 0:
            if failures > 0 or cell < 0 or search.after.states[cell] & code == 0:
                return 2
            failures = 1
    return failures


@compiled
def far_cell(tables: BoardTables, rows: Rows, far: int, symmetry: int, anchor: tuple[int, int]) -> int:
    """Return the cell at which a far test looks, -1 beyond the board's edge; the anchor is (row, column)."""
    down, right = signed(rows.far_offsets[far, 0]), signed(rows.far_offsets[far, 1])
    turn = tables.matrices[symmetry]
    row = signed(anchor[0]) + turn[0, 0] * down + turn[0, 1] * right
    column = signed(anchor[1]) + turn[1, 0] * down + turn[1, 1] * right
    if 0 <= row < tables.rows and 0 <= column < tables.columns:
        return signed(row * tables.columns + column)
    return signed(-1)
