"""DAIDE's messages as bytes: a header of type, a byte of nothing and the length, big-endian; then content.

The client begins with an initial message, the server answers with a representation message (empty where the
standard tokens are meant); then both send diplomacy messages until one sends a final or an error message and
closes the connection. Neither of these follows the other, nor answers it.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from referees.diplomacy.daide.tokens import Tokens, Vocabulary

VERSION: Final = 1
MAGIC: Final = 0xDA10
_SWAPPED_MAGIC: Final = 0x10DA
_INITIAL_LENGTH: Final = 4
_SWAPPED_LENGTH: Final = 0x0400
_HEADER: Final = struct.Struct(">BBH")
_INITIAL: Final = struct.Struct(">HH")
_REPRESENTED: Final = struct.Struct(">H3sx")
MAX_LENGTH: Final = 0xFFFF


class FrameType(IntEnum):
    """What kind of message it is."""

    INITIAL = 0
    REPRESENTATION = 1
    DIPLOMACY = 2
    FINAL = 3
    ERROR = 4


class ErrorCode(IntEnum):
    """What an error message says was wrong."""

    INITIAL_TIMER = 0x01
    INITIAL_NOT_FIRST = 0x02
    WRONG_ENDIAN = 0x03
    WRONG_MAGIC = 0x04
    WRONG_VERSION = 0x05
    SECOND_INITIAL = 0x06
    INITIAL_BY_SERVER = 0x07
    UNKNOWN_MESSAGE = 0x08
    TOO_SHORT = 0x09
    DIPLOMACY_BEFORE_REPRESENTATION = 0x0A
    REPRESENTATION_NOT_FIRST = 0x0B
    SECOND_REPRESENTATION = 0x0C
    REPRESENTATION_BY_CLIENT = 0x0D
    INVALID_TOKEN = 0x0E


class DaideProtocolError(ValueError):
    """The other side sent what it must not; `code` is the error sent to it, None without a code."""

    def __init__(self, code: ErrorCode | None, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Frame:
    """A message as it came: its type and content."""

    type: FrameType
    content: bytes

    @property
    def tokens(self) -> Tokens:
        """The tokens of a diplomacy message."""
        return struct.unpack(f">{len(self.content) // 2}H", self.content)


def _framed(kind: FrameType, content: bytes = b"") -> bytes:
    if len(content) > MAX_LENGTH:
        raise ValueError(f"a message of {len(content)} bytes: at most {MAX_LENGTH} fit")
    return _HEADER.pack(kind, 0, len(content)) + content


def initial_frame() -> bytes:
    """The client's first message."""
    return _framed(FrameType.INITIAL, _INITIAL.pack(VERSION, MAGIC))


def representation_frame(words: Vocabulary) -> bytes:
    """The server's first message: the map's tokens, or nothing where they are the standard ones."""
    if words.map.name == "standard":
        return _framed(FrameType.REPRESENTATION)
    blocks = (_REPRESENTED.pack(token, name.encode("ascii")) for token, name in words.own)
    return _framed(FrameType.REPRESENTATION, b"".join(blocks))


def message_frame(tokens: Sequence[int]) -> bytes:
    """A diplomacy message. Raises ValueError for one that is empty or too long."""
    if not tokens:
        raise ValueError("a message without tokens")
    return _framed(FrameType.DIPLOMACY, struct.pack(f">{len(tokens)}H", *tokens))


def final_frame() -> bytes:
    """The last message before the connection is closed."""
    return _framed(FrameType.FINAL)


def error_frame(code: ErrorCode) -> bytes:
    """The last message to somebody who broke the protocol."""
    return _framed(FrameType.ERROR, struct.pack(">H", code))


def read_representation(frame: Frame) -> dict[str, int]:
    """Read the tokens by name in a representation message; none where the standard ones are meant."""
    blocks = len(frame.content) // _REPRESENTED.size * _REPRESENTED.size
    return {
        name.decode("ascii", "replace"): token
        for token, name in _REPRESENTED.iter_unpack(frame.content[:blocks])
    }


class FrameReader:
    """Cuts what one side of a connection sends into messages, and holds it against the protocol.

    `at_server` is whether the server reads; `longest` the longest content in bytes that is taken; `begun`
    whether somebody else has read the first message. A header is judged as soon as it is there. After a
    DaideProtocolError nothing more may be read.
    """

    def __init__(self, *, at_server: bool, longest: int = MAX_LENGTH, begun: bool = False) -> None:
        self._at_server = at_server
        self._longest = longest
        self._begun = begun
        self._bytes = bytearray()
        self.words: Vocabulary | None = None
        """The tokens that are known; while it is None, every token is taken."""

    @property
    def rest(self) -> bytes:
        """What has come of a message that is not complete."""
        return bytes(self._bytes)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The messages that are complete with these bytes, one after another. Raises DaideProtocolError."""
        self._bytes += data
        while len(self._bytes) >= _HEADER.size:
            number, _, length = _HEADER.unpack_from(self._bytes)
            kind = self._judge_header(number, length)
            if len(self._bytes) < _HEADER.size + length:
                return
            frame = Frame(kind, bytes(self._bytes[_HEADER.size : _HEADER.size + length]))
            del self._bytes[: _HEADER.size + length]
            self._judge_content(frame)
            self._begun = True
            yield frame

    def _judge_header(self, number: int, length: int) -> FrameType:
        try:
            kind = FrameType(number)
        except ValueError:
            raise DaideProtocolError(ErrorCode.UNKNOWN_MESSAGE, f"a message of type {number}") from None
        code = self._out_of_place(kind)
        if code is not None:
            raise DaideProtocolError(code, f"a message {kind.name}: {code.name.lower().replace('_', ' ')}")
        if kind is FrameType.INITIAL and length == _SWAPPED_LENGTH:
            raise DaideProtocolError(ErrorCode.WRONG_ENDIAN, "a length with the low byte first")
        least = {FrameType.DIPLOMACY: 2, FrameType.ERROR: 2}.get(kind, 0)
        if kind is FrameType.INITIAL and length != _INITIAL_LENGTH:
            raise DaideProtocolError(ErrorCode.TOO_SHORT, f"a message INITIAL of {length} bytes instead of 4")
        if length < least or (kind is FrameType.DIPLOMACY and length % 2):
            raise DaideProtocolError(ErrorCode.TOO_SHORT, f"a message {kind.name} of {length} bytes")
        if length > self._longest:
            raise DaideProtocolError(None, f"a message of {length} bytes: at most {self._longest} are taken")
        return kind

    def _out_of_place(self, kind: FrameType) -> ErrorCode | None:
        if kind in (FrameType.FINAL, FrameType.ERROR):
            return None
        if self._at_server:
            if kind is FrameType.REPRESENTATION:
                return ErrorCode.REPRESENTATION_BY_CLIENT
            if kind is FrameType.INITIAL:
                return ErrorCode.SECOND_INITIAL if self._begun else None
            return None if self._begun else ErrorCode.INITIAL_NOT_FIRST
        if kind is FrameType.INITIAL:
            return ErrorCode.INITIAL_BY_SERVER
        if kind is FrameType.REPRESENTATION:
            return ErrorCode.SECOND_REPRESENTATION if self._begun else None
        return None if self._begun else ErrorCode.DIPLOMACY_BEFORE_REPRESENTATION

    def _judge_content(self, frame: Frame) -> None:
        if frame.type is FrameType.INITIAL:
            version, magic = _INITIAL.unpack_from(frame.content)
            if magic == _SWAPPED_MAGIC:
                raise DaideProtocolError(ErrorCode.WRONG_ENDIAN, "numbers with the low byte first")
            if magic != MAGIC:
                raise DaideProtocolError(ErrorCode.WRONG_MAGIC, f"the magic number {magic:#06x}")
            if version != VERSION:
                raise DaideProtocolError(ErrorCode.WRONG_VERSION, f"version {version} of the protocol")
        elif frame.type is FrameType.DIPLOMACY and self.words is not None:
            for token in frame.tokens:
                if not self.words.knows(token):
                    raise DaideProtocolError(ErrorCode.INVALID_TOKEN, f"{token:#06x} is not a token")
