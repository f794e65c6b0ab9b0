"""The games' side of the lobby: a Unix socket that only this user's processes can reach."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from arena.lobby.framing import BrokenFrameError, framed, read
from arena.lobby.lobby import Lobby
from arena.lobby.v1 import lobby_pb2


@asynccontextmanager
async def game_door(lobby: Lobby) -> AsyncIterator[Path]:
    """Serve games while the block lasts; yields the socket's path, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="arena-") as folder:
        path = Path(folder) / "lobby"
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


async def _serve(lobby: Lobby, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    def tell(message: lobby_pb2.ToGame) -> None:
        if not writer.is_closing():
            writer.write(framed(message))

    seat = None
    try:
        first = await read(reader, lobby_pb2.FromGame)
        if first is None or not first.HasField("seek"):
            return
        seat = lobby.seek(first.seek, tell)
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
