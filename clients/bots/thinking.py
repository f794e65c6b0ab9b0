"""The result of a bot's thinking, in any game: moves, and what it expects of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from referees.api import Referee

Rules = TypeVar("Rules", bound=Referee[Any, Any], contravariant=True)
Position = TypeVar("Position", contravariant=True)
Move = TypeVar("Move")


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Move]):
    """A move, and what the mover expects after it (0 to 1)."""

    move: Move
    value: float


@dataclass(frozen=True, slots=True)
class Thought(Generic[Move]):
    """What the mover expects of a position before moving, and moves worth playing, best first."""

    value: float
    candidates: tuple[Candidate[Move], ...]


@dataclass(frozen=True, slots=True)
class Experience:
    """What others' contests say of a move: its value for the mover (0 to 1), and how much that counts.

    `games` are as many random games of one's own; a player that has thought for longer is swayed less.
    """

    value: float
    games: float


def usual_value(known: Mapping[Any, Experience]) -> float:
    """What is known of moves on the average; what a player expects by its own search may differ from it."""
    games = sum(experience.games for experience in known.values())
    return sum(experience.games * experience.value for experience in known.values()) / games if games else 0.5


Advice = Callable[[float, Sequence[Move]], Mapping[Move, Experience]]
"""What is known of moves in the position thought about.

It gets what the thinker expects so far, and the moves, those that look best so far first.
"""


def no_advice(value: float, moves: Sequence[Any]) -> Mapping[Any, Experience]:
    """Nothing is known."""
    return {}


class Thinker(Protocol[Rules, Position, Move]):
    """A way to find moves."""

    def think(self, referee: Rules, position: Position, advice: Advice[Move] = no_advice) -> Thought[Move]:
        """Think about a position that is not over; `advice` is asked once, in the midst of it."""
