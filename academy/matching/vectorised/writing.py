"""Lists of placements as a message of protobuf, without a Python object for each number.

See "Packed repeated fields" and "Base 128 varints" in https://protobuf.dev/programming-guides/encoding/.
Fields put one behind the other are a message.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.matching.placement_lists import Fields, Lost, PlacementLists, Records

_LENGTH_DELIMITED: Final = 2
_BITS: Final = 7
_MORE: Final = 0x80


class MessageColumn(NamedTuple):
    """Numbers written one after the other, each in `width` bytes."""

    written: bytes
    width: int

    def part(self, first: int, end: int) -> bytes:
        """Return the numbers from `first` to before `end`."""
        return self.written[first * self.width : end * self.width]


def write(
    lists: PlacementLists, lost: Lost, records: Records, fields: Fields
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the message, and the places of all patterns in its table, as `kernels.Write` says."""
    told = np.zeros(len(records.written), dtype=np.bool_)
    told[lists.places] = True
    table = np.flatnonzero(told).astype(np.int32)
    row_of = np.empty(len(told), dtype=np.int32)
    row_of[table] = np.arange(len(table), dtype=np.int32)
    columns = (
        (fields.patterns, unsigned(row_of.take(lists.places))),
        (fields.symmetries, unsigned(lists.symmetries)),
        (fields.rows, signed(lists.rows)),
        (fields.columns, signed(lists.columns)),
    )
    lost_entries = unsigned(lost.entries)
    answer = bytearray()
    for number, total in enumerate(lists.totals.tolist()):
        first, end = lists.starts[number : number + 2].tolist()
        body = b"".join(field(name, column.part(first, end)) for name, column in columns)
        if len(lists.for_opponent):
            body += field(fields.for_opponent, lists.for_opponent[first:end].tobytes())
        body += number_field(fields.total, total)
        if lists.more[number]:
            body += number_field(fields.more, 1)
        if number and len(lost.starts):
            entries = lost_entries.part(int(lost.starts[number - 1]), int(lost.starts[number]))
            body = field(fields.gained, body) + field(fields.lost, entries)
        answer += field(fields.other if number else fields.first, body)
    chosen = records.written.take(table, axis=0)
    starts = records.starts.tolist()
    answer += field(
        fields.table,
        b"".join(
            field(name, chosen[:, first:end].tobytes())
            for name, first, end in zip(records.fields.tolist(), starts[:-1], starts[1:], strict=True)
        ),
    )
    return np.frombuffer(answer, dtype=np.uint8), table


def unsigned(numbers: NDArray[Any]) -> MessageColumn:
    """Write numbers from 0 on as varints, all of them in as many bytes as the greatest takes."""
    greatest = int(numbers.max()) if len(numbers) else 0
    width = max(1, -(-greatest.bit_length() // _BITS))
    shifted = numbers.astype(np.uint64)[:, np.newaxis] >> np.arange(0, _BITS * width, _BITS, dtype=np.uint64)
    digits = (shifted & np.uint64(_MORE - 1)).astype(np.uint8)
    # That more bytes follow is said even where they are all zero: every reader takes that.
    digits[:, :-1] |= _MORE
    return MessageColumn(digits.tobytes(), width)


def signed(numbers: NDArray[np.int16]) -> MessageColumn:
    """Write numbers as a `sint32` is written."""
    wide = numbers.astype(np.int32)
    return unsigned((wide << 1) ^ (wide >> 31))


def field(number: int, column: bytes) -> bytes:
    """Return a packed repeated field of a message, or one that is a message, by its number, 1 to 15."""
    return bytes((number << 3 | _LENGTH_DELIMITED,)) + varint(len(column)) + column


def number_field(number: int, value: int) -> bytes:
    """Return a field that holds one number from 0 on, or a truth as 1, by its number, 1 to 15."""
    return bytes((number << 3,)) + varint(value)


def varint(number: int) -> bytes:
    """Write one number from 0 on."""
    if number < _MORE:
        return bytes((number,))
    return bytes((number & (_MORE - 1) | _MORE,)) + varint(number >> _BITS)
