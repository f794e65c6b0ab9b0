"""What decides the next game of a competition, from nothing but the games so far."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

from referees.api import Outcome


@dataclass(frozen=True)
class Fixture:
    """A game to play: its id, the group of games it belongs to, its players by seat, and its seed."""

    game_id: str
    matchup: str
    players: tuple[str, ...]
    seed: int


class Selector(ABC):
    """Decides the next game.

    It is a fold over what it is told: `completed` for every game of earlier runs, in their order,
    then `next_game` and `completed` as the competition goes on. Games that were given out but not
    completed when a run ends are given out again, under the same id, by the selector of the next.
    """

    @property
    @abstractmethod
    def total(self) -> int | None:
        """How many games the competition has, or None where that is not known."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The rule and its arguments in one line, as SAGA's `Selector` keeps it."""

    @abstractmethod
    def next_game(self) -> Fixture | None:
        """Give out the next game; None when there is none to give out now."""

    @abstractmethod
    def completed(self, game_id: str, outcome: Outcome) -> None:
        """Take in a game's outcome. Raises UnknownFixture for a game this competition does not have."""


class UnknownFixture(LookupError):
    """A game id that does not belong to the competition."""


def game_seed(competition_seed: int, game_id: str) -> int:
    """The seed, 0 to 2^63 - 1, that all chance of a game comes from: the same in every attempt."""
    digest = hashlib.sha256(f"{competition_seed}/{game_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
