"""Columns of numbers as protobuf writes packed repeated fields, without a Python object for each number.

See "Packed repeated fields" and "Base 128 varints" in https://protobuf.dev/programming-guides/encoding/.
A column is read into a message with `MergeFromString`.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_LENGTH_DELIMITED: Final = 2
_BITS: Final = 7
_MORE: Final = 0x80
UNSIGNED_END: Final = 1 << 16


class Varints:
    """Numbers written once, to be told in any choice and order. Their bytes are as many for each of them."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        greatest = int(numbers.max()) if len(numbers) else 0
        width = max(1, -(-greatest.bit_length() // _BITS))
        shifted = numbers.astype(np.uint64)[:, np.newaxis] >> np.arange(
            0, _BITS * width, _BITS, dtype=np.uint64
        )
        digits = (shifted & np.uint64(_MORE - 1)).astype(np.uint8)
        # That more bytes follow is said even where they are all zero: every reader takes that.
        digits[:, :-1] |= _MORE
        self._written: NDArray[np.void] = np.ascontiguousarray(digits).view(f"V{width}").ravel()

    def taken(self, places: NDArray[Any]) -> bytes:
        """Return some of the numbers, written one after the other."""
        return self._written.take(places).tobytes()


def field(number: int, column: bytes) -> bytes:
    """Return a packed repeated field of a message, by its number, 1 to 15."""
    return _TAGS[number] + _varint(len(column)) + column


def unsigned(numbers: NDArray[Any]) -> bytes:
    """Write numbers below UNSIGNED_END as varints."""
    return _UNSIGNED.taken(numbers)


def signed(numbers: NDArray[np.int16]) -> bytes:
    """Write numbers as a `sint32` is written."""
    return _SIGNED.taken(numbers.view(np.uint16))


def _varint(number: int) -> bytes:
    if number < _MORE:
        return bytes((number,))
    if number < _MORE << _BITS:
        return bytes((number & (_MORE - 1) | _MORE, number >> _BITS))
    return bytes((number & (_MORE - 1) | _MORE,)) + _varint(number >> _BITS)


_TAGS: Final = tuple(_varint(number << 3 | _LENGTH_DELIMITED) for number in range(16))
_UNSIGNED: Final = Varints(np.arange(UNSIGNED_END))
# By the bits of a signed number: 0, 1 ... 32,767, -32,768 ... -1.
_BY_BITS: Final = np.arange(UNSIGNED_END).astype(np.uint16).view(np.int16).astype(np.int64)
_SIGNED: Final = Varints((_BY_BITS << 1) ^ (_BY_BITS >> 63))
