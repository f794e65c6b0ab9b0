"""Giving way: a command that takes milliseconds lets questions be answered between its steps.

The writer is a thread beside the one that answers, and Python runs one of them at a time. As long as both
have something to do each has half of it, so all that is asked during a command is late by the time that the
command takes. After a rest what came meanwhile has been answered, and is late by one step only.
"""

import time
from collections.abc import Callable
from typing import Final

# As long as some answers take.
_SECONDS: Final = 0.002


class GivingWay:
    """Rests between two steps of a command where questions were asked since the last time."""

    def __init__(self, rest: Callable[[float], None] = time.sleep) -> None:
        self._rest = rest
        self._asked: Callable[[], float] | None = None
        self._seen = 0.0

    def to(self, asked: Callable[[], float]) -> None:
        """From now on give way to questions; `asked` says how many there were so far, in any thread."""
        self._asked = asked

    def __call__(self) -> None:
        """End a step."""
        if self._asked is None:
            return
        asked = self._asked()
        if asked != self._seen:
            self._seen = asked
            self._rest(_SECONDS)
