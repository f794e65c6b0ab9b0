"""Keeping the pauses short in which Python looks for unreachable cycles among all objects.

What a server holds is millions of objects, the libraries, that stay; looking at all of them takes longer
than hundreds of answers.
"""

import gc
import time
from functools import cache
from typing import Any, Final

_LONG_SECONDS: Final = 0.005
_OLDEST: Final = 2


class _Watch:
    def __init__(self) -> None:
        self._began = 0.0

    def __call__(self, phase: str, information: dict[str, Any]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        elif information["generation"] == _OLDEST and time.perf_counter() - self._began > _LONG_SECONDS:
            # What is left has just been found to be in use.
            gc.freeze()


@cache
def keep_pauses_short() -> None:
    """From now on, have what was left after a long search not be looked at again.

    Objects are freed as before when nothing refers to them; only cycles that they are a part of are kept.
    """
    gc.callbacks.append(_Watch())
