"""Finished games as they count for the standings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from arena.control.plans import GameSettings
from arena.jobs import Fault, GameResult
from referees.api import Outcome, Termination


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

    @classmethod
    def from_result(
        cls,
        matchup: str,
        players: Sequence[str],
        result: GameResult,
        elo_before: Sequence[float],
        elo_after: Sequence[float],
    ) -> Self:
        """A game that has been played. Raises ValueError for a void one."""
        if result.outcome is None:
            raise ValueError(f"game {result.game_id} is void: {result.void_reason}")
        return cls(
            result.game_id,
            matchup,
            tuple(players),
            result.outcome,
            tuple(usage.cpu_seconds for usage in result.usage),
            tuple(elo_before),
            tuple(elo_after),
            tuple(usage.fault for usage in result.usage),
        )

    @property
    def winners(self) -> tuple[str, ...]:
        """The names of those who won, or drew with each other."""
        return tuple(self.players[seat - 1] for seat in self.outcome.winners)

    def share(self, seat: int) -> float:
        """A seat's share of the win: 1 for a win, and, for a draw, 1 shared by those who drew."""
        winners = self.outcome.winners
        return 1.0 / len(winners) if seat in winners else 0.0

    def is_forfeited_by(self, seat: int) -> bool:
        """Whether a seat lost by breaking a rule of play."""
        winners, termination = self.outcome.winners, self.outcome.termination
        return bool(winners) and seat not in winners and termination is Termination.FORFEIT

    def describe(self) -> str:
        """Say in one line who beat whom, and how: `b beat a W+3.5`."""
        winning = self.outcome.winners
        won = self.winners
        others = [name for seat, name in enumerate(self.players, start=1) if seat not in winning]
        detail = f" ({self.outcome.detail})" if self.outcome.detail else ""
        if not won:
            players = " vs ".join(self.players)
            return f"{players} {self.outcome.summary or '?'}{detail or ' (result unknown)'}"
        verbs = {"drew with": won[1:], "beat": others}
        did = " and ".join(f"{verb} {', '.join(names)}" for verb, names in verbs.items() if names)
        # Alone there is nobody to beat.
        did = did or "won"
        return f"{won[0]} {did} {self.outcome.summary}{detail}"
