"""The games' side of the lobby: a Unix socket that only this user's processes can reach.

A message on it is four bytes of length and a protobuf message.
"""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from google.protobuf.message import DecodeError, Message

from arena.lobby.v1 import lobby_pb2
from arena.temporary_folder import temporary_folder

if TYPE_CHECKING:
    # Processes that play games need the messages alone.
    from arena.lobby.lobby import Lobby

MAX_FRAME: Final = 4 * 1024 * 1024
_LIST_SECONDS: Final = 5.0
_LENGTH: Final = struct.Struct("!I")
_Message = TypeVar("_Message", bound=Message)


class BrokenFrameError(ConnectionError):
    """What came is not a message, or ended within one."""


def frame(message: Message) -> bytes:
    """A message as it is sent. Raises ValueError for one that is too long."""
    content = message.SerializeToString()
    if len(content) > MAX_FRAME:
        raise ValueError(f"a message of {len(content)} bytes: at most {MAX_FRAME} may be sent")
    return _LENGTH.pack(len(content)) + content


async def read(reader: asyncio.StreamReader, kind: type[_Message]) -> _Message | None:
    """The next message, None at the end. Raises BrokenFrameError and OSError."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return _parse(await reader.readexactly(_check_length(length)), kind)
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
    return _parse(_receive(connection, _check_length(length), deadline), kind)


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


def _check_length(length: int) -> int:
    if length > MAX_FRAME:
        raise BrokenFrameError(f"a message of {length} bytes: at most {MAX_FRAME} are read")
    return length


def _parse(content: bytes, kind: type[_Message]) -> _Message:
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise BrokenFrameError(str(error)) from error


def free_players(lobby: str, question: lobby_pb2.ListFree) -> Sequence[str]:
    """The players at the lobby of a socket that can begin a game; none where the lobby is gone."""
    deadline = time.monotonic() + _LIST_SECONDS
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_LIST_SECONDS)
        connection.connect(lobby)
        connection.sendall(frame(lobby_pb2.FromGame(list_free=question)))
        answer = receive(connection, lobby_pb2.ToGame, deadline)
        if answer is not None:
            return list(answer.free.players)
    return []


@asynccontextmanager
async def open_game_socket(lobby: "Lobby") -> AsyncIterator[Path]:
    """Serve games while the block lasts; yields the socket's path, in a folder of its own."""
    with temporary_folder() as folder:
        path = folder / "lobby"
        tasks: set[asyncio.Task[None]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await _serve(lobby, reader, writer)
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_unix_server(serve, path)
        try:
            yield path
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(lobby: "Lobby", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    def send(message: lobby_pb2.ToGame) -> None:
        if not writer.is_closing():
            writer.write(frame(message))

    seat = None
    try:
        first = await read(reader, lobby_pb2.FromGame)
        if first is None or not first.HasField("seek"):
            if first is not None and first.HasField("list_free"):
                names = lobby.offer(first.list_free)
                send(lobby_pb2.ToGame(free=lobby_pb2.Free(players=names)))
            return
        seat = lobby.seek(first.seek, send)
        while (message := await read(reader, lobby_pb2.FromGame)) is not None:
            if message.HasField("say"):
                seat.say(message.say)
    except (BrokenFrameError, OSError):
        # The worker was killed; the competition finds it out by itself.
        pass
    finally:
        if seat is not None:
            lobby.end(seat)
        with contextlib.suppress(OSError):
            await writer.drain()
