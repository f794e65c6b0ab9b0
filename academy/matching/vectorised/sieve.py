"""All placements of a library's patterns on a board, all patterns at once.

The first stages of all rows are done densely; then only those (row, symmetry, word) that still have
an anchor are followed.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.arrays import ranges
from academy.matching.ground import BoardTables
from academy.matching.matches import Found
from academy.matching.order import RankOrder
from academy.matching.rows import FAR_COUNT, FAR_START, STAGE, Rows
from academy.matching.vectorised.table import WORD, anchors_on, framed, tables

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
        rows, symmetries, words, bits, kinds = self
        return _Units(
            rows.take(which), symmetries.take(which), words.take(which), bits.take(which), kinds.take(which)
        )


def find(
    boards: NDArray[np.uint8],
    ground: BoardTables,
    rows: Rows,
    order: RankOrder,
    wanted: NDArray[np.bool_],
    most: int,
    each: int,
) -> Found:
    """Return the matches on some boards, (board, cell), as `kernels.Find` says."""
    places = order.places
    if len(wanted):
        places = np.where((places >= 0) & wanted.take(places, mode="clip"), places, -1)
    answers = [
        _found(number, states, ground, rows, places, most, each) for number, states in enumerate(boards)
    ]
    if len(answers) == 1:
        return answers[0]
    total = sum(answer[-1] for answer in answers)
    columns = [np.concatenate(column) for column in zip(*(answer[:-1] for answer in answers), strict=True)]
    told = np.argsort(columns[0], kind="stable")[:most]
    found, symmetries, image_rows, image_columns, numbers = (column.take(told) for column in columns)
    return found, symmetries, image_rows, image_columns, numbers, total


def _found(
    number: int,
    states: NDArray[np.uint8],
    ground: BoardTables,
    rows: Rows,
    place_of_row: NDArray[np.int32],
    most: int,
    each: int,
) -> Found:
    board = framed(states, ground)
    cells_of = [anchors_on(states, ground, kind) for kind in range(len(rows.of_kind))]
    units = _joined(
        [
            _units(board, cells_of[kind], ground, rows, kind)
            for kind, members in enumerate(rows.of_kind)
            if len(members) and len(cells_of[kind])
        ]
    )
    places = place_of_row.take(units.rows)
    # The units of a row are in order already, and short numbers are sorted much faster; -1 comes last.
    keys = (
        places.astype(np.uint16) if len(place_of_row) < _MAX_PLACES_OF_A_SHORT else places.astype(np.uint32)
    )
    told = np.argsort(keys, kind="stable")[: np.count_nonzero(places >= 0)]
    units = _far_tests_held(units.take(told), cells_of, states, ground, rows)
    counts = np.bitwise_count(units.bits).astype(np.int64)
    total = int(counts.sum())
    kept = counts if each >= total else _kept(units.rows, counts, each)
    needed = np.flatnonzero((kept > 0) & (np.cumsum(kept) - kept < most))
    units, counts = units.take(needed), counts.take(needed)
    which, anchor_rows, anchor_columns = _each(units, cells_of, ground)
    within = np.arange(len(which)) - (np.cumsum(counts) - counts).take(which)
    told = np.flatnonzero(within < kept.take(needed).take(which))[:most]
    which, anchor_rows, anchor_columns = which.take(told), anchor_rows.take(told), anchor_columns.take(told)
    matched, symmetries = units.rows.take(which), units.symmetries.take(which)
    _, images, axes = rows.anchors.shape
    anchors = rows.anchors.reshape(-1, axes).take(matched * images + symmetries, axis=0)
    return (
        place_of_row.take(matched),
        symmetries.astype(np.int16),
        (anchor_rows - anchors[:, 0]).astype(np.int16),
        (anchor_columns - anchors[:, 1]).astype(np.int16),
        np.full(len(which), number, dtype=np.int16),
        total,
    )


def _kept(rows: Numbers, counts: Numbers, each: int) -> Numbers:
    """Return how many bits of each unit are told, where no more than `each` are of a row."""
    before = np.cumsum(counts) - counts
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    of_row_before = before - np.repeat(before.take(firsts), np.diff(firsts, append=len(rows)))
    kept: Numbers = np.clip(each - of_row_before, 0, counts)
    return kept


def _joined(found: list[_Units]) -> _Units:
    numbers, bits = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    nothing = _Units(numbers, numbers, numbers, bits, numbers)
    return _Units(*(np.concatenate(columns) for columns in zip(nothing, *found, strict=True)))


def _each(units: _Units, cells_of: list[Numbers], ground: BoardTables) -> tuple[Numbers, Numbers, Numbers]:
    """Return, for each bit, its unit and the row and column of its anchor."""
    in_bytes = units.bits.astype("<u8", copy=False).view(np.uint8)
    used = np.flatnonzero(in_bytes != 0)
    each_bit = np.flatnonzero(np.unpackbits(in_bytes.take(used), bitorder="little"))
    bits = (used * _BYTE).take(each_bit // _BYTE) + each_bit % _BYTE
    which = bits // WORD
    first_cells = np.cumsum([0] + [len(cells) for cells in cells_of])
    first_bits = first_cells.take(units.kinds) + (units.words - np.arange(len(units.words))) * WORD
    numbers = bits + first_bits.take(which)
    anchor_rows, anchor_columns = np.divmod(np.concatenate(cells_of), ground.columns)
    return which, anchor_rows.take(numbers), anchor_columns.take(numbers)


def _units(board: NDArray[np.uint8], cells: Numbers, ground: BoardTables, rows: Rows, kind: int) -> _Units:
    members = rows.of_kind[kind]
    found = []
    first_word = 0
    for table in tables(board, cells, ground, rows.reach):
        _, symmetries, words = table.shape
        at_once = max(1, _MAX_DENSE_WORDS // (symmetries * words))
        for begin in range(0, len(members), at_once):
            row, lane, bits = _sieved(table, rows, members[begin : begin + at_once])
            symmetry, word = np.divmod(lane, words)
            found.append(_Units(row, symmetry, word + first_word, bits, np.full(len(row), kind)))
        first_word += words
    units = _joined(found)
    if first_word == words:
        return units
    return units.take(np.lexsort((units.words, units.symmetries, units.rows)))


def _sieved(
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


def _far_tests_held(
    units: _Units, cells_of: list[Numbers], states: NDArray[np.uint8], ground: BoardTables, rows: Rows
) -> _Units:
    """Return the units without the anchors from which the board has not what is wanted beyond the table."""
    counts = rows.far[:, FAR_COUNT].take(units.rows)
    far = np.flatnonzero(counts)
    bits = units.bits.copy()
    at_once = max(1, _MAX_FAR_TESTS // (WORD * int(counts.max(initial=1))))
    for begin in range(0, len(far), at_once):
        some = units.take(far[begin : begin + at_once])
        which, anchor_rows, anchor_columns = _each(some, cells_of, ground)
        row, symmetry = some.rows.take(which), some.symmetries.take(which)
        lengths = rows.far[:, FAR_COUNT].take(row)
        tests = ranges(rows.far[:, FAR_START].take(row), lengths)
        turns = np.repeat(ground.matrices.take(symmetry, axis=0), lengths, axis=0)
        offsets = np.matmul(turns, rows.far_offsets.take(tests, axis=0)[:, :, None].astype(np.int32))
        seen_row = np.repeat(anchor_rows, lengths) + offsets[:, 0, 0]
        seen_column = np.repeat(anchor_columns, lengths) + offsets[:, 1, 0]
        on_board = (seen_row >= 0) & (seen_row < ground.rows)
        on_board &= (seen_column >= 0) & (seen_column < ground.columns)
        seen = states.take(np.where(on_board, seen_row * ground.columns + seen_column, 0))
        accepted = np.where(on_board, seen, np.uint8(State.OFF_BOARD)) & rows.far_codes.take(tests) != 0
        each_bit = np.unpackbits(some.bits.astype("<u8").view(np.uint8), bitorder="little")
        each_bit[np.flatnonzero(each_bit)] = np.logical_and.reduceat(accepted, np.cumsum(lengths) - lengths)
        bits[far[begin : begin + at_once]] = np.packbits(each_bit, bitorder="little").view("<u8")
    return units._replace(bits=bits)
