"""Columns of numbers in messages, written as a whole: number by number they cost more than learning does."""

from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from numpy.typing import NDArray

_LENGTH_DELIMITED: Final = 2
_BITS: Final = 7
_MORE: Final = 0x80


def pack_columns(message: Message, **columns: NDArray[Any]) -> None:
    """Set packed repeated fields of fixed width, or of one byte a value, from arrays of the same width.

    See "Packed repeated fields" in https://protobuf.dev/programming-guides/encoding/.
    """
    numbers = _field_numbers(message.DESCRIPTOR)
    parts = []
    for name, column in columns.items():
        length = column.nbytes
        if length:
            parts += [bytes((numbers[name] << 3 | _LENGTH_DELIMITED, *_varint(length))), column.tobytes()]
    message.MergeFromString(b"".join(parts))


def _varint(number: int) -> list[int]:
    digits = []
    while number >= _MORE:
        digits.append(number & (_MORE - 1) | _MORE)
        number >>= _BITS
    return [*digits, number]


@cache
def _field_numbers(descriptor: Descriptor) -> dict[str, int]:
    return {field.name: field.number for field in descriptor.fields}
