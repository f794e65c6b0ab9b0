"""Tasks that wait for their callers, each kind for equally long: one timer for all, two entries a call."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

_Task = asyncio.Task[Any]


class Waits:
    """Tells of each task that has waited for so many seconds, once. For one event loop."""

    def __init__(self, seconds: float, tell: Callable[[_Task], None]) -> None:
        self._seconds = seconds
        self._tell = tell
        # In the order in which their time is up.
        self._until: dict[_Task, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: _Task) -> None:
        """From now on a task waits."""
        self._until[task] = time.monotonic() + self._seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def over(self, task: _Task) -> None:
        """What it waited for has come; nothing for one that does not wait."""
        self._until.pop(task, None)

    def __iter__(self) -> Iterator[_Task]:
        return iter(list(self._until))

    def _look(self) -> None:
        self._timer = None
        now = time.monotonic()
        for task, until in list(self._until.items()):
            if until > now:
                # Looked at no more often than it can matter.
                self._timer = asyncio.get_running_loop().call_later(until - now, self._look)
                return
            del self._until[task]
            self._tell(task)
