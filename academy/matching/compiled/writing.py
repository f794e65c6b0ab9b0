"""Lists of placements as a message of protobuf, number by number: it is small code that is in no hurry.

See "Packed repeated fields" and "Base 128 varints" in https://protobuf.dev/programming-guides/encoding/.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import Shorts
from academy.matching.compiled.table import Numbers, U, signed
from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records

_LENGTH_DELIMITED: Final = 2
_BITS: Final = 7
_MORE: Final = 0x80
# No number of ours takes more bytes; a field takes its tag and a length besides.
_VARINT: Final = 5
_FIELD: Final = 1 + _VARINT
# Bytes of a placement: its pattern, symmetry, row, column and flag.
_PLACEMENT: Final = _VARINT + 3 + 3 + 3 + 1
# Fields of a list, of a total of any size, and of the messages around it.
_LIST: Final = 12 * _FIELD

Bytes = NDArray[np.uint8]


@compiled
def write(lists: PlacementLists, lost: Lost, records: Records, fields: Fields) -> tuple[Bytes, Numbers]:
    """Return the message, and the places of all patterns in its table, as `kernels.Write` says."""
    row_of, table = _table(lists.places, len(records.written))
    width = U(records.written.shape[1])
    count, placements = U(len(lists.totals)), U(len(lists.places))
    size = U(_LIST) * (count + U(1)) + U(_PLACEMENT) * placements + U(_VARINT) * U(len(lost.entries))
    into = np.empty(size + width * U(len(table)) + U(_FIELD) * U(len(records.starts)), dtype=np.uint8)
    end = U(0)
    for number in range(count):
        sizes = _sizes(lists, row_of, number)
        body = _size_of_body(sizes, lists, number)
        if number == U(0) or len(lost.starts) == 0:
            end = _put_header(into, end, fields.first if number == U(0) else fields.other, body)
            end = _put_list(into, end, lists, row_of, number, sizes, fields)
        else:
            first, last = U(lost.starts[number - U(1)]), U(lost.starts[number])
            size_of_lost = _size_of_all(lost.entries, first, last)
            within = _size_of_field(body) + _size_of_field(size_of_lost)
            end = _put_header(into, end, fields.other, within)
            end = _put_header(into, end, fields.gained, body)
            end = _put_list(into, end, lists, row_of, number, sizes, fields)
            end = _put_header(into, end, fields.lost, size_of_lost)
            for entry in range(first, last):
                end = _put(into, end, U(lost.entries[entry]))
    return into[: signed(_put_table(into, end, records, table, fields))], table


@compiled
def _table(places: Numbers, patterns: int) -> tuple[Numbers, Numbers]:
    """Return the row of each place in the answer's table of patterns, and the places of these rows."""
    row_of = np.zeros(patterns, dtype=np.int32)
    last = U(0)
    for number in range(U(len(places))):
        place = U(places[number])
        row_of[place] = 1
        last = max(last, place + U(1))
    table = np.empty(last + U(1), dtype=np.int32)
    count = U(0)
    for place in range(last):
        table[count] = place
        told = row_of[place]
        row_of[place] = count
        count += U(told)
    return row_of, table[: signed(count)]


@compiled
def _sizes(lists: PlacementLists, row_of: Numbers, number: int) -> tuple[int, int, int, int]:
    """Return how many bytes a list's columns of patterns, symmetries, rows and columns take."""
    patterns, symmetries, rows, columns = U(0), U(0), U(0), U(0)
    for entry in range(U(lists.starts[number]), U(lists.starts[number + U(1)])):
        patterns += _size(U(row_of[U(lists.places[entry])]))
        symmetries += _size(U(lists.symmetries[entry]))
        rows += _size(_zigzag(lists.rows[entry]))
        columns += _size(_zigzag(lists.columns[entry]))
    return patterns, symmetries, rows, columns


@compiled
def _size_of_body(sizes: tuple[int, int, int, int], lists: PlacementLists, number: int) -> int:
    size = U(2) if lists.more[number] else U(0)
    for column in sizes:
        size += _size_of_field(column)
    if len(lists.for_opponent) > 0:
        size += _size_of_field(U(lists.starts[number + U(1)]) - U(lists.starts[number]))
    return size + U(1) + _size(U(lists.totals[number]))


@compiled
def _put_list(
    into: Bytes,
    end: int,
    lists: PlacementLists,
    row_of: Numbers,
    number: int,
    sizes: tuple[int, int, int, int],
    fields: Fields,
) -> int:
    first, last = U(lists.starts[number]), U(lists.starts[number + U(1)])
    end = _put_header(into, end, fields.patterns, sizes[0])
    for entry in range(first, last):
        end = _put(into, end, U(row_of[U(lists.places[entry])]))
    end = _put_header(into, end, fields.symmetries, sizes[1])
    for entry in range(first, last):
        end = _put(into, end, U(lists.symmetries[entry]))
    end = _put_header(into, end, fields.rows, sizes[2])
    end = _put_signed(into, end, lists.rows, first, last)
    end = _put_header(into, end, fields.columns, sizes[3])
    end = _put_signed(into, end, lists.columns, first, last)
    if len(lists.for_opponent) > 0:
        end = _put_header(into, end, fields.for_opponent, last - first)
        for entry in range(first, last):
            into[end] = lists.for_opponent[entry]
            end += U(1)
    end = _put_number(into, end, fields.total, U(lists.totals[number]))
    if lists.more[number]:
        end = _put_number(into, end, fields.more, U(1))
    return end


@compiled
def _put_table(into: Bytes, end: int, records: Records, table: Numbers, fields: Fields) -> int:
    written, starts = records.written, records.starts
    rows = U(len(table))
    body = U(0)
    for column in range(U(len(starts) - 1)):
        body += _size_of_field(rows * U(starts[column + U(1)] - starts[column]))
    end = _put_header(into, end, fields.table, body)
    for column in range(U(len(starts) - 1)):
        first, last = U(starts[column]), U(starts[column + U(1)])
        end = _put_header(into, end, records.fields[column], rows * (last - first))
        for row in range(rows):
            place = U(table[row])
            for byte in range(first, last):
                into[end] = written[place, byte]
                end += U(1)
    return end


@compiled
def _put_signed(into: Bytes, end: int, numbers: Shorts, first: int, last: int) -> int:
    for entry in range(first, last):
        end = _put(into, end, _zigzag(numbers[entry]))
    return end


@compiled
def _put_header(into: Bytes, end: int, field: int, size: int) -> int:
    into[end] = U(field) << U(3) | U(_LENGTH_DELIMITED)
    return _put(into, end + U(1), size)


@compiled
def _put_number(into: Bytes, end: int, field: int, number: int) -> int:
    into[end] = U(field) << U(3)
    return _put(into, end + U(1), number)


@compiled
def _put(into: Bytes, end: int, number: int) -> int:
    while number >= U(_MORE):
        into[end] = number & U(_MORE - 1) | U(_MORE)
        end += U(1)
        number >>= U(_BITS)
    into[end] = number
    return end + U(1)


@compiled
def _size_of_all(numbers: Numbers, first: int, last: int) -> int:
    size = U(0)
    for entry in range(first, last):
        size += _size(U(numbers[entry]))
    return size


@compiled
def _size_of_field(size: int) -> int:
    return U(1) + _size(size) + size


@compiled
def _size(number: int) -> int:
    size = U(1)
    while number >= U(_MORE):
        number >>= U(_BITS)
        size += U(1)
    return size


@compiled
def _zigzag(number: Any) -> int:
    """Return a number as a `sint32` is written."""
    wide = signed(number)
    return U((wide << 1) ^ (wide >> 63))
