"""Rate limits: buckets that fill with time, a single one or one for each caller."""

import time
from collections.abc import Callable
from typing import Final

_BUCKETS_REMEMBERED: Final = 4_096


class Bucket:
    """Fills by `per_second` up to `burst`; each use takes one out."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._seen = clock()

    def take(self, count: float) -> float:
        """Take `count` out and return 0, or take none and return the seconds until there are enough.

        A full bucket allows more than a whole burst at once, and refills afterwards.
        """
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_second)
        self._seen = now
        missing = min(count, self._burst) - self._level
        if missing > 0:
            return missing / self._per_second
        self._level -= count
        return 0.0

    def use(self) -> bool:
        """Take one out; return whether there was one."""
        return self.take(1) == 0

    @property
    def is_full(self) -> bool:
        """Whether the bucket is full, like a new one."""
        return self._level + (self._clock() - self._seen) * self._per_second >= self._burst


class Buckets:
    """A bucket for each caller. Full ones are like new ones: they are dropped if there are many."""

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

    def of(self, caller: str) -> Bucket:
        """Return a caller's bucket, to use at once: it may be dropped before the next call."""
        bucket = self._buckets.get(caller)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._make_room()
            bucket = self._buckets[caller] = Bucket(*self._filled)
        return bucket

    def _make_room(self) -> None:
        self._buckets = {caller: bucket for caller, bucket in self._buckets.items() if not bucket.is_full}
        # Half of them at a time, those known longest first, so that not every new caller costs a search.
        for caller in list(self._buckets)[: max(0, len(self._buckets) - self._most // 2)]:
            del self._buckets[caller]
