"""How long a stream's caller is waited for, at the price of two assignments a message.

A timer a stream looks now and then whether the time is up, instead of one being set for every message.
"""

import asyncio
from math import inf
from typing import Any

from academy.service.refusals import AnswerNotRead, Draining, StreamIdle


class Patience:
    """Ends the task it is made in when that waits for its caller for too long. Close it with the stream."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a stream is answered by a task"
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._asked = False
        self._seconds = 0.0
        self._until = inf
        self._timer: asyncio.TimerHandle | None = None
        self._ended: Draining | StreamIdle | AnswerNotRead | None = None

    def for_question(self, seconds: float) -> None:
        """From now on a question is awaited; after so many seconds of that the task is cancelled."""
        self._asked = True
        self._wait(seconds)

    def for_reader(self, seconds: float) -> None:
        """From now on an answer is to be read; after so many seconds of that the task is cancelled."""
        self._asked = False
        self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = until = self._loop.time() + seconds
        timer = self._timer
        if timer is None or timer.when() > until:
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(until, self._look)

    def over(self) -> None:
        """What was waited for has come."""
        self._until = inf

    def close(self) -> None:
        """Wait no more."""
        self._until = inf
        if self._timer is not None:
            self._timer.cancel()

    def drain(self) -> asyncio.Task[Any]:
        """Cancel the task now if it waits for a question; return it.

        One whose answer is on its way is left alone: with that cut short, no status could be sent either.
        """
        if self._asked and self._until < inf and self._ended is None:
            self._end(Draining())
        return self._task

    def why(self) -> Exception | None:
        """Why the task was cancelled from here, which it then is not any more; None if it was not."""
        if self._ended is not None:
            self._task.uncancel()
        return self._ended

    def _look(self) -> None:
        self._timer = None
        if self._until <= self._loop.time():
            seconds = self._seconds
            self._end(StreamIdle("nothing was asked", seconds) if self._asked else AnswerNotRead(seconds))
        elif self._until < inf:
            self._timer = self._loop.call_at(self._until, self._look)

    def _end(self, why: Draining | StreamIdle | AnswerNotRead) -> None:
        self._ended = why
        self._task.cancel()
