"""When to try again: a question after RESOURCE_EXHAUSTED, a stream to the arena after it broke."""

import time
from collections.abc import Callable
from typing import Final

from clients.connection import AcademyRefusedError, AcademyUnavailableError

REDIAL_SECONDS: Final = 60.0
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 5.0


class RetryBudget:
    """How long one question may wait for its answer, however often it is asked again."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._refusals = 0

    @property
    def left(self) -> float:
        """The seconds that are left of it."""
        return self._until - time.monotonic()

    def pause(self, failure: AcademyRefusedError | AcademyUnavailableError) -> float:
        """Return the seconds after which to ask again.

        Each refusal makes the pause longer: asking again counts against the client's rate as well. Raises the
        failure where ACADEMY named no time, or a later one than this budget allows.
        """
        if not isinstance(failure, AcademyRefusedError) or failure.retry_after is None:
            raise failure
        self._refusals += 1
        pause = self._refusals * failure.retry_after
        if pause >= self.left:
            raise failure
        return pause


class Redialling:
    """Whether and when a stream that has ended is begun again."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Give up when the arena could not be reached for this number of seconds."""
        self._seconds = seconds
        self._clock = clock
        self._pause = _FIRST_PAUSE_SECONDS
        self._reached = False
        self._alone_since = clock()

    def pause(self, welcomed: bool, reason: AcademyUnavailableError | None) -> float | None:
        """Return the seconds to wait; None where no other stream shall follow.

        Raises the reason why this stream ended where the arena never accepted one.
        """
        if welcomed:
            self._reached, self._alone_since, self._pause = True, self._clock(), _FIRST_PAUSE_SECONDS
        pause = self._pause
        if self._clock() + pause > self._alone_since + self._seconds:
            if self._reached or reason is None:
                return None
            raise reason
        self._pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        return pause
