"""How fast one caller may ask: a token bucket each."""

import time
from collections.abc import Callable


class RateExceeded(RuntimeError):
    """A caller asks faster than the limit; `retry_after` is in seconds."""

    def __init__(self, per_second: float, burst: float, retry_after: float) -> None:
        super().__init__(
            f"more than {per_second:g} questions a second (and {burst:g} at once): "
            f"ask again in {retry_after:.3f} seconds"
        )
        self.questions_per_second = per_second
        self.question_burst = burst
        self.retry_after = retry_after


class Bucket:
    """Fills by `per_second` up to `burst`; each question takes one out."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._seen = clock()

    def take(self, questions: float) -> None:
        """Take questions out, or none of them and raise RateExceeded.

        More than a whole burst at once is let pass when the bucket is full, and has to be refilled after.
        """
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_second)
        self._seen = now
        missing = min(questions, self._burst) - self._level
        if missing > 0:
            raise RateExceeded(self._per_second, self._burst, missing / self._per_second)
        self._level -= questions
