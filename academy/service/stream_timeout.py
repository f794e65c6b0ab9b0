"""Timeouts of calls that wait for their callers: for a stream that is idle, a message, or a reader.

`StreamTimeout` ends one stream; `TimeoutQueue` finds the overdue among many tasks.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, TypeAlias

from academy.service.errors import AnswerNotReadError, ServerDrainingError, StreamIdleError

Task: TypeAlias = "asyncio.Task[Any]"


class StreamTimeout:
    """Ends the task it is made in when that waits for its caller for too long. Close it with the stream."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a stream is answered by a task"
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._awaits_question = False
        self._seconds = 0.0
        self._until = inf
        self._timer: asyncio.TimerHandle | None = None
        self._error: ServerDrainingError | StreamIdleError | AnswerNotReadError | None = None

    def await_question(self, seconds: float) -> None:
        """Cancel the task if the next question takes longer than so many seconds."""
        self._awaits_question = True
        self._wait(seconds)

    def await_reader(self, seconds: float) -> None:
        """Cancel the task if an answer stays unread for longer than so many seconds."""
        self._awaits_question = False
        self._wait(seconds)

    def stop(self) -> None:
        """Stop waiting: what was waited for has come."""
        self._until = inf

    def close(self) -> None:
        """Wait no more."""
        self._until = inf
        if self._timer is not None:
            self._timer.cancel()

    def drain(self) -> Task:
        """Cancel the task now if it waits for a question; return it.

        One whose answer is on its way is left alone: with that cut short, no status could be sent either.
        """
        if self._awaits_question and self._until < inf and self._error is None:
            self._end(ServerDrainingError())
        return self._task

    def take_error(self) -> Exception | None:
        """Return why the timeout cancelled the task, which it then is not any more; None if it did not."""
        if self._error is not None:
            self._task.uncancel()
        return self._error

    def _wait(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = until = self._loop.time() + seconds
        timer = self._timer
        if timer is None or timer.when() > until:
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(until, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._until <= self._loop.time():
            self._end((StreamIdleError if self._awaits_question else AnswerNotReadError)(self._seconds))
        elif self._until < inf:
            self._timer = self._loop.call_at(self._until, self._look)

    def _end(self, error: ServerDrainingError | StreamIdleError | AnswerNotReadError) -> None:
        self._error = error
        self._task.cancel()


class TimeoutQueue:
    """Calls `overdue` once for each task that has waited for so many seconds. For one event loop."""

    def __init__(self, seconds: float, overdue: Callable[[Task], None]) -> None:
        self._seconds = seconds
        self._overdue = overdue
        # In the order in which their time is up.
        self._until: dict[Task, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, task: Task) -> None:
        """Note that a task waits from now on."""
        self._until[task] = time.monotonic() + self._seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def end(self, task: Task) -> None:
        """Note that a task waits no more; nothing for one that does not wait."""
        self._until.pop(task, None)

    def __iter__(self) -> Iterator[Task]:
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
            self._overdue(task)
