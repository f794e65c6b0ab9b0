"""Where games are played, as a run sees it: it hands in games and takes results, and knows nothing else."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Self

from arena.jobs import GameJob, GameResult


@dataclass(frozen=True)
class WorkerLost:
    """A game without a result, because what played it ended or broke: void, for this reason.

    `attempt` is that of the job. With `machine_lost` it was a machine that went away, which no player is
    to blame for.
    """

    game_id: str
    reason: str
    attempt: int = 1
    machine_lost: bool = False


class WorkersError(RuntimeError):
    """Games cannot be played at the place that the user chose; the message says why and what to do."""


class Workers(AbstractContextManager["Workers"]):
    """Plays the games that are handed in, `size` at a time. It ends with its `with` block."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many games can be in progress at a time."""

    @property
    def has_own_players(self) -> bool:
        """Whether players need not be installed on this machine, so that a check here shows nothing."""
        return False

    @abstractmethod
    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all workers are busy."""

    @abstractmethod
    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        """The next finished game, in the order in which they finish.

        None when there is none after `timeout` seconds, or none in hand.
        """

    @abstractmethod
    def stop(self) -> None:
        """End all games at once, with their players."""

    def machine(self, game_id: str) -> str:
        """The machine that plays a game; empty for this one."""
        return ""

    def news(self) -> list[str]:
        """What people should know of the machines since the last time: those that came and went."""
        return []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
