"""Which search plays a game, and how hard it thinks."""

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Literal

from clients.bots.alpha_beta import MOST_DEPTH, AlphaBetaThinker
from clients.bots.evaluation import Evaluation, fit_evaluation
from clients.bots.search_game import UnsuitableGameError, make_search_game
from clients.bots.thinking import Advice, Candidate, Thinker, Thought, no_advice
from clients.bots.tree_search import TreeSearchThinker
from referees.api import Referee

Method = Literal["auto", "alpha-beta", "monte-carlo", "random"]

# As many moves a position may have on the average for alpha-beta to be worth trying.
NARROW: Final = 12.0
MOST: Final = 1_000_000
# One each for the first seat, the move, freedom to move, soldiers ahead and kings ahead.
WEIGHTS: Final = 5


class InvalidStrengthError(ValueError):
    """A strength out of its range; the message names the setting, the value and the range."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How a player searches. Raises InvalidStrengthError.

    `method` "auto" takes alpha-beta where moves are few and the board shows who is ahead, Monte Carlo tree
    search elsewhere. `playouts` is the random games a move of the latter, `depth` the plies that the former
    looks ahead. `weights` are alpha-beta's own, of `Evaluation.weights`, instead of those that random games
    or ACADEMY teach it; without any these are taken. With `seconds` a move may take so long by `clock`
    instead, and alpha-beta looks up to 64 plies ahead.
    """

    method: Method = "auto"
    playouts: int = 100
    depth: int = 4
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name, value, most in (("playouts", self.playouts, MOST), ("depth", self.depth, MOST_DEPTH)):
            if not 1 <= value <= most:
                raise InvalidStrengthError(f"{name} {value}: it must be from 1 to {most:,}")
        if self.weights and (len(self.weights) != WEIGHTS or not all(map(math.isfinite, self.weights))):
            given = ", ".join(map(str, self.weights))
            raise InvalidStrengthError(f"weights {given}: they must be {WEIGHTS} finite numbers")
        if self.seconds is not None and not 0 < self.seconds <= MOST:
            raise InvalidStrengthError(f"seconds {self.seconds}: it must be above 0, and at most {MOST:,}")
        if self.method == "random" and (self.weights or self.seconds is not None):
            raise InvalidStrengthError("search random: it has no use for weights and seconds; leave them out")

    def thinker(self, referee: Referee[Any, Any], chance: random.Random) -> Thinker[Any, Any, Any]:
        """A player of this strength. Raises UnsuitableGameError."""
        if self.method == "random":
            return RandomThinker(chance)
        if self.method != "monte-carlo":
            game = make_search_game(referee, chance)
            if referee.seats != 2 and self.method == "alpha-beta":
                raise UnsuitableGameError(f"{referee.name}: alpha-beta is for games of two")
            start = referee.start(0)
            narrow = referee.seats == 2 and len(game.moves(start)) <= NARROW
            if narrow or self.method == "alpha-beta":
                evaluation = _evaluation(referee)
                if self.weights:
                    evaluation = replace(evaluation, weights=self.weights, given=True)
                if self.method == "alpha-beta" or (evaluation.tells and evaluation.width <= NARROW):
                    depth = self.depth if self.seconds is None else MOST_DEPTH
                    return AlphaBetaThinker(evaluation, depth, chance, self.seconds, self.clock)
        if self.weights:
            raise UnsuitableGameError(f"{referee.name}: weights are for alpha-beta, which does not suit it")
        return TreeSearchThinker(self.playouts, chance, self.seconds, self.clock)


@lru_cache(maxsize=8)
def _evaluation(referee: Referee[Any, Any]) -> Evaluation:
    return fit_evaluation(make_search_game(referee, random.Random()))


@dataclass
class RandomThinker:
    """Every move worth considering is as likely; expects nothing."""

    chance: random.Random

    def think(
        self, referee: Referee[Any, Any], position: Any, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        """All moves worth considering, in random order. Raises UnsuitableGameError."""
        moves = list(make_search_game(referee, self.chance).moves(position))
        self.chance.shuffle(moves)
        return Thought(0.5, tuple(Candidate(move, 0.5) for move in moves))
