"""Breaking off Python code that takes too long."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeIsUp(BaseException):
    """Raised in the midst of what an alarm was set for; no `except Exception` there can swallow it."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in the block when it has run for so long. Only for the main thread.

    Code in C is broken off when it returns to Python, or looks for signals itself. A timer that was
    running before goes on afterwards.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    began = time.monotonic()
    # 0 would stop the timer.
    left, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-6), interval)
