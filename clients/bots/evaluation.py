"""What a position looks worth, without playing on: pieces and freedom of movement, weighed by random games.

No game is known here. A game's weights are found by playing it at random and fitting a logistic regression of
who won to what the boards on the way held; where that shows nothing (Hex, connect four), this says so.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from clients.bots.search_game import SearchGame

GAMES: Final = 40
# The number of plies between two positions of a random game that are looked at.
STRIDE: Final = 4
# How much of the deviance must be explained for a search to rely on the evaluation.
TELLING: Final = 0.1
_ROUNDS: Final = 12
# Keeps weights small where the games say little of them.
_RIDGE: Final = 1.0
_SEED: Final = 1


@dataclass(frozen=True)
class Evaluation:
    """Weights of: being first, the move, the mover's freedom, soldiers ahead, kings ahead.

    `telling` is how much of the deviance in random games the board explains, at most 1; `width` their mean
    number of moves. `given` is whether the weights are the user's, which nothing learnt replaces.
    """

    weights: tuple[float, ...]
    telling: float
    width: float
    given: bool = False

    @property
    def tells(self) -> bool:
        """Whether it is good enough to search by."""
        return self.telling >= TELLING

    def value(self, game: SearchGame[Any, Any], position: Any, moves: int) -> float:
        """What the seat to move, one of two with this number of moves, can expect: 0 to 1."""
        seat = game.mover(position)
        features = _features(game, position, seat, moves)
        ahead = sum(weight * feature for weight, feature in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-ahead if seat == 1 else ahead))


def _features(game: SearchGame[Any, Any], position: Any, seat: int, moves: int) -> Sequence[float]:
    """What is ahead for seat 1."""
    states = game.referee.board(position, 1).states
    sign = 1.0 if seat == 1 else -1.0
    return (
        1.0,
        sign,
        sign * moves,
        float(states.count(State.FIRST_SOLDIER) - states.count(State.SECOND_SOLDIER)),
        float(states.count(State.FIRST_KING) - states.count(State.SECOND_KING)),
    )


def fit_evaluation(game: SearchGame[Any, Any], games: int = GAMES) -> Evaluation:
    """Fit the weights of a game of two, by as many random games; the same ones each time."""
    chance = random.Random(_SEED)
    seen: list[Sequence[float]] = []
    scores: list[float] = []
    widths: list[int] = []
    for _ in range(games):
        position, here = game.referee.start(chance.getrandbits(31)), []
        for ply in range(int(3 * game.referee.spec().expected_length)):
            seat = game.mover(position)
            if not seat:
                break
            moves = game.moves(position)
            widths.append(len(moves))
            if ply % STRIDE == chance.randrange(STRIDE):
                here.append(_features(game, position, seat, len(moves)))
            position = game.after(position, chance.choice(moves))
        seen.extend(here)
        scores.extend([game.scores(position)[0]] * len(here))
    if not seen:
        return Evaluation((0.0,) * 5, 0.0, 0.0)
    table, results = np.array(seen), np.array(scores)
    weights, expected = _regression(table, results)
    _, without_board = _regression(table[:, :2], results)
    gained = 1.0 - _likelihood(results, expected) / _likelihood(results, without_board)
    return Evaluation(tuple(weights.tolist()), gained, float(np.mean(widths)))


def _regression(
    seen: NDArray[np.float64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights by Newton's method, and what they expect."""
    weights = np.zeros(seen.shape[1])
    for _ in range(_ROUNDS):
        expected = _logistic(seen, weights)
        # Sums instead of matrix products, whose threads would outnumber the work.
        slope = (seen * (scores - expected)[:, None]).sum(axis=0) - _RIDGE * weights
        spread = (expected * (1.0 - expected))[:, None, None]
        curvature = (seen[:, :, None] * seen[:, None, :] * spread).sum(axis=0) + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, slope)
    return weights, _logistic(seen, weights)


def _logistic(seen: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    expected: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(seen * weights).sum(axis=1)))
    return expected.clip(1e-9, 1.0 - 1e-9)


def _likelihood(scores: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    return float(np.sum(scores * np.log(expected) + (1.0 - scores) * np.log(1.0 - expected)))
