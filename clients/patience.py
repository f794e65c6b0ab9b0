"""Asking again where ACADEMY says when to: who asks too fast is put off, not turned away."""

import time

from clients.connection import AcademyRefusedError, AcademyUnavailableError


class RetryBudget:
    """How long one question is worth waiting for, whoever is asked and however often."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._refusals = 0

    @property
    def left(self) -> float:
        """The seconds that are left of it."""
        return self._until - time.monotonic()

    def pause(self, failure: AcademyRefusedError | AcademyUnavailableError) -> float:
        """The seconds after which to ask again.

        Raises the failure where ACADEMY did not say when to, or later than one waits. Each refusal is waited
        for longer than the one before: asking again counts against one's rate as well.
        """
        if not isinstance(failure, AcademyRefusedError) or failure.retry_after is None:
            raise failure
        self._refusals += 1
        pause = self._refusals * failure.retry_after
        if pause >= self.left:
            raise failure
        return pause
