"""Tests of game pairs, checked against what Fishtest and fastchess have published of theirs."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.pentanomial import Counts, Model, Sprt, estimate, log_likelihood_ratio

counts = st.tuples(*[st.integers(0, 2000)] * 5).filter(lambda drawn: sum(drawn) > 0)


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "model", "published"),
    [
        # Fishtest's tests of Stockfish pull requests 6616, 6036 and 4493, by normalised Elo.
        ((2, 1925, 6607, 2176, 2), 0.0, 2.0, "normalized", 2.94),
        ((5, 2968, 10474, 3253, 5), 0.5, 2.5, "normalized", 2.96),
        ((1, 1098, 3954, 1346, 1), 0.5, 2.5, "normalized", 2.94),
        ((0, 1236, 4490, 1474, 1), 0.0, 2.0, "normalized", 2.94),
        ((24, 7350, 23669, 7717, 28), 0.5, 2.5, "normalized", 2.94),
        ((2002, 72968, 180891, 74129, 2034), 0.0, 2.0, "normalized", 3.22),
        # Those of 3098, 3331 and 3209, by logistic Elo.
        ((491, 7345, 29693, 7670, 465), -0.25, 1.25, "logistic", 2.96),
        ((53, 2220, 21459, 2445, 47), 0.25, 1.25, "logistic", 2.97),
        ((115, 2196, 11328, 2317, 136), -0.25, 1.25, "logistic", 2.94),
        ((58, 3302, 33130, 3518, 84), 0.25, 1.25, "logistic", 2.97),
        # fastchess's reports of matches.
        ((307, 619, 1202, 725, 353), 0.0, 5.0, "normalized", 2.95),
        ((84, 124, 343, 125, 164), 0.0, 1.0, "normalized", 0.54),
        ((0, 0, 2, 0, 37), 0.0, 20.0, "normalized", 2.96),
    ],
)
def test_published_log_likelihood_ratios(
    pairs: Counts, elo0: float, elo1: float, model: Model, published: float
) -> None:
    # Published to two decimals, and Fishtest's by a version that allows for overshooting the bound.
    assert log_likelihood_ratio(pairs, elo0, elo1, model) == pytest.approx(published, abs=0.02)


@pytest.mark.parametrize(
    ("pairs", "elo", "elo_error", "normalised", "normalised_error", "superiority"),
    [
        ((307, 619, 1202, 725, 353), 10.73, 6.70, 13.63, 8.50, 0.9992),
        ((84, 124, 343, 125, 164), 33.40, 14.24, 39.23, 16.61, 1.0),
        ((16, 82, 222, 150, 61), 52.08, 14.57, 75.87, 20.90, 1.0),
        ((49, 48, 154, 49, 60), 11.10, 21.86, 12.92, 25.38, 0.8408),
        ((12, 6, 25, 8, 9), -11.59, 56.66, -12.83, 62.16, 0.3429),
        ((11, 1, 32, 8, 48), 149.26, 55.24, 148.57, 48.15, 1.0),
    ],
)
def test_published_estimates(
    pairs: Counts,
    elo: float,
    elo_error: float,
    normalised: float,
    normalised_error: float,
    superiority: float,
) -> None:
    estimated = estimate(pairs)
    assert estimated is not None
    assert (estimated.elo, estimated.normalised_elo) == pytest.approx((elo, normalised), abs=0.006)
    assert (estimated.elo_error, estimated.normalised_elo_error) == pytest.approx(
        (elo_error, normalised_error), abs=0.006
    )
    assert estimated.superiority == pytest.approx(superiority, abs=6e-5)


@pytest.mark.parametrize(
    ("alpha", "beta", "bounds"), [(0.05, 0.05, (-2.944, 2.944)), (0.01, 0.2, (-1.599, 4.382))]
)
def test_bounds_are_walds(alpha: float, beta: float, bounds: tuple[float, float]) -> None:
    """The rarer a wrong H1 (alpha), the higher is the upper one; a wrong H0 (beta), the lower the lower."""
    status = Sprt(0.0, 5.0, alpha, beta).status((0, 0, 0, 0, 0))
    assert (status.llr, status.verdict) == (0.0, None)
    assert (status.lower, status.upper) == pytest.approx(bounds, abs=0.001)


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [((307, 619, 1202, 725, 353), "H1"), ((353, 725, 1202, 619, 307), "H0"), ((3, 6, 12, 7, 3), None)],
)
def test_the_test_ends_at_its_bounds(pairs: Counts, verdict: str | None) -> None:
    assert Sprt(0.0, 5.0).status(pairs).verdict == verdict


def test_a_run_of_nothing_but_wins_or_draws_has_a_ratio() -> None:
    assert log_likelihood_ratio((0, 0, 0, 0, 30), 0.0, 10.0, "normalized") > 0.5
    assert log_likelihood_ratio((0, 0, 0, 0, 1), 0.0, 10.0, "normalized") > 0.01
    assert log_likelihood_ratio((0, 0, 500, 0, 0), 0.0, 10.0, "logistic") < -2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"elo0": 5.0, "elo1": 5.0}, "elo0 must be less than elo1, but 5.0 is not less than 5.0"),
        ({"elo0": 0.0, "elo1": 5.0, "alpha": 0.5}, "alpha must lie between 0 and 0.5, 0.5 does not"),
        ({"elo0": 0.0, "elo1": 5.0, "beta": 0.0}, "beta must lie between"),
        ({"elo0": 0.0, "elo1": 5.0, "model": "bayesian"}, "'bayesian' is neither"),
    ],
)
def test_senseless_tests_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sprt(**arguments)  # type: ignore[arg-type]


def test_a_match_without_games_says_nothing() -> None:
    assert estimate((0, 0, 0, 0, 0)) is None


@pytest.mark.parametrize(
    ("pairs", "elo", "superiority"),
    [((0, 0, 0, 0, 10), math.inf, 1.0), ((10, 0, 0, 0, 0), -math.inf, 0.0), ((0, 0, 10, 0, 0), 0.0, 0.5)],
)
def test_a_match_whose_pairs_are_all_alike_has_no_interval(
    pairs: Counts, elo: float, superiority: float
) -> None:
    estimated = estimate(pairs)
    assert estimated is not None and estimated.elo == estimated.normalised_elo == elo
    assert math.isnan(estimated.elo_error) and math.isnan(estimated.normalised_elo_error)
    assert estimated.superiority == superiority


@given(counts, st.sampled_from(["normalized", "logistic"]))
def test_the_other_players_view_is_the_opposite(pairs: Counts, model: Model) -> None:
    mirrored: Counts = (pairs[4], pairs[3], pairs[2], pairs[1], pairs[0])
    seen = log_likelihood_ratio(pairs, -5.0, 5.0, model)
    assert log_likelihood_ratio(mirrored, -5.0, 5.0, model) == pytest.approx(-seen, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("model", "most"), [("normalized", 200.0), ("logistic", 1000.0)])
def test_the_widest_hypotheses_are_tested_whatever_the_counts(model: Model, most: float) -> None:
    test = Sprt(-most, most, model=model)
    pairs = (0, 1, 1000)
    for counts in itertools.product(pairs, pairs, pairs, pairs, pairs):
        assert math.isfinite(test.status(counts).llr), counts
    for name, elo0, elo1 in (("elo1", 0, most + 1), ("elo0", -most - 1, 0)):
        with pytest.raises(ValueError, match=f"{name} must lie between"):
            Sprt(elo0, elo1, model=model)
