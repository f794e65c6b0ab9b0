"""Pictures that browsers make of pages, as colours."""

import struct
import zlib
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MOST_PICTURES: Final = 5


def picture_with(enough: Callable[[NDArray[np.uint8]], bool], take: Callable[[], bytes]) -> NDArray[np.uint8]:
    """The first picture that shows enough, or else the last of some: a browser may draw a page in parts."""
    for _ in range(_MOST_PICTURES):
        seen = pixels(take())
        if enough(seen):
            break
    return seen


def pixels(image: bytes) -> NDArray[np.uint8]:
    """The colours of a PNG of 8 bits without interlace, as browsers write it, by row and column."""
    place, packed = 8, b""
    width = height = channels = 0
    while place < len(image):
        length, kind = struct.unpack(">I4s", image[place : place + 8])
        part = image[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", part[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += part
        place += length + 12
    raw, size = zlib.decompress(packed), width * channels
    rows = [bytes(size)]
    for start in range(0, len(raw), size + 1):
        rows.append(_unfiltered(raw[start], raw[start + 1 : start + 1 + size], rows[-1], channels))
    return np.frombuffer(b"".join(rows[1:]), np.uint8).reshape(height, width, channels)[:, :, :3]


def _unfiltered(kind: int, line: bytes, above: bytes, channels: int) -> bytes:
    row = bytearray(channels) + line
    over = bytes(channels) + above
    for at in range(channels, len(row)):
        left, up, corner = row[at - channels], over[at], over[at - channels]
        guess = 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            plain = left + up - corner
            guess = min((abs(plain - near), order, near) for order, near in enumerate((left, up, corner)))[2]
        row[at] = (row[at] + guess) & 255
    return bytes(row[channels:])


def count_of(colour: str, seen: NDArray[np.uint8]) -> int:
    """How many pixels are of a colour such as `#2563c9`, or nearly."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return int((abs(seen.astype(int) - wanted) <= 3).all(axis=2).sum())
