"""Answers of services that many pages want at the same time, and those that a page can do without."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from web.failures import PageError

__all__ = ["Extras", "SharedAnswer"]

Value = TypeVar("Value")
_WAIT_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 5.0
# The service is away or slow; other refusals come at once, and are of one page alone.
_SILENT: Final = (503, 504)


class SharedAnswer(Generic[Value]):
    """An answer that all who want it wait for together. It is kept for `seconds`, a failure too."""

    def __init__(self, ask: Callable[[], Awaitable[Value]], seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asking: asyncio.Task[Value] | None = None
        self._good_until = 0.0

    async def get(self) -> Value:
        """Return the answer. Raises PageError."""
        asking = self._asking
        if asking is None or (asking.done() and time.monotonic() >= self._good_until):
            asking = self._asking = asyncio.create_task(self._answer())
        # A visitor who leaves does not take the answer from the others.
        return await asyncio.shield(asking)

    async def _answer(self) -> Value:
        try:
            return await self._ask()
        finally:
            self._good_until = time.monotonic() + self._seconds


class Extras:
    """Asks a service for what pages can do without. While it is silent about it they do without at once."""

    def __init__(self) -> None:
        self._paused_until: dict[str, float] = {}

    async def get(self, what: str, ask: Callable[[], Awaitable[Value]]) -> Value | None:
        """Return an answer; None where the service refuses or is silent for two seconds.

        `what` is the kind of question: a slow one takes no others from pages.
        """
        if time.monotonic() < self._paused_until.get(what, 0.0):
            return None
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                return await ask()
        except TimeoutError:
            self._pause(what)
        except PageError as error:
            if error.status in _SILENT:
                self._pause(what)
        return None

    def _pause(self, what: str) -> None:
        self._paused_until[what] = time.monotonic() + _PAUSE_SECONDS
