"""How often something may happen: a bucket that fills with time."""

import time


class Allowance:
    """Fills by `per_second` up to `burst`; each use takes one out."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = self._level = burst
        self._seen = time.monotonic()

    def use(self) -> bool:
        """Whether there was one left to take."""
        now = time.monotonic()
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_second)
        self._seen = now
        if self._level < 1:
            return False
        self._level -= 1
        return True
