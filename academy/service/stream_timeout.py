"""The timeout of a stream, which ends one that is idle or whose answers are not read."""

import asyncio
from math import inf
from typing import Any, TypeAlias

from academy.service.errors import AnswerNotReadError, ServerDrainingError, StreamIdleError

Task: TypeAlias = "asyncio.Task[Any]"


class StreamTimeout:
    """Ends the task that creates it when the caller keeps it waiting. Close it with the stream."""

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
        """Cancel the task if the next question takes longer than `seconds`."""
        self._awaits_question = True
        self._wait(seconds)

    def await_reader(self, seconds: float) -> None:
        """Cancel the task if an answer stays unread for longer than `seconds`."""
        self._awaits_question = False
        self._wait(seconds)

    def stop(self) -> None:
        """Stop the timer: the caller has acted."""
        self._until = inf

    def close(self) -> None:
        """Stop waiting."""
        self._until = inf
        if self._timer is not None:
            self._timer.cancel()

    def drain(self) -> Task:
        """Cancel the task now if it waits for a question; return it.

        A task that is sending an answer goes on: a status could not follow a truncated answer.
        """
        if self._awaits_question and self._until < inf and self._error is None:
            self._end(ServerDrainingError())
        return self._task

    def take_error(self) -> Exception | None:
        """Return why the timeout cancelled the task, and take the cancellation back; None if it did not."""
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
