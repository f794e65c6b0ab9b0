"""What the competition asks of those that play its games."""

from dataclasses import dataclass
from typing import Protocol

from arena.jobs import GameJob, GameResult


@dataclass(frozen=True)
class WorkerLost:
    """A game without a result, since what played it ended or broke: void, for this reason."""

    game_id: str
    reason: str


class Workers(Protocol):
    """Somewhere to play games, `size` of them at a time."""

    @property
    def size(self) -> int:
        """How many games can be in progress at a time."""

    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all are busy."""

    def next_result(self, timeout: float | None = None) -> GameResult | WorkerLost | None:
        """The next finished game, in the order in which they finish.

        None when there is none after `timeout` seconds (None: however long it takes), or none in hand.
        """

    def stop(self) -> None:
        """Break off all games at once: their players are killed, nothing more is handed out."""
