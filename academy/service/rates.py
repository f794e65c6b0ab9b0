"""How fast one caller may ask: a token bucket each."""

import time
from collections.abc import Callable
from typing import Final

_BUCKETS_REMEMBERED: Final = 4_096


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

    @property
    def is_full(self) -> bool:
        """Whether it holds all it can: it is then as good as a new one."""
        return self._level + (self._clock() - self._seen) * self._per_second >= self._burst


class Buckets:
    """A bucket for each caller. Full ones are dropped where there are many, as they say nothing."""

    def __init__(
        self,
        per_second: float,
        burst: float,
        *,
        most: int = _BUCKETS_REMEMBERED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._filled = per_second, burst, clock
        self._most = most
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, caller: str, questions: float) -> None:
        """Take questions out of a caller's bucket. Raises RateExceeded."""
        bucket = self._buckets.get(caller)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._make_room()
            bucket = self._buckets[caller] = Bucket(*self._filled)
        bucket.take(questions)

    def _make_room(self) -> None:
        self._buckets = {caller: bucket for caller, bucket in self._buckets.items() if not bucket.is_full}
        # Half of them at a time, those known longest first, so that not every new caller costs a search.
        for caller in list(self._buckets)[: max(0, len(self._buckets) - self._most // 2)]:
            del self._buckets[caller]
