"""How far a run is, and how fast it goes."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from arena.results.standings import Standings

_RECENT_GAMES: Final = 100


@dataclass(frozen=True)
class GameInProgress:
    """A game that is being played, for how long, and on which machine (empty for this one)."""

    game_id: str
    players: tuple[str, ...]
    seconds: float
    machine: str = ""


@dataclass(frozen=True)
class RunProgress:
    """A run as it stands.

    `total` is how many games are wanted in all, `startable` how many this run may still start (None: no
    limit, for both); `games_per_second` and `seconds_left` are None where they are not known yet; `lines`
    are what the kind of competition itself reports; a `tuner`'s candidates are too many, and too short
    of games, for a table of standings; `halt_key` is whether Ctrl-X would be noticed.
    """

    title: str
    standings: Standings
    in_progress: Sequence[GameInProgress] = ()
    total: int | None = None
    startable: int | None = None
    games_per_second: float | None = None
    seconds_left: float | None = None
    waiting_reports: int = 0
    lines: Sequence[str] = ()
    tuner: bool = False
    halt_key: bool = False


class Pace:
    """How fast games are finished in this run, by the latest hundred of them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # When the run began, then when games were finished.
        self._times = deque([clock()], maxlen=_RECENT_GAMES + 1)

    def note_game(self) -> None:
        """Note a finished game."""
        self._times.append(self._clock())

    @property
    def games_per_second(self) -> float | None:
        """The pace, None before the first game is over."""
        seconds = self._clock() - self._times[0]
        return (len(self._times) - 1) / seconds if len(self._times) > 1 and seconds > 0 else None

    def seconds_for(self, games: int | None) -> float | None:
        """How long games will take at this pace, None where that is not known."""
        pace = self.games_per_second
        return games / pace if pace is not None and games is not None else None


def duration_text(seconds: float) -> str:
    """A duration for people, in its two largest units: `2 d 3 h`, `1 h 05 min`, `4 min 10 s`, `12 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def pace_text(games_per_second: float) -> str:
    """A pace for people, in the unit in which it is at least 1 where there is one: `3.2 games/min`."""
    for unit, factor in (("s", 1.0), ("min", 60.0)):
        if games_per_second * factor >= 1.0:
            return f"{games_per_second * factor:.1f} games/{unit}"
    return f"{games_per_second * 3600:.1f} games/h"
