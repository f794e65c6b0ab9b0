"""What a search needs of a game beside its rules: which moves to consider, and how a game ends at random.

`SearchGame` does it for every game by its referee; games that can do it better have a craft of their own.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

from referees.api import Outcome, Referee

Position = TypeVar("Position")
Move = TypeVar("Move")

# A random game may be so many times as long as the game's usual one; then it is a draw.
_LONGEST: Final = 4
_OWN: Final = {
    "go": ("clients.bots.go_craft", "GoCraft"),
    "hex": ("clients.bots.hex_craft", "HexCraft"),
    "openspiel": ("clients.bots.openspiel_craft", "OpenSpielCraft"),
}


class UnsuitableGameError(ValueError):
    """A game that these players cannot search; the message says why."""


@dataclass(frozen=True, slots=True)
class Playout(Generic[Move]):
    """The end of a random game: each seat's score (1 won, 0 lost), and the moves that each made on the way.

    `played` is empty where moves are seldom worth the same when they are made later.
    """

    scores: tuple[float, ...]
    played: tuple[Collection[Move], ...] = ()


class SearchGame(Generic[Position, Move]):
    """Any game in which one seat moves at a time and the moves can be listed."""

    def __init__(self, referee: Referee[Position, Move], chance: random.Random) -> None:
        """Raises UnsuitableGameError."""
        self.referee = referee
        self.chance = chance
        spec = referee.spec()
        if spec.simultaneous:
            raise UnsuitableGameError(f"{spec.game_id}: seats move simultaneously; a search needs turns")
        self._longest = int(_LONGEST * spec.expected_length)

    def mover(self, position: Position) -> int:
        """The seat to move, 0 where the game is over."""
        to_move = self.referee.to_move(position)
        return to_move[0] if to_move else 0

    def moves(self, position: Position) -> Sequence[Move]:
        """The moves worth considering, at least one where the game is not over.

        Raises UnsuitableGameError.
        """
        moves = self.referee.legal_moves(position, self.mover(position))
        if moves is None:
            raise UnsuitableGameError(f"{self.referee.name}: its moves cannot be listed")
        return moves

    def after(self, position: Position, move: Move) -> Position:
        """The position after a move."""
        return self.referee.play(position, {self.mover(position): move})

    def scores(self, position: Position) -> tuple[float, ...]:
        """Each seat's score in a position that is over, or by counting."""
        outcome = self.referee.outcome(position) or self.referee.adjudicate(position)
        return scores_of(outcome, self.referee.seats)

    def playout(self, position: Position) -> Playout[Move]:
        """Play at random to the end."""
        for _ in range(self._longest):
            if not self.mover(position):
                break
            position = self.after(position, self.chance.choice(self.moves(position)))
        return Playout(self.scores(position))


def scores_of(outcome: Outcome | None, seats: int) -> tuple[float, ...]:
    """What an outcome is to each seat; an unknown one is a draw between all."""
    winners = (outcome.winners if outcome else ()) or tuple(range(1, seats + 1))
    shared = 1.0 if len(winners) == 1 else 0.5
    return tuple(shared if seat in winners else 0.0 for seat in range(1, seats + 1))


def craft_of(referee: Referee[Any, Any], chance: random.Random) -> SearchGame[Any, Any]:
    """The craft for a game: its own, or the one for every game. Raises UnsuitableGameError."""
    # Each is imported when it is needed: OpenSpiel is an optional extra.
    module, name = _OWN.get(referee.name, (__name__, "SearchGame"))
    craft: type[SearchGame[Any, Any]] = getattr(import_module(module), name)
    return craft(referee, chance)
