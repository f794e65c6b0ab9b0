"""A player's clock: main time, increment, Canadian byo-yomi."""

import math

from arena.jobs import TimeControl


class Clock:
    """What is left of a time control; see `TimeControl` for its rules.

    `seconds` are left of the main time while `stones` is 0, else of a byo-yomi period in which so many
    moves are still to be made.
    """

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.seconds = control.main_seconds
        self.stones = 0
        if not self.seconds and control.byo_yomi_seconds:
            self._new_period()

    def _new_period(self) -> None:
        self.seconds, self.stones = self._control.byo_yomi_seconds, self._control.byo_yomi_stones

    def _add(self, increment: float) -> None:
        most = self._control.most_seconds
        # What was more than that from the beginning stays.
        self.seconds = max(self.seconds, min(self.seconds + increment, math.inf if most is None else most))

    @property
    def available(self) -> float:
        """How many seconds the next move may take, without the margin."""
        return self.seconds if self.stones else self.seconds + self._control.byo_yomi_seconds

    @property
    def limit(self) -> float:
        """The same with the margin: afterwards the game is lost."""
        return self.available + self._control.margin_seconds

    @property
    def description(self) -> str:
        """What a player that is late is told to have had."""
        margin = self._control.margin_seconds
        return f"lost on time: {self.available:.3g} s were left, and a margin of {margin:.3g} s"

    def spend(self, seconds: float) -> bool:
        """Take the time of a move off the clock; whether it was in time."""
        if seconds > self.limit:
            return False
        if not self.stones and seconds > self.seconds and self._control.byo_yomi_seconds:
            seconds -= self.seconds
            self._new_period()
        self.seconds = max(0.0, self.seconds - seconds)
        if not self.stones:
            self._add(self._control.increment_seconds)
        elif self.stones > 1:
            self.stones -= 1
        else:
            self._new_period()
        return True
