"""The likeliest Elo of a competition: what results are worth, how far they can be off, who is better."""

import math
from collections.abc import Mapping

import pytest

from arena.ratings.rating_list import PairResult, RatingList, rate

# One step of 1 in the logistic curve.
UNIT = 400 / math.log(10)


def met(*results: tuple[str, int, int, int], centre: float = 0.0, **anchors: float) -> RatingList:
    """The ratings of pairs named by two letters, with wins, draws and losses."""
    return rate([PairResult(*pair, *counts) for pair, *counts in results], centre, anchors)


def elos(ratings: RatingList) -> Mapping[str, float]:
    return {name: round(estimate.elo, 1) for name, estimate in ratings.estimates.items()}


@pytest.mark.parametrize(
    ("counts", "apart"),
    [((3, 0, 1), 3), ((2, 2, 0), 3), ((1, 0, 3), 1 / 3), ((1000, 0, 1), 1000), ((1, 4, 1), 1)],
)
def test_two_players_are_as_far_apart_as_their_points_say(counts: tuple[int, int, int], apart: float) -> None:
    ratings = met(("ab", *counts), centre=1000)
    half = 200 * math.log10(apart)
    assert elos(ratings) == {"a": round(1000 + half, 1), "b": round(1000 - half, 1)}


@pytest.mark.parametrize(
    ("counts", "variance", "better"),
    [((3, 0, 1), 4 / 3, 0.8293), ((1, 0, 3), 4 / 3, 0.1707), ((2, 0, 2), 1.0, 0.5), ((1, 2, 1), 0.5, 0.5)],
)
def test_draws_narrow_the_intervals(counts: tuple[int, int, int], variance: float, better: float) -> None:
    """Each of two is off by half of what their distance is off by."""
    ratings = met(("ab", *counts))
    wide = 1.959964 * UNIT * math.sqrt(variance)
    assert [estimate.error for estimate in ratings.estimates.values()] == pytest.approx([wide / 2] * 2)
    assert ratings.superiority("a", "b") == pytest.approx(better, abs=1e-4)
    anchored = met(("ab", *counts), b=500)
    assert [anchored.estimates[name].error for name in "ab"] == pytest.approx([wide, 0])
    assert anchored.superiority("a", "b") == pytest.approx(better, abs=1e-4)


def test_results_without_a_spread_give_no_interval() -> None:
    ratings = met(("ab", 0, 5, 0))
    assert elos(ratings) == {"a": 0, "b": 0} and ratings.estimates["a"].error is None
    assert not ratings.estimates["a"].imagined and ratings.superiority("a", "b") == 0.5


def test_an_anchored_player_with_the_higher_elo_is_better_whatever_they_played() -> None:
    ratings = met(("ab", 0, 1, 4), a=1000, b=900)
    assert elos(ratings) == {"a": 1000, "b": 900}
    assert (ratings.superiority("a", "b"), ratings.superiority("b", "a")) == (1.0, 0.0)


def test_players_whose_opponents_never_met_cannot_be_compared() -> None:
    ratings = met(("ab", 3, 0, 1), ("cd", 1, 0, 1), ("ac", 0, 0, 0), centre=1000)
    assert elos(ratings) == {"a": 1095.4, "b": 904.6, "c": 1000, "d": 1000}
    assert ratings.superiority("a", "c") is None
    assert ratings.superiority("a", "nobody") is ratings.superiority("nobody", "a") is None


def test_where_somebody_only_won_each_pair_that_met_has_one_imaginary_draw() -> None:
    ratings = met(("ab", 2, 0, 0), ("bc", 2, 0, 0))
    step = 400 * math.log10(5)
    assert elos(ratings) == {"a": round(step, 1), "b": 0, "c": round(-step, 1)}
    assert all(estimate.imagined for estimate in ratings.estimates.values())
    anchored = met(("ab", 2, 0, 0), a=1000)
    assert [anchored.estimates[name].imagined for name in "ab"] == [False, True]
