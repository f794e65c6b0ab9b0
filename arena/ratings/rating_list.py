"""The Elo that all results together make likeliest, by Newton's method."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.ratings.pentanomial import NORMAL_95

_ELO: Final = 400.0 / math.log(10.0)
_MOST_STEPS: Final = 200
_LONGEST_STEP: Final = 2.0

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairResult:
    """What one player achieved against another one."""

    player: str
    opponent: str
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True)
class Estimate:
    """A player's Elo, with the half-width of its 95 % confidence interval.

    `error` is 0 for an anchored player and None where the results show no spread. `imagined` says
    that imaginary draws were needed.
    """

    elo: float
    error: float | None
    imagined: bool


@dataclass(frozen=True)
class RatingList:
    """The likeliest Elo of players; those who met no other player have none."""

    estimates: Mapping[str, Estimate]
    _place: Mapping[str, int] = field(repr=False)
    _groups: Sequence[int] = field(repr=False)
    _covariance: Matrix = field(repr=False)

    def superiority(self, player: str, other: str) -> float | None:
        """The likelihood (0 to 1) that a player is better than another; None if they can't be compared."""
        if player not in self.estimates or other not in self.estimates:
            return None
        i, j = self._place[player], self._place[other]
        if self._groups[i] != self._groups[j]:
            return None
        variance = self._covariance[i, i] + self._covariance[j, j] - 2.0 * self._covariance[i, j]
        difference = self.estimates[player].elo - self.estimates[other].elo
        if variance <= 0.0:
            return 0.5 if difference == 0.0 else float(difference > 0.0)
        return 0.5 * (1.0 + math.erf(difference / math.sqrt(2.0 * variance)))


def rate(
    results: Iterable[PairResult], centre: float = 0.0, anchors: Mapping[str, float] | None = None
) -> RatingList:
    """The likeliest Elo of all who met.

    Each pair is given once, from either side. `anchors` are Elo that do not move; a group without an
    anchor has the mean `centre`.
    """
    met = [result for result in results if result.wins + result.draws + result.losses]
    names = list(dict.fromkeys(name for result in met for name in (result.player, result.opponent)))
    place = {name: index for index, name in enumerate(names)}
    counts = np.zeros((3, len(names), len(names)))
    for result in met:
        i, j = place[result.player], place[result.opponent]
        counts[:, i, j] += (result.wins, result.draws, result.losses)
        counts[:, j, i] += (result.losses, result.draws, result.wins)
    # For each player the lowest place among those it met, directly or through others.
    groups = [int(group) for group in _reachable(counts.sum(axis=0) > 0).argmax(axis=1)] if names else []
    theta = np.zeros(len(names))
    covariance = np.zeros((len(names), len(names)))
    fixed = anchors or {}
    imagined = [False] * len(names)
    for group in sorted(set(groups)):
        members = [index for index, its_group in enumerate(groups) if its_group == group]
        own = counts[np.ix_(range(3), members, members)]
        if not _reachable(own[0] + own[1] > 0).all():
            own[1] += own.sum(axis=0) > 0
            for index in members:
                imagined[index] = True
        held = [names[index] in fixed for index in members]
        start = np.array([fixed.get(names[index], centre) for index in members])
        likeliest, spread = _likeliest(own, start / _ELO, held)
        theta[members] = likeliest
        covariance[np.ix_(members, members)] = spread
    covariance *= _ELO**2
    estimates = {
        name: Estimate(
            elo=fixed.get(name, float(theta[index] * _ELO)),
            error=0.0 if name in fixed else _error(covariance[index, index]),
            imagined=imagined[index] and name not in fixed,
        )
        for index, name in enumerate(names)
    }
    return RatingList(estimates, place, groups, covariance)


def _error(variance: float) -> float | None:
    return NORMAL_95 * math.sqrt(variance) if variance > 1e-9 else None


def _likeliest(counts: Matrix, start: Matrix, held: Sequence[bool]) -> tuple[Matrix, Matrix]:
    """The likeliest strengths of one group by Newton's method, and their covariance.

    The likelihood is concave; steps are kept short, so the method always arrives.
    """
    free = np.flatnonzero(~np.array(held))
    points = (counts[0] + counts[1] / 2.0).sum(axis=1)
    games = counts.sum(axis=0)
    theta = start.copy()
    # Without an anchor only differences matter: the mean, which nothing else determines, is held.
    mean = np.zeros_like(games) if any(held) else np.full_like(games, 1.0 / len(start))
    for _ in range(_MOST_STEPS):
        chance = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
        slope = points - (games * chance).sum(axis=1)
        # Not `1 - chance`, which is 0 where a chance rounds to 1: then nothing could be solved.
        curve = _laplacian(games * chance * chance.T) + mean
        if free.size == 0:
            break
        step = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        longest = float(np.abs(step).max())
        theta[free] += step * min(1.0, _LONGEST_STEP / longest) if longest else step
        if longest < 1e-12:
            break
    seen = counts[0] * (1.0 - chance) ** 2 + counts[1] * (0.5 - chance) ** 2 + counts[2] * chance**2
    covariance = np.zeros_like(games)
    if free.size:
        bread = np.linalg.inv(curve[np.ix_(free, free)])
        covariance[np.ix_(free, free)] = bread @ _laplacian(seen)[np.ix_(free, free)] @ bread
    return theta, covariance


def _laplacian(weights: Matrix) -> Matrix:
    symmetric = np.diag(weights.sum(axis=1)) - weights
    return np.asarray(symmetric, dtype=np.float64)


def _reachable(edges: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Who can be reached by whom, from row to column, directly or through others."""
    reached = edges | np.eye(len(edges), dtype=np.bool_)
    for through in range(len(edges)):
        reached |= np.outer(reached[:, through], reached[through])
    return reached
