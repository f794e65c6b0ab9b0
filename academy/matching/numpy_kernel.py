"""The kernel in NumPy: the reference, and the one in use where Numba is not installed (see `kernels`).

All patterns are tested at once. For every test there is a table of the anchors of the board around which it
holds: anchors are numbered row by row, 64 to a machine word, and bit b of word w stands for anchor 64·w +
b. The first stages of all rows are computed densely; then only those (row, symmetry, word) that still have
an anchor.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.anchoring import TESTED_CODES
from academy.matching.board_tables import AnchorKind, BoardTables
from academy.matching.matches import Matches, MatchLimits, RankedRows, join_matches
from academy.matching.rows import CODES, FAR_COUNT, FAR_START, STAGE, Rows, ranges
from academy.matching.successors import BoardChanges, Successors

_WORD: Final = 64
_MAX_TABLE_BYTES: Final = 1 << 25
_EACH_STATE: Final = np.array(State, dtype=np.uint8)
_STATES_OF_CODE: Final = [np.flatnonzero(_EACH_STATE & code).tolist() for code in TESTED_CODES]
_ALL_BITS: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_DENSE_STAGES: Final = 2
_BYTE: Final = 8
_MAX_DENSE_WORDS: Final = 1 << 16
_MAX_FAR_TESTS: Final = 1 << 20
_MAX_PLACES_OF_A_SHORT: Final = 1 << 16

Numbers = NDArray[np.int64]


class _Units(NamedTuple):
    """Rows with those anchors of one word, numbered on the board, around which they hold under a symmetry."""

    rows: Numbers
    symmetries: Numbers
    words: Numbers
    bits: NDArray[np.uint64]
    kinds: Numbers

    def take(self, which: Numbers) -> "_Units":
        """Return some units."""
        return _Units._make(column.take(which) for column in self)


def match(boards: NDArray[np.uint8], library: RankedRows, limits: MatchLimits) -> Matches:
    """Return the matches on some boards, (board, cell), as `kernels.MatchFunction` says."""
    library = _place_wanted(library)
    answers = [_match_board(states, library, limits) for states in boards]
    if len(answers) == 1:
        return answers[0]
    matches = join_matches(answers)
    on_second = np.arange(matches.listed) >= answers[0].listed
    order = np.argsort(matches.places, kind="stable")[: limits.total]
    return matches._replace(reversed=on_second).select(order, matches.total)


def _place_wanted(library: RankedRows) -> RankedRows:
    """Return the library in which only rows that are wanted have a place."""
    places, wanted = library.ranking.places, library.wanted
    if not len(wanted):
        return library
    places = np.where((places >= 0) & wanted.take(places, mode="clip"), places, -1)
    return library._replace(ranking=library.ranking._replace(places=places))


def _match_board(states: NDArray[np.uint8], library: RankedRows, limits: MatchLimits) -> Matches:
    kinds = range(len(library.rows.of_kind))
    cells_of = [_anchors_on(states, library.tables, kind) for kind in kinds]
    return _list_matches(_find_units(states, cells_of, library), cells_of, library, limits)


def _find_units(states: NDArray[np.uint8], cells_of: list[Numbers], library: RankedRows) -> _Units:
    """Return what holds on a board around these cells, by kind, in the order of the ranking."""
    tables, rows, place_of_row = library.tables, library.rows, library.ranking.places
    board = _frame(states, tables)
    units = _join_units(
        [
            _filter_kind(board, cells_of[kind], tables, rows, kind)
            for kind, members in enumerate(rows.of_kind)
            if len(members) and len(cells_of[kind])
        ]
    )
    places = place_of_row.take(units.rows)
    # The units of a row are in order already, and short numbers are sorted much faster; -1 comes last.
    keys = (
        places.astype(np.uint16) if len(place_of_row) < _MAX_PLACES_OF_A_SHORT else places.astype(np.uint32)
    )
    wanted = np.argsort(keys, kind="stable")[: np.count_nonzero(places >= 0)]
    return _pass_far_tests(units.take(wanted), cells_of, states, tables, rows)


def _list_matches(
    units: _Units, cells_of: list[Numbers], library: RankedRows, limits: MatchLimits
) -> Matches:
    """Return the first matches of some units within the limits."""
    tables, rows = library.tables, library.rows
    counts = np.bitwise_count(units.bits).astype(np.int64)
    total = int(counts.sum())
    kept = counts if limits.per_pattern >= total else _count_listed(units.rows, counts, limits.per_pattern)
    needed = np.flatnonzero((kept > 0) & (np.cumsum(kept) - kept < limits.total))
    units, counts = units.take(needed), counts.take(needed)
    which, anchor_rows, anchor_columns = _locate_bits(units, cells_of, tables)
    within = np.arange(len(which)) - (np.cumsum(counts) - counts).take(which)
    listed = np.flatnonzero(within < kept.take(needed).take(which))[: limits.total]
    which, anchor_rows, anchor_columns = (
        numbers.take(listed) for numbers in (which, anchor_rows, anchor_columns)
    )
    matched, symmetries = units.rows.take(which), units.symmetries.take(which)
    _, images, axes = rows.anchors.shape
    anchors = rows.anchors.reshape(-1, axes).take(matched * images + symmetries, axis=0)
    return Matches(
        library.ranking.pattern_ids,
        library.ranking.places.take(matched),
        symmetries.astype(np.int32),
        (anchor_rows - anchors[:, 0]).astype(np.int32),
        (anchor_columns - anchors[:, 1]).astype(np.int32),
        np.zeros(len(which), dtype=np.bool_),
        total,
    )


def _count_listed(rows: Numbers, counts: Numbers, per_pattern: int) -> Numbers:
    """Return how many bits of each unit are listed, at most `per_pattern` of a row."""
    before = np.cumsum(counts) - counts
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    of_row_before = before - np.repeat(before.take(firsts), np.diff(firsts, append=len(rows)))
    kept: Numbers = np.clip(per_pattern - of_row_before, 0, counts)
    return kept


def _join_units(parts: list[_Units]) -> _Units:
    numbers, bits = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    nothing = _Units(numbers, numbers, numbers, bits, numbers)
    return _Units(*(np.concatenate(columns) for columns in zip(nothing, *parts, strict=True)))


def _locate_bits(
    units: _Units, cells_of: list[Numbers], tables: BoardTables
) -> tuple[Numbers, Numbers, Numbers]:
    """Return, for each bit, its unit and the row and column of its anchor."""
    in_bytes = units.bits.astype("<u8", copy=False).view(np.uint8)
    used = np.flatnonzero(in_bytes != 0)
    each_bit = np.flatnonzero(np.unpackbits(in_bytes.take(used), bitorder="little"))
    bits = (used * _BYTE).take(each_bit // _BYTE) + each_bit % _BYTE
    which = bits // _WORD
    first_cells = np.cumsum([0] + [len(cells) for cells in cells_of])
    first_bits = first_cells.take(units.kinds) + (units.words - np.arange(len(units.words))) * _WORD
    numbers = bits + first_bits.take(which)
    anchor_rows, anchor_columns = np.divmod(np.concatenate(cells_of), tables.columns)
    return which, anchor_rows.take(numbers), anchor_columns.take(numbers)


def _filter_kind(
    board: NDArray[np.uint8], cells: Numbers, tables: BoardTables, rows: Rows, kind: int
) -> _Units:
    members = rows.of_kind[kind]
    parts = []
    first_word = 0
    for table in _test_tables(board, cells, tables, rows.reach):
        _, symmetries, words = table.shape
        at_once = max(1, _MAX_DENSE_WORDS // (symmetries * words))
        for begin in range(0, len(members), at_once):
            row, lane, bits = _filter_rows(table, rows, members[begin : begin + at_once])
            symmetry, word = np.divmod(lane, words)
            parts.append(_Units(row, symmetry, word + first_word, bits, np.full(len(row), kind)))
        first_word += words
    units = _join_units(parts)
    if first_word == words:
        return units
    return units.take(np.lexsort((units.words, units.symmetries, units.rows)))


def _filter_rows(
    table: NDArray[np.uint64], rows: Rows, members: NDArray[np.int32]
) -> tuple[Numbers, Numbers, NDArray[np.uint64]]:
    """Return the rows, lanes (symmetry and word) and bits that are left, in order."""
    tests, symmetries, words = table.shape
    lanes = symmetries * words
    by_test = table.reshape(tests, lanes)
    flat = table.reshape(-1)
    starts, stages = rows.starts.take(members), rows.stages.take(members)

    # `take` is several times as fast as indexing with an array, and copies once more where it may complain.
    dense = by_test.take(rows.tests.take(starts), axis=0)
    held = np.empty_like(dense)
    for stage in range(_DENSE_STAGES):
        # The first stage of all holds always.
        first = np.where(stages > stage, starts + stage * STAGE, 0)
        for place in range(1 if stage == 0 else 0, STAGE):
            by_test.take(rows.tests.take(first + place), axis=0, out=held, mode="clip")
            dense &= held
    alive = np.flatnonzero(dense != 0)
    bits = dense.reshape(-1).take(alive)
    row, lane = np.divmod(alive, lanes)
    distinct = rows.distinct.reshape(-1).take(members.take(row) * np.int64(symmetries) + lane // words)
    row, lane, bits = row[distinct], lane[distinct], bits[distinct]

    stage = _DENSE_STAGES
    tested = np.flatnonzero(stages.take(row) > stage)
    while len(tested):
        tested_row, tested_lane, left = row.take(tested), lane.take(tested), bits.take(tested)
        places = starts.take(tested_row) + stage * STAGE
        for place in range(STAGE):
            left &= flat.take(rows.tests.take(places + place).astype(np.intp) * lanes + tested_lane)
        bits[tested] = left
        stage += 1
        tested = tested.take(np.flatnonzero((left != 0) & (stages.take(tested_row) > stage)))
    alive = np.flatnonzero(bits != 0)
    return members.take(row.take(alive)).astype(np.int64), lane.take(alive), bits.take(alive)


def _pass_far_tests(
    units: _Units, cells_of: list[Numbers], states: NDArray[np.uint8], tables: BoardTables, rows: Rows
) -> _Units:
    """Return the units without the anchors whose tests beyond the table fail."""
    counts = rows.far[:, FAR_COUNT].take(units.rows)
    far = np.flatnonzero(counts)
    bits = units.bits.copy()
    at_once = max(1, _MAX_FAR_TESTS // (_WORD * int(counts.max(initial=1))))
    for begin in range(0, len(far), at_once):
        some = units.take(far[begin : begin + at_once])
        which, anchor_rows, anchor_columns = _locate_bits(some, cells_of, tables)
        row, symmetry = some.rows.take(which), some.symmetries.take(which)
        lengths = rows.far[:, FAR_COUNT].take(row)
        tests = ranges(rows.far[:, FAR_START].take(row), lengths)
        turns = np.repeat(tables.matrices.take(symmetry, axis=0), lengths, axis=0)
        offsets = np.matmul(turns, rows.far_offsets.take(tests, axis=0)[:, :, None].astype(np.int32))
        seen_row = np.repeat(anchor_rows, lengths) + offsets[:, 0, 0]
        seen_column = np.repeat(anchor_columns, lengths) + offsets[:, 1, 0]
        on_board = (seen_row >= 0) & (seen_row < tables.rows)
        on_board &= (seen_column >= 0) & (seen_column < tables.columns)
        seen = states.take(np.where(on_board, seen_row * tables.columns + seen_column, 0))
        accepted = np.where(on_board, seen, np.uint8(State.OFF_BOARD)) & rows.far_codes.take(tests) != 0
        each_bit = np.unpackbits(some.bits.astype("<u8").view(np.uint8), bitorder="little")
        each_bit[np.flatnonzero(each_bit)] = np.logical_and.reduceat(accepted, np.cumsum(lengths) - lengths)
        bits[far[begin : begin + at_once]] = np.packbits(each_bit, bitorder="little").view("<u8")
    return units._replace(bits=bits)


def _frame(states: NDArray[np.uint8], tables: BoardTables) -> NDArray[np.uint8]:
    """Return a board within its margin of edge, row by row."""
    height = tables.rows + 2 * tables.margin
    framed = np.full((height, tables.width), State.OFF_BOARD, dtype=np.uint8)
    board = framed[tables.margin : height - tables.margin, tables.margin : tables.width - tables.margin]
    board[:] = states.reshape(tables.rows, tables.columns)
    return framed.reshape(-1)


def _anchors_on(states: NDArray[np.uint8], tables: BoardTables, kind: int) -> NDArray[np.int64]:
    """Return the cells of the board on which patterns of a kind can hang, in order."""
    if kind == AnchorKind.WHOLE_GRAPH:
        return np.zeros(1, dtype=np.int64)
    return np.flatnonzero(states & tables.anchor_states[kind])


def _test_tables(
    board: NDArray[np.uint8], cells: NDArray[np.int64], tables: BoardTables, reach: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield the table of (test, symmetry, word), whole, or by some words at a time where it is too large.

    Symmetries are not stored with patterns: the table under a symmetry is the table itself with the
    offsets exchanged for their images. The test after all others holds always.
    """
    images = tables.images[:reach]
    symmetries = images.shape[1]
    views = (images[:, None, :] * CODES + np.arange(CODES, dtype=np.int32)[:, None]).reshape(-1, symmetries)
    rows, columns = np.divmod(cells, tables.columns)
    places = (rows + tables.margin) * tables.width + columns + tables.margin
    at_once = _WORD * max(1, _MAX_TABLE_BYTES // (8 * views.size))
    for begin in range(0, len(cells), at_once):
        plain = _around(board, places[begin : begin + at_once], tables.deltas[:reach])
        table = np.empty((len(tables.images) * CODES + 1, symmetries, plain.shape[2]), dtype=np.uint64)
        plain.reshape(len(views), -1).take(views, axis=0, out=table[: len(views)])
        table[-1] = _ALL_BITS
        yield table


def _around(
    board: NDArray[np.uint8], places: NDArray[np.int64], deltas: NDArray[np.int32]
) -> NDArray[np.uint64]:
    """Return, as (offset, code, word), the bit of each anchor that has the code at the offset."""
    words = -(-len(places) // _WORD)
    # Where there is no anchor the state is 0, which no code accepts.
    states = np.zeros((len(deltas), words * _WORD), dtype=np.uint8)
    states[:, : len(places)] = board.take(places + deltas[:, None])
    by_state = np.packbits(states[:, None, :] & _EACH_STATE[:, None], axis=2, bitorder="little").view("<u8")
    accepting = np.empty((len(deltas), CODES, words), dtype=np.uint64)
    for number, accepted in enumerate(_STATES_OF_CODE):
        accepting[:, number] = by_state[:, accepted[0]]
        for state in accepted[1:]:
            accepting[:, number] |= by_state[:, state]
    return accepting


def match_successors(
    states: NDArray[np.uint8], changes: BoardChanges, library: RankedRows, limits: MatchLimits
) -> Successors:
    """Return what `kernels.MatchSuccessorsFunction` says.

    Before and after each move only the anchors whose tests it may change are filtered.
    """
    library = _place_wanted(library)
    base = _match_board(states, library, limits)
    if not (library.ranking.places >= 0).any():
        none = np.zeros(len(changes.starts), dtype=np.int32)
        return Successors(base, none, none[:0], none, base, none[1:])
    base_kinds, base_cells = _locate_anchors(base, library)
    all_around = [bool(library.rows.far[members, FAR_COUNT].any()) for members in library.rows.of_kind]
    gone: list[Numbers] = []
    new: list[Matches] = []
    for first, last in pairwise(changes.starts.tolist()):
        cells = changes.cells[first:last]
        changed = states.copy()
        changed[cells] = changes.states[first:last]
        near = _near(cells, library)
        cells_of = [
            # A state is a bit: these are the anchors before and those after.
            _anchors_on((states | changed) * (near | of_kind), library.tables, kind)
            for kind, of_kind in enumerate(all_around)
        ]
        before, after = (_find_units(position, cells_of, library) for position in (states, changed))
        begun = _without(after, before, library)
        new.append(_list_matches(begun, cells_of, library, limits))
        numbers = np.full((len(cells_of), len(states)), -1)
        for kind, anchors in enumerate(cells_of):
            numbers[kind, anchors] = np.arange(len(anchors))
        number = numbers[base_kinds, base_cells]
        keys = _keys(base.places, base.symmetries, number // _WORD, library)
        ended = _bits_at(keys, _without(before, after, library), library) >> (number % _WORD).astype(
            np.uint64
        )
        gone.append(np.flatnonzero((number >= 0) & (ended & np.uint64(1) != 0)))
    totals = np.array([matches.total for matches in new], dtype=np.int32)
    return Successors(
        base,
        _starts(list(map(len, gone))),
        np.concatenate([np.zeros(0, dtype=np.int32), *gone], dtype=np.int32),
        _starts([matches.listed for matches in new]),
        join_matches([base.select(slice(0), 0), *new]),
        totals,
    )


def _locate_anchors(matches: Matches, library: RankedRows) -> tuple[Numbers, Numbers]:
    """Return the kind of each match's anchor, and its cell."""
    rows = library.ranking.rows.take(matches.places)
    kind_of_row = np.zeros(len(library.rows.starts), dtype=np.int64)
    for kind, members in enumerate(library.rows.of_kind):
        kind_of_row[members] = kind
    anchors = library.rows.anchors[rows, matches.symmetries]
    cells = (matches.rows + anchors[:, 0]) * library.tables.columns + matches.columns + anchors[:, 1]
    return kind_of_row.take(rows), cells.astype(np.int64)


def _near(cells: NDArray[np.int32], library: RankedRows) -> NDArray[np.bool_]:
    """Return which cells have one of these among the offsets that rows test; on a graph all have."""
    tables = library.tables
    near = np.full((tables.rows + 2 * tables.margin, tables.width), tables.margin == 0)
    rows, columns = np.divmod(cells, tables.columns)
    places = (rows + tables.margin) * tables.width + columns + tables.margin
    if tables.margin:
        near.reshape(-1)[places[:, None] - tables.deltas[: library.rows.reach]] = True
    return near[tables.margin :, tables.margin :][: tables.rows, : tables.columns].reshape(-1)


def _without(units: _Units, others: _Units, library: RankedRows) -> _Units:
    """Return some units without the anchors of others."""
    keys = _keys(library.ranking.places.take(units.rows), units.symmetries, units.words, library)
    return units._replace(bits=units.bits & ~_bits_at(keys, others, library))


def _bits_at(keys: Numbers, units: _Units, library: RankedRows) -> NDArray[np.uint64]:
    """Return the bits of the units that have these keys, 0 where none has."""
    ascending = _keys(library.ranking.places.take(units.rows), units.symmetries, units.words, library)
    at = np.searchsorted(ascending, keys)
    bits: NDArray[np.uint64] = np.append(units.bits, np.uint64(0)).take(at)
    return np.where(np.append(ascending, -1).take(at) == keys, bits, np.uint64(0))


def _keys(
    places: NDArray[np.int32], symmetries: NDArray[Any], words: Numbers, library: RankedRows
) -> Numbers:
    """Return numbers for places, symmetries and words of anchors, in the order of units."""
    tables = library.tables
    most_words = tables.rows * tables.columns // _WORD + 1
    keys: Numbers = (places.astype(np.int64) * tables.images.shape[1] + symmetries) * most_words + words
    return keys


def _starts(lengths: list[int]) -> NDArray[np.int32]:
    return np.array([0, *accumulate(lengths)], dtype=np.int32)
