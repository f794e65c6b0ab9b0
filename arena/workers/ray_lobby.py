"""The way between a game on a node of a Ray cluster and the arena's lobby, where players have dialled in.

The game finds a socket on its node, as it finds the lobby's on the arena's machine. What goes through it is
carried by calls of Ray's, so it needs no port and no rights but the cluster's own.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from arena.jobs import REMOTE, GameJob, PlayerSetup

_PIECE_BYTES: Final = 1 << 16
# More waits in the game's process.
_MOST_PIECES: Final = 64
# A game reads what its player says by turns; a player that says more than this meanwhile is cut off.
_MOST_UNREAD: Final = 16 << 20
_ENDING_SECONDS: Final = 5.0
_T = TypeVar("_T")


class Piece(NamedTuple):
    """Bytes of one of a game's connections to the lobby; none: the sender has ended it."""

    connection: int
    content: bytes


def lobby_of(job: GameJob) -> str | None:
    """The socket of the lobby on the arena's machine; None where no player of the game has dialled in."""
    remote = [player for player in job.players if player.protocol == REMOTE]
    return str(remote[0].parameters["lobby"]) if remote else None


def at_lobby(player: PlayerSetup, lobby: Path) -> PlayerSetup:
    """The player, looked for at another lobby if it dials in."""
    if player.protocol != REMOTE:
        return player
    return replace(player, parameters={**player.parameters, "lobby": str(lobby)})


def start_loop(name: str) -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own, which lasts as long as the process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
    return loop


class NodeLobby:
    """The socket on the node, in a folder of this user's. Its methods may be called from any thread."""

    def __init__(self, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        """Listen, in an event loop of another thread. Raises OSError."""
        self.path = folder / "lobby"
        self._loop = loop
        self._numbers = count()
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._reading = 0
        self._pieces: list[Piece] = []
        self._is_over = False
        self._changed = asyncio.Condition()
        self._server = self._run(asyncio.start_unix_server(self._serve, self.path))

    def receive(self, seconds: float) -> Sequence[Piece] | None:
        """What the game has sent meanwhile, for which this waits some seconds; None once it is over."""
        return self._run(self._receive(seconds))

    def send(self, piece: Piece) -> None:
        """Send the game what the lobby sent. This waits for nothing."""
        self._loop.call_soon_threadsafe(_write, self._writers[piece.connection], piece.content)

    def end(self) -> Sequence[Piece]:
        """End all connections once the game has; return what is not received yet."""
        return self._run(self._end())

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(self._numbers)
        self._writers[number] = writer
        self._reading += 1
        content = b"."
        while content:
            content = await _read(reader)
            async with self._changed:
                await self._changed.wait_for(lambda: len(self._pieces) < _MOST_PIECES or self._is_over)
                self._pieces.append(Piece(number, content))
                if not content:
                    self._reading -= 1
                self._changed.notify_all()

    async def _receive(self, seconds: float) -> Sequence[Piece] | None:
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait_for(lambda: bool(self._pieces) or self._is_over)
            if self._is_over:
                return None
            pieces, self._pieces = self._pieces, []
            self._changed.notify_all()
            return pieces

    async def _end(self) -> Sequence[Piece]:
        self._server.close()
        async with self._changed:
            # From now on pieces come in their order by this call alone.
            self._is_over = True
            self._changed.notify_all()
            # The game's process has closed its connections, or has ended.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ENDING_SECONDS):
                    await self._changed.wait_for(lambda: not self._reading)
        for writer in self._writers.values():
            writer.transport.abort()
        return self._pieces.copy()


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_PIECE_BYTES)
    except OSError:
        return b""


def _write(writer: asyncio.StreamWriter, content: bytes) -> None:
    if writer.is_closing():
        return
    if not content:
        writer.close()
    elif writer.transport.get_write_buffer_size() > _MOST_UNREAD:
        writer.transport.abort()
    else:
        writer.write(content)


async def _called(call: "Future[_T]") -> _T:
    """The result of a call, which is not cancelled with its waiting task: Ray still sets its result."""
    result = asyncio.wrap_future(call)
    # Looked at, as asyncio prints errors that nobody has seen.
    result.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(result)


class LobbyLink:
    """The other end, on the arena's machine: connects one game with the lobby, in an event loop."""

    def __init__(
        self,
        lobby: str,
        receive: Callable[[], "Future[Sequence[Piece] | None]"],
        send: Callable[[Piece], "Future[None]"],
        fail: Callable[[Exception], object],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Begin to carry what there is, until the game is over.

        `receive` and `send` are those of its `NodeLobby`. `fail` is called, in the loop, if they fail: the
        game must be given up then, as it would wait in vain, and a player lose by it.
        """
        self._lobby, self._receive, self._send = lobby, receive, send
        # None: the lobby is gone.
        self._writers: dict[int, asyncio.StreamWriter | None] = {}
        self._left: Future[Sequence[Piece]] = Future()
        self._tasks = asyncio.TaskGroup()
        self._hearing: list[asyncio.Task[None]] = []
        self._carried = asyncio.run_coroutine_threadsafe(self._carry(fail), loop)

    def end(self, left: Sequence[Piece] = ()) -> None:
        """Pass on what the game has sent last, and end its connections at the lobby."""
        self._left.set_result(left)
        with contextlib.suppress(TimeoutError):
            self._carried.result(_ENDING_SECONDS)

    async def _carry(self, fail: Callable[[Exception], object]) -> None:
        try:
            async with self._tasks:
                await self._receive_all()
                for task in self._hearing:
                    task.cancel()
        except* Exception as errors:
            if not self._left.done():
                fail(errors.exceptions[0])
        finally:
            for writer in filter(None, self._writers.values()):
                writer.close()

    async def _receive_all(self) -> None:
        while (pieces := await _called(self._receive())) is not None:
            await self._pass_on(pieces)
            if not pieces and self._left.done():
                # The node plays another game by now.
                break
        await self._pass_on(await _called(self._left))

    async def _pass_on(self, pieces: Sequence[Piece]) -> None:
        for number, content in pieces:
            if number not in self._writers:
                self._writers[number] = None
                try:
                    reader, self._writers[number] = await asyncio.open_unix_connection(self._lobby)
                except (ConnectionError, FileNotFoundError):
                    await _called(self._send(Piece(number, b"")))
                else:
                    self._hearing.append(self._tasks.create_task(self._hear(number, reader)))
            writer = self._writers[number]
            if writer is not None:
                _write(writer, content)

    async def _hear(self, number: int, reader: asyncio.StreamReader) -> None:
        content = b"."
        while content:
            content = await _read(reader)
            await _called(self._send(Piece(number, content)))
