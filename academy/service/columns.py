"""Columns of numbers as protobuf writes packed repeated fields, without a Python object for each number.

See "Packed repeated fields" and "Base 128 varints" in https://protobuf.dev/programming-guides/encoding/.
Fields put one behind the other are a message, which `MergeFromString` reads.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LENGTH_DELIMITED: Final = 2
_BITS: Final = 7
_MORE: Final = 0x80


class Column(NamedTuple):
    """Numbers written one after the other, each in `width` bytes."""

    written: bytes
    width: int

    def part(self, first: int, end: int) -> bytes:
        """Return the numbers from `first` to before `end`."""
        return self.written[first * self.width : end * self.width]


class Varints:
    """Numbers written once, to be told in any choice and order. Their bytes are as many for each of them."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        written, width = _as_varints(numbers)
        self._written: NDArray[np.void] = np.frombuffer(written, dtype=f"V{width}")

    def taken(self, places: NDArray[Any]) -> bytes:
        """Return some of the numbers, written one after the other."""
        return self._written.take(places).tobytes()


def unsigned(numbers: NDArray[Any]) -> Column:
    """Write numbers from 0 on as varints."""
    if not len(numbers) or numbers.max() < _MORE:
        return Column(numbers.astype(np.uint8).tobytes(), 1)
    return _as_varints(numbers)


def signed(numbers: NDArray[np.int16]) -> Column:
    """Write numbers as a `sint32` is written."""
    wide = numbers.astype(np.int32)
    return unsigned((wide << 1) ^ (wide >> 31))


def field(number: int, column: bytes) -> bytes:
    """Return a packed repeated field of a message, or one that is a message, by its number, 1 to 15."""
    return _TAGS[number] + varint(len(column)) + column


def number_field(number: int, value: int) -> bytes:
    """Return a field that holds one number from 0 on, or a truth as 1, by its number, 1 to 15."""
    return bytes((number << 3,)) + varint(value)


def varint(number: int) -> bytes:
    """Write one number from 0 on."""
    if number < _MORE:
        return bytes((number,))
    return bytes((number & (_MORE - 1) | _MORE,)) + varint(number >> _BITS)


def _as_varints(numbers: NDArray[Any]) -> Column:
    greatest = int(numbers.max()) if len(numbers) else 0
    width = max(1, -(-greatest.bit_length() // _BITS))
    shifted = numbers.astype(np.uint64)[:, np.newaxis] >> np.arange(0, _BITS * width, _BITS, dtype=np.uint64)
    digits = (shifted & np.uint64(_MORE - 1)).astype(np.uint8)
    # That more bytes follow is said even where they are all zero: every reader takes that.
    digits[:, :-1] |= _MORE
    return Column(digits.tobytes(), width)


_TAGS: Final = tuple(varint(number << 3 | _LENGTH_DELIMITED) for number in range(16))
