"""A finished game as the results know it, and its description in one line."""

from dataclasses import dataclass

from arena.control.plans import GameSettings
from arena.jobs import Fault
from referees.api import Outcome


@dataclass(frozen=True)
class FinishedGame:
    """A game that counts. All tuples are by seat.

    `cpu_seconds` are None where unknown; `elo_before` and `elo_after` are the ratings around it; `faults`
    are what the players did wrong; `detail` is what its selector keeps with it; `game` is what it was played
    with, None where that is not known.
    """

    game_id: str
    matchup: str
    players: tuple[str, ...]
    outcome: Outcome
    cpu_seconds: tuple[float | None, ...]
    elo_before: tuple[float, ...]
    elo_after: tuple[float, ...]
    faults: tuple[Fault, ...]
    detail: str = ""
    game: GameSettings | None = None

    @property
    def winners(self) -> tuple[str, ...]:
        """The names of those who won, or drew with each other."""
        return tuple(self.players[seat - 1] for seat in self.outcome.winners)

    def describe(self) -> str:
        """Say in one line who beat whom, and how: `b beat a W+3.5`."""
        winning = self.outcome.winners
        others = [name for seat, name in enumerate(self.players, start=1) if seat not in winning]
        detail = f" ({self.outcome.detail})" if self.outcome.detail else ""
        if not winning:
            players = " vs ".join(self.players)
            return f"{players} {self.outcome.summary or '?'}{detail or ' (result unknown)'}"
        beaten = f" beat {', '.join(others)}" if others else ""
        verb = " drew with " if len(winning) > 1 else ""
        return f"{verb.join(self.winners)}{beaten} {self.outcome.summary}{detail}"
