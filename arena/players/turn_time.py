"""How long a bot may take for the requests of one turn, and what its clock shows meanwhile."""

import math
import time
from collections.abc import Callable

from arena.players.player import Seating


class TurnTime:
    """The time of one turn, in seconds, which may have several requests; the first begins at once.

    Without a clock `move_seconds` are for all of them together. With one, each request is taken off it and
    followed by the increment, as in theaigames' challenges. `grace` is taken from nothing, before all else.
    """

    def __init__(self, seating: Seating, grace: float, now: Callable[[], float] = time.monotonic) -> None:
        self._clock = seating.clock
        self._now = now
        self._began = now()
        self._grace = grace
        self._limit = seating.move_seconds
        self._taken = 0.0

    @property
    def deadline(self) -> float:
        """When the answer to the present request is late, as a time of `now`."""
        return self._began + self._grace + self._limit

    @property
    def allowed(self) -> float:
        """How long the present request may take; without a clock, all requests so far."""
        return self._grace + self._limit + (self._taken if self._clock is None else 0.0)

    @property
    def milliseconds(self) -> int:
        """What the bot's clock shows when the present request is made."""
        return math.floor(1000 * (self._limit if self._clock is None else self._clock.available))

    @property
    def seconds(self) -> float:
        """The time that the turn has taken so far, without grace: never more than it may."""
        earlier = self._taken if self._clock is None else self._clock.booked
        return earlier + self._used()

    def next_request(self) -> None:
        """Begin another request of the turn."""
        used, now = self._used(), self._now()
        self._grace = max(0.0, self._grace - (now - self._began))
        self._began = now
        if self._clock is None:
            self._taken += used
            self._limit -= used
        else:
            self._clock.book(used)
            self._limit = self._clock.limit

    def _used(self) -> float:
        return min(max(0.0, self._now() - self._began - self._grace), self._limit)
