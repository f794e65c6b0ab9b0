"""All placements of a library's patterns on a board.

Every row is met with the table four tests at a time; only rows for which a candidate is left are met
with the next four, by lists that are written without a branch. What is left is told in the order asked for.
"""

from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from academy.matching.compiled.compiling import compiled
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
    signed,
    tests_of_quad,
)
from academy.matching.compiled.vectors import bits_set, keep, lowest_bit, meet
from academy.matching.ground import Ground
from academy.matching.rows import FAR_COUNT, FAR_START, IMAGES, STAGE, Rows

KINDS: Final = 4
WHOLE_GRAPH: Final = 3
OFF_BOARD: Final = 32
# Columns of a link of units.
FIRST, NEXT = range(2)
# Columns of a candidate.
SYMMETRY, ANCHOR_ROW, ANCHOR_COLUMN = range(3)
ALL_BITS: Final = cast(int, np.uint64(0xFFFFFFFFFFFFFFFF))
NO_BITS: Final = cast(int, np.uint64(0))
ONE_BIT: Final = cast(int, np.uint64(1))
_DENSE_STAGES: Final = 3
_FIRST_CAPACITY: Final = 1024

Shorts = NDArray[np.int16]
Flags = NDArray[np.bool_]
Found = tuple[Numbers, Shorts, Shorts, Shorts, int]


class Units(NamedTuple):
    """What is left in the sieve: a *unit* is a row with its candidates in one quad.

    `rows` and `bits` (a quad each) are those of the units; `links` name the first candidate of a unit's
    quad and the next unit of its row, -1 at the end. `of_row` is the first unit of each row.
    """

    rows: Numbers
    bits: Words
    links: Numbers
    of_row: Numbers
    candidates: Shorts


@compiled
def find(states: States, ground: Ground, rows: Rows, order: Numbers, wanted: Flags, most: int) -> Found:
    """Return the matches: place in `order`, symmetry, row and column of each, and how many there are in all.

    Rows come as in `order`, without those that are not `wanted` (all are if that is empty).
    """
    units = sifted(states, ground, rows)
    used = units.bits[: LANES * len(units.rows)]
    return told(units.of_row, used, units.links, units.candidates, rows.anchors, order, wanted, U(most))


@compiled
def told(
    of_row: Numbers,
    bits: Words,
    links: Numbers,
    candidates: Shorts,
    anchors: Shorts,
    order: Numbers,
    wanted: Flags,
    size: int,
) -> Found:
    """Tell the first `size` matches that units hold, and how many there are (see `find`).

    What a branch depends on here is as good as random, and guessing wrong costs more than all else: the
    words that hold a match are listed without one first.
    """
    listed = U(0)
    total = U(0)
    words = np.empty(len(bits) + LANES, dtype=np.uint64)
    firsts = np.empty(len(words), dtype=np.int32)
    word_places = np.empty(len(words), dtype=np.int32)
    for place in range(U(len(order))):
        unit = of_row[U(order[place])]
        if unit < 0 or (len(wanted) > 0 and not wanted[place]):
            continue
        while unit >= 0:
            at = U(unit)
            first = U(links[at, U(FIRST)])
            for lane in range(U(LANES)):
                word = bits[U(LANES) * at + lane]
                words[listed] = word
                firsts[listed] = first + lane * U(WORD)
                word_places[listed] = place
                listed += U(word != NO_BITS)
                total += bits_set(word)
            unit = links[at, U(NEXT)]
    size = min(size, total)
    places = np.empty(size, dtype=np.int32)
    symmetries = np.empty(size, dtype=np.int16)
    image_rows = np.empty(size, dtype=np.int16)
    image_columns = np.empty(size, dtype=np.int16)
    written, number = U(0), U(0)
    while written < size:
        word, first, place = words[number], U(firsts[number]), U(word_places[number])
        row = U(order[place])
        number += U(1)
        if written + bits_set(word) > size:
            word = lowest_bits(word, size - written)
        while word != NO_BITS:
            candidate = first + lowest_bit(word)
            word &= word - ONE_BIT
            symmetry = U(candidates[candidate, U(SYMMETRY)])
            places[written] = place
            symmetries[written] = symmetry
            image_rows[written] = candidates[candidate, U(ANCHOR_ROW)] - anchors[row, symmetry, U(0)]
            image_columns[written] = candidates[candidate, U(ANCHOR_COLUMN)] - anchors[row, symmetry, U(1)]
            written += U(1)
    return places, symmetries, image_rows, image_columns, signed(total)


@compiled
def bits_in(bits: Words, units: int) -> int:
    """Return how many bits the first units have."""
    count = U(0)
    for word in range(U(LANES) * units):
        count += bits_set(bits[word])
    return count


@compiled
def lowest_bits(word: int, count: int) -> int:
    """Return only the lowest bits of a word that has more."""
    left = word
    for _ in range(count):
        left &= left - ONE_BIT
    return word ^ left


@compiled
def drop_far(
    bits: Words,
    unit: int,
    first: int,
    candidates: Shorts,
    states: States,
    ground: Ground,
    rows: Rows,
    row: int,
) -> None:
    """Take out the candidates of a unit around which a far test fails."""
    for lane in range(LANES):
        word = bits[LANES * unit + lane]
        while word != NO_BITS:
            bit = signed(lowest_bit(word))
            candidate = candidates[first + lane * WORD + bit]
            if not far_tests_hold(
                states,
                ground,
                rows,
                row,
                candidate[SYMMETRY],
                candidate[ANCHOR_ROW],
                candidate[ANCHOR_COLUMN],
            ):
                bits[LANES * unit + lane] ^= ONE_BIT << U(bit)
            word &= word - ONE_BIT


@compiled
def sifted(states: States, ground: Ground, rows: Rows) -> Units:
    """Sieve all rows."""
    board = framed(states, ground, OFF_BOARD)
    units = no_units(rows)
    for kind in range(KINDS):
        if len(rows.of_kind[kind]) > 0:
            cells = anchors_on(states, ground.anchor_states[kind], kind == WHOLE_GRAPH)
            if len(cells) > 0:
                units = with_kind(units, board, states, cells, states[cells], ground, rows, kind)
    return units


@compiled
def no_units(rows: Rows) -> Units:
    """Return units without any."""
    nothing = np.empty(0, dtype=np.int32)
    bits = np.empty(0, dtype=np.uint64)
    links = np.empty((0, 2), dtype=np.int32)
    of_row = np.full(len(rows.starts), -1, dtype=np.int32)
    return Units(nothing, bits, links, of_row, np.empty((0, 3), dtype=np.int16))


@compiled
def with_kind(
    units: Units,
    board: States,
    states: States,
    cells: Numbers,
    own: States,
    ground: Ground,
    rows: Rows,
    kind: int,
) -> Units:
    """Sieve the rows of one kind around anchors on some cells, which have the states `own`."""
    members, symmetries = rows.of_kind[kind], ground.images.shape[1]
    words = candidate_words(board, own, framed_places(cells, ground), rows.reach, ground)
    first = len(units.candidates)
    candidates = with_candidates(units.candidates, cells, ground.columns, symmetries)
    table = empty_table(ground, ALL_BITS)
    end = len(units.rows)
    capacity = end + len(members)
    unit_rows, bits, links = larger_units(units.rows, units.bits, units.links, end, capacity)
    quads = quads_of(len(cells) * symmetries)
    # From the last to the first, as chains grow at their beginning.
    for quad in range(quads - 1, -1, -1):
        tests_of_quad(words, quads, quad, rows.reach, table)
        if end + len(members) > capacity:
            capacity = 2 * (end + len(members))
            unit_rows, bits, links = larger_units(unit_rows, bits, links, end, capacity)
        new_end = met_rows(table, members, rows, unit_rows, bits, end)
        for unit in range(U(end), U(new_end)):
            row = U(unit_rows[unit])
            if rows.far[row, U(IMAGES)] < symmetries:
                drop_repeated(bits, unit, U(quad), U(len(cells)), rows.distinct[row])
            if rows.far[row, U(FAR_COUNT)] > 0:
                drop_far(bits, unit, first + quad * QUAD, candidates, states, ground, rows, row)
            links[unit, U(FIRST)] = first + quad * QUAD
            links[unit, U(NEXT)] = units.of_row[row]
            units.of_row[row] = unit
        end = new_end
    return Units(unit_rows[:end], bits, links, units.of_row, candidates)


@compiled
def empty_table(ground: Ground, always: int) -> Words:
    """Return a table of which only the test after all others is written."""
    table = np.empty((len(ground.images) * CODES + 1) * LANES, dtype=np.uint64)
    table[len(table) - LANES :] = always
    return table


@compiled
def with_candidates(candidates: Shorts, cells: Numbers, columns: int, symmetries: int) -> Shorts:
    """Return the candidates, and behind them those of more anchors: symmetry, row and column of each."""
    end = len(candidates)
    found = np.empty((end + len(cells) * symmetries, 3), dtype=np.int16)
    found[:end] = candidates
    for number in range(len(cells)):
        row = cells[number] // columns
        column = cells[number] - row * columns
        for symmetry in range(symmetries):
            found[end + symmetry * len(cells) + number, SYMMETRY] = symmetry
            found[end + symmetry * len(cells) + number, ANCHOR_ROW] = row
            found[end + symmetry * len(cells) + number, ANCHOR_COLUMN] = column
    return found


@compiled
def met_rows(table: Words, members: Numbers, rows: Rows, unit_rows: Numbers, bits: Words, first: int) -> int:
    """Write, from unit `first` on, the rows that some candidate of a quad passes; return the end."""
    starts, stages, tests = rows.starts, rows.stages, rows.tests
    end = U(first)
    for place in range(U(len(members))):
        row = U(members[place])
        unit_rows[end] = row
        end += meet(table, tests, U(starts[row]), bits, end)
    for stage in range(U(1), U(_DENSE_STAGES)):
        kept = U(first)
        for unit in range(U(first), end):
            row = U(unit_rows[unit])
            unit_rows[kept] = row
            # The first stage of all holds always.
            start = U(starts[row]) + U(STAGE) * stage if stage < U(stages[row]) else U(0)
            kept += keep(table, tests, start, bits, kept, unit)
        end = kept
    kept = U(first)
    for unit in range(U(first), end):
        row = U(unit_rows[unit])
        unit_rows[kept] = row
        start, last = U(starts[row]), U(stages[row])
        following = start + U(STAGE * _DENSE_STAGES) if last > U(_DENSE_STAGES) else U(0)
        holds = keep(table, tests, following, bits, kept, unit)
        for stage in range(U(_DENSE_STAGES + 1), last):
            if holds == 0:
                break
            holds = keep(table, tests, start + U(STAGE) * stage, bits, kept, kept)
        kept += holds
    return signed(kept)


@compiled
def larger_units(
    rows: Numbers, bits: Words, links: Numbers, used: int, capacity: int
) -> tuple[Numbers, Words, Numbers]:
    """Return copies of the units with room for more."""
    more_rows = np.empty(capacity, dtype=np.int32)
    more_rows[:used] = rows[:used]
    more_bits = np.empty(LANES * capacity, dtype=np.uint64)
    more_bits[: LANES * used] = bits[: LANES * used]
    more_links = np.empty((capacity, 2), dtype=np.int32)
    more_links[:used] = links[:used]
    return more_rows, more_bits, more_links


@compiled
def drop_repeated(bits: Words, unit: int, quad: int, anchors: int, distinct: Flags) -> None:
    """Take out the candidates under symmetries that give the image of an earlier one."""
    for lane in range(U(LANES)):
        first = quad * U(QUAD) + lane * U(WORD)
        last = min(U(len(distinct)), (first + U(WORD - 1)) // anchors + U(1))
        for symmetry in range(first // anchors, last):
            if not distinct[symmetry]:
                low = max(symmetry * anchors, first) - first
                high = min((symmetry + U(1)) * anchors, first + U(WORD)) - first
                bits[U(LANES) * unit + lane] &= ~((ALL_BITS >> (U(WORD) - (high - low))) << low)


@compiled
def far_tests_hold(
    states: States,
    ground: Ground,
    rows: Rows,
    row: int,
    symmetry: int,
    anchor_row: int,
    anchor_column: int,
) -> bool:
    """Whether a board has what a pattern wants beyond the table's offsets."""
    start = rows.far[row, U(FAR_START)]
    for far in range(start, start + rows.far[row, U(FAR_COUNT)]):
        cell = far_cell(ground, rows, far, symmetry, anchor_row, anchor_column)
        state = states[cell] if cell >= 0 else np.uint8(OFF_BOARD)
        if state & rows.far_codes[far] == 0:
            return False
    return True


@compiled
def far_cell(ground: Ground, rows: Rows, far: int, symmetry: int, anchor_row: int, anchor_column: int) -> int:
    """Return the cell of the board at which a far test looks, -1 beyond its edge."""
    down, right = signed(rows.far_offsets[far, 0]), signed(rows.far_offsets[far, 1])
    turn = ground.matrices[symmetry]
    row = signed(anchor_row) + turn[0, 0] * down + turn[0, 1] * right
    column = signed(anchor_column) + turn[1, 0] * down + turn[1, 1] * right
    if 0 <= row < ground.rows and 0 <= column < ground.columns:
        return signed(row * ground.columns + column)
    return signed(-1)
