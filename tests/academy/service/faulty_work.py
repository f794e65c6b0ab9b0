"""What server processes do that go wrong; in a file that loads little, as each process loads it."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path


def hang_once(stood: Path, number: int, ready: Callable[[], None]) -> None:
    async def serve() -> None:
        ready()
        if not stood.exists():
            stood.touch()
            # Nothing else is done by its event loop meanwhile.
            threading.Event().wait()
        os.kill(os.getppid(), signal.SIGTERM)
        await asyncio.Event().wait()

    asyncio.run(serve())


def second_fails(number: int, ready: Callable[[], None]) -> None:
    if number == 1:
        raise SystemExit(3)
    asyncio.run(_turns(ready))


async def _turns(ready: Callable[[], None]) -> None:
    ready()
    await asyncio.Event().wait()
