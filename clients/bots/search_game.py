"""A game as a search sees it: which moves to consider, and how a game ends at random.

`SearchGame` does it for every game by its referee; games that can do it better have a class of their own.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from referees.api import Outcome, Referee

if TYPE_CHECKING:
    # An optional extra.
    from referees.openspiel import SpielMove, SpielPosition

Position = TypeVar("Position")
Move = TypeVar("Move")

# A random game is a draw once it is this many times longer than the game's usual one.
_LONGEST: Final = 4
_OWN: Final = {
    "go": ("clients.bots.go_search", "GoSearchGame"),
    "hex": ("clients.bots.hex_search", "HexSearchGame"),
    "openspiel": (__name__, "OpenSpielSearchGame"),
}


class UnsuitableGameError(ValueError):
    """A game that these players cannot search; the message says why."""


@dataclass(frozen=True, slots=True)
class Playout(Generic[Move]):
    """The end of a random game: each seat's score (1 won, 0.5 drawn, 0 lost), and the moves made on the way.

    `played` has those of each seat; it is empty where moves are seldom worth the same when made later.
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


class OpenSpielSearchGame(SearchGame["SpielPosition", "SpielMove"]):
    """OpenSpiel's games: random games on one state of the library's, without positions between.

    Scores are the returns, as far as who won goes.
    """

    def after(self, position: "SpielPosition", move: "SpielMove") -> "SpielPosition":
        """The position after a move, which is one of those listed."""
        return position.after(move)

    def playout(self, position: "SpielPosition") -> "Playout[SpielMove]":
        """Play at random to the end."""
        state, random_number = position.state.clone(), self.chance.random
        while not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[int(random_number() * len(actions))])
        returns = state.returns()
        best = max(returns)
        winners = sum(gained == best for gained in returns)
        return Playout(tuple(1.0 / winners if gained == best else 0.0 for gained in returns))


def scores_of(outcome: Outcome | None, seats: int) -> tuple[float, ...]:
    """What an outcome is to each seat; an unknown one is a draw between all."""
    winners = (outcome.winners if outcome else ()) or tuple(range(1, seats + 1))
    shared = 1.0 if len(winners) == 1 else 0.5
    return tuple(shared if seat in winners else 0.0 for seat in range(1, seats + 1))


def make_search_game(referee: Referee[Any, Any], chance: random.Random) -> SearchGame[Any, Any]:
    """Return a game's own search game, or the one for every game. Raises UnsuitableGameError."""
    # Imported when needed: each of these modules imports the rules of its game.
    module, name = _OWN.get(referee.name, (__name__, "SearchGame"))
    kind: type[SearchGame[Any, Any]] = getattr(import_module(module), name)
    return kind(referee, chance)
