"""Keeping the pauses short in which Python looks for unreachable cycles among all objects.

What a server holds is millions of objects, the libraries, that stay; looking at all of them takes longer
than hundreds of answers.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

_LONG_SECONDS: Final = 0.005
_OLDEST: Final = 2


class GcPauseLimiter:
    """Is told of each search; after a long one, what survived it is left alone."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = 0.0

    def __call__(self, phase: str, information: dict[str, Any]) -> None:
        """Take note of a search's beginning or end, as `gc.callbacks` are told of them."""
        if phase == "start":
            self._began = self._clock()
        elif information["generation"] == _OLDEST and self._clock() - self._began > _LONG_SECONDS:
            # What is left has just been found to be in use.
            gc.freeze()


@contextmanager
def without_searches() -> Iterator[None]:
    """Search for nothing meanwhile: for what is imported or loaded and stays."""
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


@cache
def keep_pauses_short() -> None:
    """From now on, have what is there now, or was left after a long search, not be looked at again.

    Objects are freed as before when nothing refers to them; only cycles that they are a part of are kept.
    """
    gc.freeze()
    gc.callbacks.append(GcPauseLimiter())
