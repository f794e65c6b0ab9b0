"""Several queries and several answers in one call, as entering and leaving compiled code costs time."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.matching.arrays import Number
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import Flags
from academy.matching.compiled.table import Numbers, States
from academy.matching.compiled.telling import find
from academy.matching.compiled.writing import Bytes, write
from academy.matching.ground import BoardTables
from academy.matching.matches import FoundEach
from academy.matching.order import RankOrder
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records
from academy.matching.rows import Rows

_MATCHES_EXPECTED: Final = 64
_BYTES_EXPECTED: Final = 2_048


@compiled
def find_each(
    boards: States,
    ground: BoardTables,
    rows: Rows,
    order: RankOrder,
    wanted: Flags,
    most: NDArray[np.int64],
    each: NDArray[np.int64],
) -> FoundEach:
    """Return what `find` finds by each query, as `kernels.FindEach` says."""
    queries = len(boards)
    starts, totals = np.zeros(queries + 1, dtype=np.int32), np.empty(queries, dtype=np.int64)
    room = _MATCHES_EXPECTED * queries
    places = np.empty(room, dtype=np.int32)
    symmetries, image_rows = np.empty(room, dtype=np.int16), np.empty(room, dtype=np.int16)
    image_columns, numbers = np.empty(room, dtype=np.int16), np.empty(room, dtype=np.int16)
    for query in range(queries):
        found = find(boards[query], ground, rows, order, wanted, most[query], each[query])
        first, end = starts[query], starts[query] + len(found[0])
        if end > len(places):
            room = 2 * end
            places, symmetries = _larger(places, room), _larger(symmetries, room)
            image_rows, image_columns = _larger(image_rows, room), _larger(image_columns, room)
            numbers = _larger(numbers, room)
        places[first:end], symmetries[first:end] = found[0], found[1]
        image_rows[first:end], image_columns[first:end], numbers[first:end] = found[2], found[3], found[4]
        starts[query + 1], totals[query] = end, found[5]
    return places, symmetries, image_rows, image_columns, numbers, starts, totals


@compiled
def write_each(
    lists: PlacementLists, ends: Numbers, lost: Lost, records: Records, fields: Fields
) -> tuple[Bytes, Numbers, Numbers, Numbers]:
    """Write each answer as `write` does; return what `kernels.WriteEach` says."""
    answers = len(ends)
    message_ends, table_ends = np.empty(answers, dtype=np.int32), np.empty(answers, dtype=np.int32)
    messages = np.empty(_BYTES_EXPECTED * answers, dtype=np.uint8)
    tables = np.empty(_MATCHES_EXPECTED * answers, dtype=np.int32)
    end, table_end, first = 0, 0, 0
    for answer in range(answers):
        last = ends[answer]
        message, table = write(_some(lists, first, last), lost, records, fields)
        start, end = end, end + len(message)
        table_start, table_end = table_end, table_end + len(table)
        if end > len(messages):
            messages = _larger(messages, 2 * end)
        if table_end > len(tables):
            tables = _larger(tables, 2 * table_end)
        messages[start:end], tables[table_start:table_end] = message, table
        message_ends[answer], table_ends[answer], first = end, table_end, last
    return messages[:end], message_ends, tables[:table_end], table_ends


@compiled
def _some(lists: PlacementLists, first: int, last: int) -> PlacementLists:
    start, end = lists.starts[first], lists.starts[last]
    flags = lists.for_opponent[start:end] if len(lists.for_opponent) > 0 else lists.for_opponent
    return PlacementLists(
        lists.places[start:end],
        lists.symmetries[start:end],
        lists.rows[start:end],
        lists.columns[start:end],
        flags,
        lists.starts[first : last + 1] - start,
        lists.totals[first:last],
        lists.more[first:last],
    )


@compiled
def _larger(array: NDArray[Number], room: int) -> NDArray[Number]:
    found = np.empty(room, dtype=array.dtype)
    found[: len(array)] = array
    return found
