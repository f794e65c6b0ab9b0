"""Before a token counts as unknown: reading on in the log that servers share."""

import asyncio
import time
from typing import Final

from academy.service.errors import TokenUncheckedError
from academy.store.errors import StoreError
from academy.store.library_store import Store

# Shorter than clients wait for an answer.
_CATCH_UP_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.05
_MOST_WAITING: Final = 1_000


class LogCatchUp:
    """Reads on in the log that servers share: a ticket of one of them is good at another at once.

    For one event loop. All who wait share a look at the log, and between looks there is a pause: however
    many bad tokens come, NATS is asked 20 times a second at most.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        # The look that has not begun yet.
        self._next: asyncio.Task[None] | None = None
        self._waiting = 0
        self._pause_ends = 0.0

    async def catch_up(self) -> None:
        """Wait until all is here that was written before. Raises TokenUncheckedError where that fails."""
        if not self._store.follows_log or self._waiting >= _MOST_WAITING:
            raise TokenUncheckedError
        if self._next is None:
            self._next = asyncio.create_task(self._look())
        self._waiting += 1
        try:
            await asyncio.shield(self._next)
        except StoreError as error:
            raise TokenUncheckedError from error
        finally:
            self._waiting -= 1

    async def _look(self) -> None:
        async with self._lock:
            await asyncio.sleep(self._pause_ends - time.monotonic())
            # Who comes from here on may ask for what this look misses.
            self._next = None
            self._pause_ends = time.monotonic() + _PAUSE_SECONDS
            await asyncio.to_thread(self._store.catch_up, _CATCH_UP_SECONDS)
