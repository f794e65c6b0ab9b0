"""The timeout of a call, which ends one whose message does not come or whose answers are not read."""

import asyncio
from typing import Any, TypeAlias

from academy.service.errors import AnswerNotReadError, ServerDrainingError, StreamIdleError
from academy.wire.errors import MessageOverdueError

Task: TypeAlias = "asyncio.Task[Any]"
Overdue: TypeAlias = type[MessageOverdueError] | type[StreamIdleError] | type[AnswerNotReadError]


class CallTimeout:
    """Ends the task that creates it when the caller keeps it waiting. Stop it with the call."""

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None, "a call is answered by a task"
        self._task = task
        self._waits_for_message = False
        self._timer: asyncio.TimerHandle | None = None
        self._error: Exception | None = None

    def wait(self, seconds: float, overdue: Overdue) -> None:
        """Cancel the task, with such an error, unless the caller acts within `seconds`."""
        self._waits_for_message = overdue is not AnswerNotReadError
        self._timer = asyncio.get_running_loop().call_later(seconds, lambda: self._end(overdue(seconds)))

    def stop(self) -> None:
        """Wait no longer: the caller has acted."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def drain(self) -> Task:
        """Cancel the task now if it waits for a message; return it.

        A task that is sending an answer goes on: a status could not follow a truncated answer.
        """
        if self._waits_for_message and self._timer is not None:
            self._end(ServerDrainingError())
        return self._task

    def take_error(self) -> Exception | None:
        """Return why the timeout cancelled the task, and take the cancellation back; None if it did not."""
        if self._error is not None:
            self._task.uncancel()
        return self._error

    def _end(self, error: Exception) -> None:
        self.stop()
        self._error = error
        self._task.cancel()
