"""Matches of game pairs: Elo with its error, and the sequential probability ratio test.

A pair is one opening played twice with seats swapped. Its points for the first player are 0, ½, 1,
1½ or 2, so a match is five counts: the pentanomial. Games of a pair depend on each other through
their opening; counting pairs instead of games keeps the error of the estimate honest.

Logistic Elo e is the expected score 1 / (1 + 10^(-e/400)). Normalised Elo is 800/ln 10 times
(expected score - ½) / (standard deviation of a game's score), which makes the number of games a
test needs independent of how drawish the game is. The test is the generalised one: the log-likelihood
ratio (LLR) of the likeliest distributions under either hypothesis (M. Van den Bergh,
"Comments on Normalized Elo" and "The generalized SPRT"; it is what Fishtest uses).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from arena.ratings.elo import expected_score

Counts = tuple[int, int, int, int, int]
"""Pairs by the first player's points: 0, ½, 1, 1½, 2."""

# One number for each of a pair's five outcomes.
Vector = Sequence[float]

Model = Literal["normalized", "logistic"]

NORMALISED_ELO: Final = 800.0 / math.log(10.0)
NORMAL_95: Final = 1.959963984540054
_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
# What an outcome that has not been seen counts for: without it a run of equal results has no ratio.
_UNSEEN: Final = 1e-3
_MOST_ROUNDS: Final = 50


@dataclass(frozen=True)
class SprtStatus:
    """How far a test is: it ends with `verdict` when `llr` leaves the bounds `lower`, `upper`."""

    llr: float
    lower: float
    upper: float
    verdict: Literal["H0", "H1"] | None


# Beyond about 245 the likeliest distribution of a normalised Elo can't be found step by step, and no test
# asks for so much: twenty games show it.
MOST_ELO: Final[dict[str, float]] = {"normalized": 200.0, "logistic": 1000.0}


@dataclass(frozen=True)
class Sprt:
    """A test of the hypothesis H1, "the first player is `elo1` better", against H0, "`elo0` better".

    `alpha` is the chance to accept H1 where H0 holds, `beta` that to accept H0 where H1 holds.
    Raises ValueError for hypotheses in the wrong order or beyond MOST_ELO, and chances outside 0 to ½.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 must be less than elo1, but {self.elo0} is not less than {self.elo1}")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < chance < 0.5:
                raise ValueError(f"{name} must lie between 0 and 0.5, {chance} does not")
        if self.model not in ("normalized", "logistic"):
            raise ValueError(f"model must be 'normalized' or 'logistic', {self.model!r} is neither")
        most = MOST_ELO[self.model]
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if abs(elo) > most:
                raise ValueError(
                    f"{name} must lie between -{most:g} and {most:g} ({self.model}), not {elo:g}"
                )

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the log-likelihood ratio."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)

    def status(self, counts: Counts) -> SprtStatus:
        """Where the test stands after these pairs."""
        lower, upper = self.bounds
        llr = log_likelihood_ratio(counts, self.elo0, self.elo1, self.model)
        verdict: Literal["H0", "H1"] | None = "H1" if llr >= upper else "H0" if llr <= lower else None
        return SprtStatus(llr, lower, upper, verdict)


@dataclass(frozen=True)
class MatchEstimate:
    """What a match says of the first player: Elo and normalised Elo with half-widths of their 95 %
    confidence intervals, and the likelihood of superiority (0 to 1) over the second one.

    `elo` is infinite where all games were won or all were lost. `elo_error` is NaN where the interval reaches
    a score of 0 or 1. Both errors are NaN where all pairs had the same points.
    """

    elo: float
    elo_error: float
    normalised_elo: float
    normalised_elo_error: float
    superiority: float


def log_likelihood_ratio(counts: Counts, elo0: float, elo1: float, model: Model) -> float:
    """The LLR of H1 (`elo1`) against H0 (`elo0`); positive speaks for H1, 0.0 where nothing was played."""
    if sum(counts) == 0:
        return 0.0
    seen = [max(count, _UNSEEN) for count in counts]
    pairs = sum(seen)
    shares = [count / pairs for count in seen]
    if model == "logistic":
        under0, under1 = (
            _likeliest(shares, [score - expected_score(elo) for score in _SCORES]) for elo in (elo0, elo1)
        )
    else:
        # A pair's score is the mean of two games': its deviation is smaller by the root of two.
        under0, under1 = (
            _likeliest_normalised(shares, math.sqrt(2.0) * elo / NORMALISED_ELO) for elo in (elo0, elo1)
        )
    gains = (share * math.log(more / less) for share, more, less in zip(shares, under1, under0, strict=True))
    return pairs * sum(gains)


def estimate(counts: Counts) -> MatchEstimate | None:
    """Elo, its error and the likelihood of superiority; None where nothing was played."""
    pairs = sum(counts)
    if pairs == 0:
        return None
    mean, deviation = _moments([count / pairs for count in counts])
    error = NORMAL_95 * deviation / math.sqrt(pairs)
    if deviation == 0.0:
        superiority = 0.5 if mean == 0.5 else float(mean > 0.5)
        normalised = 0.0 if mean == 0.5 else math.copysign(math.inf, mean - 0.5)
        return MatchEstimate(elo_of_score(mean), math.nan, normalised, math.nan, superiority)
    game_deviation = deviation * math.sqrt(2.0)
    return MatchEstimate(
        elo=elo_of_score(mean),
        elo_error=(elo_of_score(mean + error) - elo_of_score(mean - error)) / 2.0
        if mean - error > 0.0 and mean + error < 1.0
        else math.nan,
        normalised_elo=NORMALISED_ELO * (mean - 0.5) / game_deviation,
        normalised_elo_error=NORMALISED_ELO * error / game_deviation,
        superiority=0.5 * (1.0 + math.erf((mean - 0.5) / (deviation / math.sqrt(pairs)) / math.sqrt(2.0))),
    )


def elo_of_score(score: float) -> float:
    """The logistic Elo difference of a mean score; infinite at 0 and 1."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return -400.0 * math.log10(1.0 / score - 1.0)


def _moments(shares: Vector) -> tuple[float, float]:
    mean = sum(share * score for share, score in zip(shares, _SCORES, strict=True))
    return mean, math.sqrt(
        sum(share * (score - mean) ** 2 for share, score in zip(shares, _SCORES, strict=True))
    )


def _likeliest(shares: Vector, values: Vector) -> Vector:
    """The distribution likeliest to yield `shares` among those in which `values` have the mean 0.

    It is share/(1 + x·value), x the only root of the mean at which all of it is positive.
    """

    def mean(x: float) -> float:
        return sum(share * value / (1.0 + x * value) for share, value in zip(shares, values, strict=True))

    x = _root(mean, -1.0 / max(values), -1.0 / min(values))
    return [share / (1.0 + x * value) for share, value in zip(shares, values, strict=True)]


def _likeliest_normalised(shares: Vector, ratio: float) -> Vector:
    """The distribution likeliest to yield `shares` among those whose (mean - ½) / deviation is `ratio`.

    That condition, made linear about the last estimate, is a mean of 0; solved again until it stays.
    """
    frequencies: Vector = [1.0 / len(_SCORES)] * len(_SCORES)
    for _ in range(_MOST_ROUNDS):
        mean, deviation = _moments(frequencies)
        values = [
            score - 0.5 - ratio * deviation * (1.0 + ((mean - score) / deviation) ** 2) / 2.0
            for score in _SCORES
        ]
        last, frequencies = frequencies, _likeliest(shares, values)
        if max(abs(now - before) for now, before in zip(frequencies, last, strict=True)) < 1e-9:
            break
    return frequencies


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of a function that falls from +∞ at `low` to -∞ at `high`, both exclusive."""
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if function(middle) > 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
