"""What a bot's thinking comes to, whatever the game: moves, and what it expects of them."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from referees.api import Referee

Rules = TypeVar("Rules", bound=Referee[Any, int], contravariant=True)
Position = TypeVar("Position", contravariant=True)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move, and what the mover expects after it (0 to 1).

    A move is the number of a cell; numbers below 0 are moves to no cell, like a pass.
    """

    move: int
    value: float


@dataclass(frozen=True, slots=True)
class Thought:
    """What the mover expects of a position before moving, and moves worth playing, best first."""

    value: float
    candidates: tuple[Candidate, ...]


class Thinker(Protocol[Rules, Position]):
    """A way to find moves."""

    def think(self, referee: Rules, position: Position) -> Thought:
        """Think about a position that is not over."""
