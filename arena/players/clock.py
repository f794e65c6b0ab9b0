"""A player's clock (main time, increment, Canadian byo-yomi), and the alarm that interrupts Python code."""

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FrameType

from arena.jobs import PlayerSetup, TimeControl


class Clock:
    """What is left of a time control; see `TimeControl` for its rules.

    `seconds` are left of the main time while `stones` is 0, else of a byo-yomi period in which that number of
    moves is still to be made. `booked` seconds of the move that is being made have been taken off.
    """

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self.seconds = control.main_seconds
        self.stones = 0
        self.booked = 0.0
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
        """The time that a late player had, in words."""
        margin = self._control.margin_seconds
        return f"lost on time: {self.available:.3g} s were left, and a margin of {margin:.3g} s"

    def book(self, seconds: float) -> None:
        """Take a part of a move's time off the clock as if it had been a move.

        For players that are asked several times in a move, each with an increment, as in theaigames'
        challenges.
        """
        seconds = min(seconds, self.limit)
        self._take(seconds)
        self.booked += seconds

    def spend(self, seconds: float) -> bool:
        """Take a move's time, `booked` parts included, off the clock. Returns whether it was in time."""
        booked, self.booked = self.booked, 0.0
        # Added, not subtracted: a move that took all of the limit is not late by a rounding.
        if seconds > booked + self.limit:
            return False
        self._take(max(0.0, seconds - booked))
        return True

    def _take(self, seconds: float) -> None:
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


def describe_clock(setup: PlayerSetup) -> str:
    """How long a player may think, in one line: `300 s + 2 s a move`, `60 s, then 30 s for 25 moves`.

    Equal time controls have equal texts, others have others. Without a clock it is the limit of each move.
    """
    if setup.time_control is None:
        return f"{_number(setup.move_seconds)} s a move"
    return _describe_control(setup.time_control)


@lru_cache(maxsize=256)
def _describe_control(control: TimeControl) -> str:
    text = f"{_number(control.main_seconds)} s" if control.main_seconds else ""
    if control.increment_seconds:
        text += f"{' + ' if text else '+ '}{_number(control.increment_seconds)} s a move"
        if control.most_seconds is not None:
            text += f" up to {_number(control.most_seconds)} s"
    if control.byo_yomi_seconds:
        stones = control.byo_yomi_stones
        moves = "a move" if stones == 1 else f"for {stones} moves"
        text += f"{', then ' if text else ''}{_number(control.byo_yomi_seconds)} s {moves}"
    margin = control.margin_seconds
    return (text or "0 s") + (f", {_number(margin)} s margin" if margin else "")


def overtime(control: TimeControl) -> str:
    """What follows the main time, as SGF's OT says it: `2 fischer`, `1x30 byo-yomi`, `25/300 Canadian`."""
    parts = []
    if control.increment_seconds:
        parts.append(f"{_number(control.increment_seconds)} fischer")
    if control.byo_yomi_seconds:
        seconds, stones = _number(control.byo_yomi_seconds), control.byo_yomi_stones
        parts.append(f"1x{seconds} byo-yomi" if stones == 1 else f"{stones}/{seconds} Canadian")
    return ", ".join(parts)


def _number(value: float) -> str:
    """The shortest text that reads back as the same number, whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)


class TimeIsUpError(BaseException):
    """Raised in the midst of what an alarm was set for; no `except Exception` there can swallow it."""


class WorkerStoppedError(SystemExit):
    """Raised in the midst of a game when its worker must end: not a player's own `sys.exit`."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TimeIsUpError in the block when it has run for so long. Only for the main thread.

    Code in C is interrupted when it returns to Python, or looks for signals itself. A timer that was
    running before goes on afterwards.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeIsUpError

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
