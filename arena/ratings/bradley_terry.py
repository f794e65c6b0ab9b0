"""The likeliest Elo of any number of players over all their games, by the model of Bradley and Terry.

A player's chance against another one is the logistic curve of the difference of their strengths; a draw is
half a win. Before its first game a player is expected at `PRIOR`, give or take `PRIOR_DEVIATION`, which is
worth about one game; a later version of a player is expected where the version before it is, give or take
`VERSION_DEVIATION`, which is worth about twelve. So a player who won everything has a rating, and groups
that never met have ratings on one scale. An anchored player's rating does not move.

The likelihood is concave. Newton's steps are solved by conjugate gradients, so nothing is as large as the
square of the number of players, and a fit that begins with the last one's ratings takes a step or two.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from arena.ratings.pentanomial import NORMAL_95

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

PRIOR: Final = 1000.0
PRIOR_DEVIATION: Final = 350.0
VERSION_DEVIATION: Final = 100.0
MOST_EXACT: Final = 1500
"""The most players whose errors come from the inverse of one matrix."""
_ELO: Final = 400.0 / math.log(10.0)
_MOST_STEPS: Final = 100
_LONGEST_STEP: Final = 2.0
# In units of 174 Elo.
_CLOSE: Final = 1e-6
# A player with more opponents than the inverse of this, met equally often, is near enough by itself.
_LEAST_BACK: Final = 0.01


@dataclass(frozen=True)
class Pairings:
    """What pairs of players achieved: `points` of `games`, for those at `first` against those at `second`."""

    first: Places
    second: Places
    points: Numbers
    games: Numbers

    @classmethod
    def of_rows(cls, rows: Numbers, keys: Places) -> Self:
        """Rows of two players, points and games; players are numbered by where their keys stand in `keys`."""
        first, second = np.searchsorted(keys, rows[:, :2].astype(np.int64)).T
        return cls(first, second, rows[:, 2], rows[:, 3])


@dataclass(frozen=True)
class Strengths:
    """The likeliest Elo of each player, and the half-width of its 95 % interval (0 for an anchored one).

    Where nobody is anchored, where all of them lie together is a matter of the prior alone: errors are then
    those of the distance to the players' mean.
    """

    elo: Numbers
    error: Numbers


def likeliest(
    pairings: Pairings, predecessors: Places, anchors: Numbers, begin: Numbers, errors: Numbers | None = None
) -> Strengths:
    """The likeliest ratings of players, who are numbered from 0.

    `predecessors` has each player's earlier version, or -1; `anchors` the Elo of anchored players, NaN for
    the others; `begin` the Elo to begin the search with, which does not change what is found. `errors` are
    given where anchored players are only held: how far their own Elo can be off, half of the 95 % interval.
    """
    model = _Model(pairings, predecessors, np.isnan(anchors))
    theta = (np.where(model.free, begin, anchors) - PRIOR) / _ELO
    if model.free.any():
        for _ in range(_MOST_STEPS):
            slope, weights = model.slope(theta)
            step = model.solve(weights, slope)
            longest = float(np.abs(step).max())
            theta = theta + step * min(1.0, _LONGEST_STEP / longest if longest else 1.0)
            if longest < _CLOSE:
                break
    weights = model.slope(theta)[1]
    variance = model.variance(weights, None if errors is None else (errors / (NORMAL_95 * _ELO)) ** 2)
    return Strengths(theta * _ELO + PRIOR, NORMAL_95 * _ELO * np.sqrt(variance))


class _Model:
    """The logarithm of the likelihood: its slope, its curvature, and systems of equations with it."""

    def __init__(self, pairings: Pairings, predecessors: Places, free: npt.NDArray[np.bool_]) -> None:
        self.free = free
        self._count = len(free)
        self._pairings = pairings
        later = np.flatnonzero(predecessors >= 0)
        self._first = np.concatenate([pairings.first, later])
        self._second = np.concatenate([pairings.second, predecessors[later]])
        self._versions = np.full(len(later), (_ELO / VERSION_DEVIATION) ** 2)
        self._prior = np.where(predecessors < 0, (_ELO / PRIOR_DEVIATION) ** 2, 0.0)

    def slope(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The slope by player, and the curvature by edge: games as far as they inform, and versions."""
        pairs, met = self._pairings, len(self._pairings.games)
        apart = theta[self._first] - theta[self._second]
        chance = 1.0 / (1.0 + np.exp(-apart[:met]))
        pull = np.concatenate([pairs.points - pairs.games * chance, -self._versions * apart[met:]])
        slope = self._sum(self._first, pull) - self._sum(self._second, pull) - self._prior * theta
        return np.where(self.free, slope, 0.0), np.concatenate(
            [pairs.games * chance * (1.0 - chance), self._versions]
        )

    def solve(self, weights: Numbers, right: Numbers) -> Numbers:
        """The step that the curvature makes of a slope, by conjugate gradients."""
        diagonal = self._diagonal(weights)
        answer, rest = np.zeros(self._count), right.copy()
        direction = ready = rest / diagonal
        merit = float(rest @ ready)
        for _ in range(10 * self._count):
            if float(np.abs(rest).max()) < _CLOSE * 1e-3:
                break
            product = np.where(self.free, self._times(weights, diagonal, direction), 0.0)
            length = merit / float(direction @ product)
            answer, rest = answer + length * direction, rest - length * product
            ready = rest / diagonal
            merit, before = float(rest @ ready), merit
            direction = ready + merit / before * direction
        return answer

    def variance(self, weights: Numbers, held: Numbers | None) -> Numbers:
        """Each player's variance: the diagonal of the curvature's inverse; for anchored ones that of `held`.

        Of many players it is taken by groups: see `_variance_by_groups`.
        """
        if held is not None or self._count > MOST_EXACT:
            return self._variance_by_groups(weights, np.zeros(self._count) if held is None else held)
        matrix = np.diag(self._diagonal(weights))
        np.subtract.at(matrix, (self._first, self._second), weights)
        np.subtract.at(matrix, (self._second, self._first), weights)
        place = np.flatnonzero(self.free)
        inverse = np.linalg.inv(matrix[np.ix_(place, place)])
        variance = np.zeros(self._count)
        variance[place] = inverse.diagonal()
        if self.free.all():
            variance += inverse.mean() - 2.0 * inverse.mean(axis=1)
        return np.maximum(variance, 0.0)

    def _variance_by_groups(self, weights: Numbers, held: Numbers) -> Numbers:
        """Exact within groups of at most `MOST_EXACT` players that are linked by games or versions.

        A larger group is split: players whose uncertainty depends least on single opponents (small `back`)
        are held at the approximation `near`, with a rising threshold, until the rest falls apart into small
        groups. Players in no small group keep `near`: their own curvature and, to second order, their
        opponents'.
        """
        diagonal = self._diagonal(weights)
        # How much of a player's uncertainty comes back from its opponents: near 1 if little else ties them.
        back = self._across(weights**2, np.where(self.free, 1.0 / diagonal, 0.0)) / diagonal
        others = self._across(weights**2, np.where(self.free, 0.0, held)) / diagonal**2
        near = np.where(self.free, 1.0 / (diagonal * (1.0 - back)) + others, held)
        # Where all lie together is not a part of the distance to their mean.
        together = 1.0 / self._prior.sum() if self.free.all() else 0.0
        variance, waiting, least = near.copy(), self.free.copy(), 0.0
        while least < 1.0 and waiting.any():
            groups = self._groups(waiting & (back >= least))
            for places, exact in self._exact(weights, diagonal, near, groups):
                variance[places] = np.maximum(exact - together, near[places])
            waiting &= groups < 0
            least = max(1.25 * least, _LEAST_BACK)
        return variance

    def _groups(self, among: npt.NDArray[np.bool_]) -> Places:
        """The number of each of these players' group; -1 for the others and those in too large groups."""
        group = np.where(among, np.arange(self._count), -1)
        inside = among[self._first] & among[self._second]
        first, second = self._first[inside], self._second[inside]
        while len(first):
            lower = np.minimum(group[first], group[second])
            np.minimum.at(group, group[first], lower)
            np.minimum.at(group, group[second], lower)
            while not np.array_equal(shorter := np.where(among, group[group], -1), group):
                group = shorter
            apart = group[first] != group[second]
            first, second = first[apart], second[apart]
        sizes = np.bincount(group[among], minlength=self._count)
        return np.where(among & (sizes[group] <= MOST_EXACT), group, -1)

    def _exact(
        self, weights: Numbers, diagonal: Numbers, near: Numbers, groups: Places
    ) -> Iterator[tuple[Places, Numbers]]:
        """The players of each group of two or more, and their variances if all others are off by `near`."""
        mine = np.concatenate([self._first, self._second])
        edges = np.flatnonzero(groups[mine] >= 0)
        edges = edges[np.argsort(groups[mine[edges]], kind="stable")]
        mine, other = mine[edges], np.concatenate([self._second, self._first])[edges]
        weight = np.concatenate([weights, weights])[edges]
        starts = np.flatnonzero(np.diff(groups[mine], prepend=-1))
        for start, end in pairwise([*starts.tolist(), len(mine)]):
            part = slice(start, end)
            places, row = np.unique(mine[part], return_inverse=True)
            if len(places) < 2:
                continue
            inside = groups[other[part]] == groups[mine[start]]
            matrix = np.diag(diagonal[places])
            column = np.searchsorted(places, other[part][inside])
            np.subtract.at(matrix, (row[inside], column), weight[part][inside])
            inverse = np.linalg.inv(matrix)
            outside = ~inside & (near[other[part]] > 0.0)
            beside, column = np.unique(other[part][outside], return_inverse=True)
            ties = np.zeros((len(places), len(beside)))
            np.add.at(ties, (row[outside], column), weight[part][outside])
            yield places, inverse.diagonal() + (inverse @ ties) ** 2 @ near[beside]

    def _across(self, weights: Numbers, values: Numbers) -> Numbers:
        """The sum over each player's opponents of their values, weighted."""
        across = self._sum(self._first, weights * values[self._second])
        return across + self._sum(self._second, weights * values[self._first])

    def _diagonal(self, weights: Numbers) -> Numbers:
        return self._sum(self._first, weights) + self._sum(self._second, weights) + self._prior + 1e-12

    def _times(self, weights: Numbers, diagonal: Numbers, vector: Numbers) -> Numbers:
        return diagonal * vector - self._across(weights, vector)

    def _sum(self, places: Places, values: Numbers) -> Numbers:
        return np.bincount(places, values, self._count).astype(np.float64, copy=False)
