"""Tells open pages when ACADEMY has learnt something: one watch for all who look on."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

from academy.v1 import tokens_pb2
from web.academy_service import AcademyService
from web.failures import PageError
from web.shared_answer import SharedAnswer

__all__ = ["LibraryNews"]

# Contests may come faster than anybody reads.
_RENEWAL_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 5.0
_log = logging.getLogger(__name__)


class LibraryNews:
    """Watches ACADEMY while there are pages that show what is new. For one event loop.

    `render` makes the part of a page with what is new, and raises PageError.

    Attributes:
        watchers: How many pages are open.
        is_refused: Whether the token may not watch, as ACADEMY answered last; None before its first answer.
    """

    def __init__(self, academy: AcademyService, render: Callable[[], Awaitable[str]]) -> None:
        self._academy = academy
        self._render = render
        self._changed = asyncio.Condition()
        self._learnt = asyncio.Event()
        self._version = 0
        self._part = ""
        self._tasks: list[asyncio.Task[None]] = []
        self._caller = SharedAnswer(self._ask_caller, _RETRY_SECONDS)
        self.watchers = 0
        self.is_refused: bool | None = None

    async def is_open(self) -> bool | None:
        """Return whether the token may watch; None while ACADEMY does not say whose it is."""
        if self.is_refused is not False:
            # A token that was refused may have got the right since.
            caller = await self._academy.extras.get("caller", self._caller.get)
            if caller is not None:
                self.is_refused = caller.role != tokens_pb2.TOKEN_ROLE_ADMIN
        return None if self.is_refused is None else not self.is_refused

    async def _ask_caller(self) -> tokens_pb2.GetCallerResponse:
        try:
            return await self._academy.ask(self._academy.tokens.GetCaller, tokens_pb2.GetCallerRequest())
        except PageError as error:
            if error.status == 403:
                self.is_refused = True
            raise

    async def parts(self) -> AsyncIterator[str]:
        """Yield the part of a page as it is now, and each time that something was learnt."""
        self.watchers += 1
        seen = 0
        if not self._tasks:
            # The page may be older than the watch, and the last part older than the page.
            seen = self._version
            self._learnt.set()
            self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._renew())]
        try:
            while True:
                async with self._changed:
                    await self._changed.wait_for(partial(self._has_more, seen))
                if self.is_refused:
                    return
                seen = self._version
                yield self._part
        finally:
            self.watchers -= 1
            if not self.watchers:
                await self.close()

    def _has_more(self, seen: int) -> bool:
        return self._version != seen or self.is_refused is True

    async def close(self) -> None:
        """Watch no longer."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        after: int | None = None
        while True:
            try:
                async for event in self._academy.watch(after):
                    after = event.sequence
                    self._learnt.set()
            except PageError as error:
                if error.status == 403:
                    self.is_refused = True
                    async with self._changed:
                        self._changed.notify_all()
            # ACADEMY ended the stream, refused it, is away, or has too many who watch.
            await asyncio.sleep(_RETRY_SECONDS)

    async def _renew(self) -> None:
        while True:
            await self._learnt.wait()
            self._learnt.clear()
            try:
                self._part = await self._render()
                self._version += 1
                async with self._changed:
                    self._changed.notify_all()
            except PageError:
                # What is learnt next asks again.
                pass
            except Exception:
                _log.exception("what is new at ACADEMY cannot be shown")
            await asyncio.sleep(_RENEWAL_SECONDS)
