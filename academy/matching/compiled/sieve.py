"""Which candidates of which rows are left, once all tests were made.

Every row is met with the tables of all banks (see `meeting`). On request candidates that fail one test only
are kept too: those that a move may mend.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.meeting import met_by_two, met_rows
from academy.matching.compiled.table import (
    ALL_BITS,
    BANK,
    NO_BITS,
    ONE_BIT,
    WORD,
    Numbers,
    States,
    U,
    Words,
    aligned_words,
    anchors_on,
    banks_of,
    candidate_words,
    framed,
    framed_places,
    signed,
    stride_of,
    table_size,
    tests_of_bank,
)
from academy.matching.compiled.vectors import LANES, lowest_bit
from academy.matching.ground import BoardTables
from academy.matching.rows import FAR_COUNT, FAR_START, IMAGES, Rows

KINDS: Final = 4
WHOLE_GRAPH: Final = 3
OFF_BOARD: Final = 32
# Columns of a candidate. It belongs to a board or, where a move brings its anchor, to a move.
SYMMETRY, ANCHOR_ROW, ANCHOR_COLUMN, OWNER = range(4)
_CANDIDATE_COLUMNS: Final = 4
_NO_STATE: Final = 0

Shorts = NDArray[np.int16]
Flags = NDArray[np.bool_]


class Units(NamedTuple):
    """What is left in the sieve: a *unit* is a row with its candidates in one bank.

    `rows`, `banks` and `bits` (a bank each) are those of the units. Bank b holds the candidates from
    `b * BANK` on. `nearly` are the candidates that fail one test only, and `tables` those of the banks, for
    who asks where it failed; both are empty unless asked for.
    """

    rows: Numbers
    banks: Numbers
    bits: Words
    nearly: Words
    candidates: Shorts
    tables: Words


class View(NamedTuple):
    """A board, the same within its frame, and its number among those that are asked about together."""

    number: int
    states: States
    board: States


class Anchors(NamedTuple):
    """Cells `on` a board to hang patterns on, and the words around them.

    The words may be those of the board with the colours `swapped`.
    """

    on: View
    cells: Numbers
    words: Words
    swapped: bool


@compiled
def nearly_sifted(states: States, after: States, ground: BoardTables, rows: Rows) -> Units:
    """Sieve all rows on one board; tell, too, which candidates fail one test that the states `after` pass."""
    units = no_units()
    view = View(0, states, framed(states, ground, OFF_BOARD))
    view_after = View(0, after, framed(after, ground, _NO_STATE))
    mended = aligned_words(table_size(ground))
    mended[:] = NO_BITS
    for kind in range(KINDS):
        cells = anchors_on(states, ground.anchor_states[kind], kind == WHOLE_GRAPH)
        if len(rows.of_kind[kind]) > 0 and len(cells) > 0:
            anchors = anchors_around(view, cells, ground, rows)
            units = with_kind(units, anchors, no_anchors(view), view_after, mended, ground, rows, kind)
    return units


@compiled
def no_units() -> Units:
    """Return units without any."""
    numbers, words = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64)
    return Units(numbers, numbers, words, words, np.empty((0, _CANDIDATE_COLUMNS), dtype=np.int16), words)


@compiled
def with_kind(
    units: Units,
    anchors: Anchors,
    others: Anchors,
    after: View,
    mended: Words | None,
    ground: BoardTables,
    rows: Rows,
    kind: int,
) -> Units:
    """Sieve the rows of one kind around some anchors, and around others.

    Unless `mended` is None, tell what fails one test that `after` passes; `mended` is the table for that, and
    there are no others.
    """
    members, symmetries = rows.of_kind[kind], ground.images.shape[1]
    own_banks = banks_of(len(anchors.cells), symmetries)
    banks = own_banks + banks_of(len(others.cells), symmetries)
    first_bank = U(len(units.candidates) // BANK)
    candidates = _with_candidates(units.candidates, anchors, ground.columns, symmetries)
    candidates = _with_candidates(candidates, others, ground.columns, symmetries)
    size = U(table_size(ground))
    if mended is None:
        words_after, tables, nearly = anchors.words, aligned_words(U(2) * size), units.nearly
    else:
        words_after = words_around(after, anchors.cells, after.states[anchors.cells], ground, rows)
        tables = _with_room(units.tables, first_bank, banks, size)
        nearly = units.nearly
    unit_rows, unit_banks, bits = units.rows, units.banks, units.bits
    end, capacity = U(len(unit_rows)), U(0)
    number = U(0)
    while number < banks:
        bank = first_bank + number
        if end + U(2 * len(members)) > capacity:
            room = end + U(2 * len(members))
            capacity = end + room
            unit_rows, unit_banks = _larger(unit_rows, end, capacity), _larger(unit_banks, end, capacity)
            bits = _with_room(bits, end, room, U(LANES))
            if mended is not None:
                nearly = _with_room(nearly, end, room, U(LANES))
        if mended is None:
            table, next_table = tables[:size], tables[size:]
        else:
            table = tables[bank * size : (bank + U(1)) * size]
            next_table = table
        _write_table(table, anchors, others, own_banks, number, rows.reach, symmetries)
        if mended is None and number + U(1) < banks:
            _write_table(next_table, anchors, others, own_banks, number + U(1), rows.reach, symmetries)
            middle, last = met_by_two(table, next_table, members, rows, unit_rows, bits, end)
            met = U(2)
        else:
            _tests_mended(words_after, banks, number, rows.reach, table, mended)
            middle = met_rows(table, mended, members, rows, unit_rows, bits, nearly, end)
            last, met = middle, U(1)
        for at in range(number, number + met):
            first, stop = (end, middle) if at == number else (middle, last)
            unit_banks[first:stop] = first_bank + at
            here, of_here = (anchors, at) if at < own_banks else (others, at - own_banks)
            units_of_bank = (first, stop, of_here, first_bank + at)
            _settle(unit_rows, bits, nearly, units_of_bank, candidates, here, after, mended, ground, rows)
        end = last
        number += met
    if mended is None:
        tables = units.tables
    return Units(unit_rows[:end], unit_banks[:end], bits, nearly, candidates, tables)


@compiled
def _settle(
    unit_rows: Numbers,
    bits: Words,
    nearly: Words,
    units_of_bank: tuple[int, int, int, int],
    candidates: Shorts,
    anchors: Anchors,
    after: View,
    mended: Words | None,
    ground: BoardTables,
    rows: Rows,
) -> None:
    """Take out of units what repeats an earlier image or fails a far test.

    They are the first one, the one behind the last, their bank's number among the anchors', and among all.
    """
    symmetries, unusual = ground.images.shape[1], rows.unusual
    first, stop, of_anchors, bank = units_of_bank
    for unit in range(first, stop):
        row = U(unit_rows[unit])
        if unusual[row]:
            if rows.far[row, U(IMAGES)] < symmetries:
                _drop_repeated(bits, unit, of_anchors, U(len(anchors.cells)), rows.distinct[row])
                if mended is not None:
                    _drop_repeated(nearly, unit, of_anchors, U(len(anchors.cells)), rows.distinct[row])
            if rows.far[row, U(FAR_COUNT)] > 0:
                _far_tests(bits, nearly, unit, bank, candidates, anchors.on, after, mended, ground, rows, row)


@compiled
def _write_table(
    table: Words, anchors: Anchors, others: Anchors, own_banks: int, number: int, reach: int, symmetries: int
) -> None:
    """Write the table of one of the banks of some anchors and others."""
    here, bank = (anchors, number) if number < own_banks else (others, number - own_banks)
    table[len(table) - LANES :] = ALL_BITS
    tests_of_bank(here.words, banks_of(len(here.cells), symmetries), bank, reach, table, here.swapped)


@compiled
def words_around(view: View, cells: Numbers, own: States, ground: BoardTables, rows: Rows) -> Words:
    """Return the words of anchors that have certain states themselves (`table.candidate_words`)."""
    return candidate_words(view.board, own, framed_places(cells, ground), rows.reach, ground)


@compiled
def anchors_around(view: View, cells: Numbers, ground: BoardTables, rows: Rows) -> Anchors:
    """Return cells of a board as anchors."""
    return Anchors(view, cells, words_around(view, cells, view.states[cells], ground, rows), False)


@compiled
def no_anchors(view: View) -> Anchors:
    """Return anchors without any cells."""
    return Anchors(view, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64), False)


@compiled
def _tests_mended(
    words_after: Words, banks: int, bank: int, reach: int, table: Words, mended: Words | None
) -> None:
    """Write the bank of each test that fails now and holds after a move."""
    if mended is None:
        return
    tests_of_bank(words_after, banks, bank, reach, mended, False)
    for word in range(U(len(table) - LANES)):
        mended[word] &= ~table[word]


@compiled
def _with_candidates(candidates: Shorts, anchors: Anchors, columns: int, symmetries: int) -> Shorts:
    """Return the candidates, and behind them, from a bank's beginning on, those of more anchors."""
    cells, owner = anchors.cells, anchors.on.number
    if len(cells) == 0:
        return candidates
    end = len(candidates)
    found = np.empty((end + signed(banks_of(len(cells), symmetries)) * BANK, _CANDIDATE_COLUMNS), np.int16)
    found[:end] = candidates
    stride = stride_of(len(cells), symmetries)
    for number in range(U(len(cells))):
        row = cells[number] // columns
        column = cells[number] - row * columns
        for symmetry in range(U(symmetries)):
            candidate = U(end) + symmetry * stride + number
            found[candidate, U(SYMMETRY)] = symmetry
            found[candidate, U(ANCHOR_ROW)] = row
            found[candidate, U(ANCHOR_COLUMN)] = column
            found[candidate, U(OWNER)] = owner
    return found


@compiled
def _larger(numbers: Numbers, used: int, capacity: int) -> Numbers:
    found = np.empty(capacity, dtype=np.int32)
    found[:used] = numbers[:used]
    return found


@compiled
def _with_room(words: Words, used: int, more: int, size: int) -> Words:
    """Return a copy of the first `used` groups of words with room for more of them."""
    found = aligned_words((used + more) * size)
    found[: used * size] = words[: used * size]
    return found


@compiled
def _drop_repeated(bits: Words, unit: int, bank: int, anchors: int, distinct: Flags) -> None:
    """Take out the candidates under symmetries that give the image of an earlier one."""
    stride = stride_of(anchors, len(distinct))
    for lane in range(U(LANES)):
        first = bank * U(BANK) + lane * U(WORD)
        last = min(U(len(distinct)), (first + U(WORD - 1)) // stride + U(1))
        for symmetry in range(first // stride, last):
            if not distinct[symmetry]:
                low = max(symmetry * stride, first) - first
                high = min((symmetry + U(1)) * stride, first + U(WORD)) - first
                bits[U(LANES) * unit + lane] &= ~((ALL_BITS >> (U(WORD) - (high - low))) << low)


@compiled
def _far_tests(
    bits: Words,
    nearly: Words,
    unit: int,
    bank: int,
    candidates: Shorts,
    view: View,
    after: View,
    mended: Words | None,
    ground: BoardTables,
    rows: Rows,
    row: int,
) -> None:
    """Let the far tests of a unit's candidates decide which hold and which fail one test only."""
    for lane in range(U(LANES)):
        at = U(LANES) * unit + lane
        word = bits[at] if mended is None else bits[at] | nearly[at]
        while word != NO_BITS:
            left = word & (word - ONE_BIT)
            mask = word ^ left
            candidate = bank * U(BANK) + lane * U(WORD) + lowest_bit(word)
            failures = _far_failures(candidates[candidate], view, after, ground, rows, row)
            if failures > 0:
                if mended is not None:
                    fails_one = failures == 1 and bits[at] & mask != NO_BITS
                    nearly[at] = nearly[at] | mask if fails_one else nearly[at] & ~mask
                bits[at] &= ~mask
            word = left


@compiled
def _far_failures(
    candidate: Shorts, view: View, after: View, ground: BoardTables, rows: Rows, row: int
) -> int:
    """Return 0 if all far tests hold, 1 if one fails that holds after a move, else 2."""
    start, failures = rows.far[row, FAR_START], 0
    for far in range(start, start + rows.far[row, FAR_COUNT]):
        cell = far_cell(
            ground, rows, far, candidate[SYMMETRY], candidate[ANCHOR_ROW], candidate[ANCHOR_COLUMN]
        )
        code = rows.far_codes[far]
        state = view.states[cell] if cell >= 0 else np.uint8(OFF_BOARD)
        if state & code == 0:
            if failures > 0 or cell < 0 or after.states[cell] & code == 0:
                return 2
            failures = 1
    return failures


@compiled
def far_cell(
    ground: BoardTables, rows: Rows, far: int, symmetry: int, anchor_row: int, anchor_column: int
) -> int:
    """Return the cell of the board at which a far test looks, -1 beyond its edge."""
    down, right = signed(rows.far_offsets[far, 0]), signed(rows.far_offsets[far, 1])
    turn = ground.matrices[symmetry]
    row = signed(anchor_row) + turn[0, 0] * down + turn[0, 1] * right
    column = signed(anchor_column) + turn[1, 0] * down + turn[1, 1] * right
    if 0 <= row < ground.rows and 0 <= column < ground.columns:
        return signed(row * ground.columns + column)
    return signed(-1)
