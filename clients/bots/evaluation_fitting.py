"""Weights of alpha-beta's evaluation, fitted to random games.

NumPy, which it needs, would be half of the time in which a bot begins that does not.
"""

import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clients.bots.alpha_beta import Evaluation, features
from clients.bots.search_game import SearchGame

GAMES: Final = 40
# The number of plies between two positions of a random game that are looked at.
STRIDE: Final = 4
_ROUNDS: Final = 12
# Keeps weights small where the games say little of them.
_RIDGE: Final = 1.0
_SEED: Final = 1


def fitted(game: SearchGame[Any, Any], games: int = GAMES) -> Evaluation:
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
                here.append(features(game, position, seat, len(moves)))
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
