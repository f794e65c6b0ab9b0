"""Players that dial in from a thread of the tests' process, until the test has seen enough of them."""

import asyncio
import threading
from collections.abc import Coroutine


class Visits:
    """Visits of players; they end when this is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def begin(self, visit: Coroutine[None, None, object]) -> None:
        """Let a player dial in and play."""
        asyncio.run_coroutine_threadsafe(visit, self._loop)

    def close(self) -> None:
        """End all visits, and their thread."""

        async def leave() -> None:
            visits = asyncio.all_tasks() - {asyncio.current_task()}
            for visit in visits:
                visit.cancel()
            await asyncio.gather(*visits, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(leave(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
