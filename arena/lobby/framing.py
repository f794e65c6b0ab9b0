"""Messages over the Unix socket between games and the lobby: four bytes of length, then the message."""

import asyncio
import socket
import struct
import time
from typing import Final, TypeVar

from google.protobuf.message import DecodeError, Message

MAX_FRAME: Final = 4 * 1024 * 1024
_LENGTH: Final = struct.Struct("!I")
_Message = TypeVar("_Message", bound=Message)


class BrokenFrameError(ConnectionError):
    """What came is no message, or ended within one."""


def framed(message: Message) -> bytes:
    """A message as it is sent. Raises ValueError for one that is too long."""
    content = message.SerializeToString()
    if len(content) > MAX_FRAME:
        raise ValueError(f"a message of {len(content)} bytes: at most {MAX_FRAME} may be sent")
    return _LENGTH.pack(len(content)) + content


async def read(reader: asyncio.StreamReader, kind: type[_Message]) -> _Message | None:
    """The next message, None at the end. Raises BrokenFrameError and OSError."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return _parsed(await reader.readexactly(_checked(length)), kind)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise BrokenFrameError("the connection ended within a message") from None
        return None


def receive(connection: socket.socket, kind: type[_Message], deadline: float) -> _Message | None:
    """The same from a blocking socket. Raises TimeoutError after `deadline`, a time of time.monotonic()."""
    head = _receive(connection, _LENGTH.size, deadline)
    if not head:
        return None
    (length,) = _LENGTH.unpack(head)
    return _parsed(_receive(connection, _checked(length), deadline), kind)


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    content = b""
    while len(content) < size:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        connection.settimeout(remaining)
        piece = connection.recv(size - len(content))
        if not piece:
            if content:
                raise BrokenFrameError("the connection ended within a message")
            break
        content += piece
    return content


def _checked(length: int) -> int:
    if length > MAX_FRAME:
        raise BrokenFrameError(f"a message of {length} bytes: at most {MAX_FRAME} are read")
    return length


def _parsed(content: bytes, kind: type[_Message]) -> _Message:
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise BrokenFrameError(str(error)) from error
