"""A lobby beside a program that has no event loop of its own: in a thread."""

import asyncio
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from arena.lobby.addresses import Endpoint
from arena.lobby.limits import LobbyLimits
from arena.lobby.lobby import Doorkeeper
from arena.lobby.serving import OpenLobby, open_lobby
from arena.lobby.streams import Note


class BackgroundLobby:
    """A lobby that is open while its `with` block lasts; entering raises InvalidAddress and OSError.

    `note` is called in its thread.
    """

    def __init__(
        self, endpoint: Endpoint, doorkeeper: Doorkeeper, note: Note, limits: LobbyLimits | None = None
    ) -> None:
        self._limits = limits
        self._note = note
        self._endpoint = endpoint
        self._doorkeeper = doorkeeper
        self._opened: Future[OpenLobby] = Future()
        self._closing: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._thread = threading.Thread(target=self._run, name="lobby", daemon=True)

    @property
    def open(self) -> OpenLobby:
        """Where it is."""
        return self._opened.result()

    def __enter__(self) -> Self:
        self._thread.start()
        self._opened.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closing is not None:
            loop, closed = self._closing
            loop.call_soon_threadsafe(closed.set)
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            # To whoever enters, in the other thread; later ones there are none to tell.
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _serve(self) -> None:
        closed = asyncio.Event()
        async with open_lobby(self._endpoint, self._doorkeeper, self._note, self._limits) as lobby:
            self._closing = asyncio.get_running_loop(), closed
            self._opened.set_result(lobby)
            await closed.wait()
