"""Whether a process's event loop turns, told to the process that started it over a pipe.

One that is stopped, or stands still in one place, says nothing and is not otherwise noticed: it keeps its
connections, and new ones come to it.
"""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

# Of the silence that is allowed, so many beats fit in: a busy machine may be late with most of them.
_BEATS: Final = 10
_AT_ONCE: Final = 4_096


class Heart:
    """The end of the process that serves. Its beats begin once it does."""

    def __init__(self, pipe: Connection, allowed: float) -> None:
        """Beat often enough for so many seconds of silence to be allowed; 0: only once."""
        self._pipe = pipe
        self._between = allowed / _BEATS

    def begin(self) -> None:
        """Beat, now and then whenever the running event loop has come round to it."""
        os.set_blocking(self._pipe.fileno(), False)
        self._beat()

    def _beat(self) -> None:
        # Where nobody reads, enough is there to be read; who has gone needs none.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe.fileno(), b".")
        if self._between:
            asyncio.get_running_loop().call_later(self._between, self._beat)


class Pulse:
    """The end of the process that watches; `pipe` can be waited for."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.felt = False
        self.silent = 0.0

    def feel(self) -> bool:
        """Take the beats that are there, at least one; return False where the other end is closed."""
        if not os.read(self.pipe.fileno(), _AT_ONCE):
            return False
        self.felt, self.silent = True, 0.0
        return True


class Watch:
    """How long each of several has been silent, in seconds in which this process was awake.

    A machine that sleeps, or a container that is frozen, stops them all, and this process may be the first to
    go on. So of the time between two looks only the part counts in which it should have looked anyway.
    """

    def __init__(self, allowed: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow so many seconds of silence, by this clock; 0: any."""
        self._allowed = allowed
        self._clock = clock
        self._looked = clock()

    @property
    def between_looks(self) -> float | None:
        """The most seconds that may pass from one look to the next; None: any."""
        return self._allowed / _BEATS or None

    def too_silent(self, pulses: list[Pulse]) -> list[Pulse]:
        """Look once more: return those that have beaten, and then were silent for longer than is allowed."""
        now = self._clock()
        passed, self._looked = now - self._looked, now
        if self.between_looks is None:
            return []
        for pulse in pulses:
            pulse.silent += min(passed, self.between_looks)
        return [pulse for pulse in pulses if pulse.felt and pulse.silent > self._allowed]
