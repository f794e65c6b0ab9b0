"""Elo by maximum likelihood: against closed forms, published matches and the model's own laws."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ratings.elo import PairResult, rate


@pytest.mark.parametrize(
    ("wins", "draws", "losses", "elo", "error", "superiority"),
    [
        # Published: "ELO: 103.73 +-71.1 (95%) LOS: 99.9%, W: 63 L: 34 D: 3" (variantfishtest). Its error
        # is taken on the score and then turned into Elo, which stretches it a little.
        (63, 3, 34, 103.73, 71.1, 0.999),
        (75, 0, 25, 190.85, 79.0, 1.0),
        (30, 40, 30, 0.0, 53.0, 0.5),
        (10, 80, 10, 0.0, 30.5, 0.5),
        # The closed form: 400 log10(odds), deviation of the score over the slope of the curve.
        (640, 0, 360, 99.95, 22.5, 1.0),
    ],
)
def test_matches_of_two(
    wins: int, draws: int, losses: int, elo: float, error: float, superiority: float
) -> None:
    ratings = rate([PairResult("a", "b", wins, draws, losses)])
    a, b = ratings.estimates["a"], ratings.estimates["b"]
    assert a.elo - b.elo == pytest.approx(elo, abs=0.01)
    # Each stands at half the difference from the middle, and so has half its error.
    assert a.error is not None and a.error == pytest.approx(b.error)
    assert 2 * a.error == pytest.approx(error, rel=0.02)
    assert ratings.superiority("a", "b") == pytest.approx(superiority, abs=0.002)
    assert ratings.superiority("b", "a") == pytest.approx(1 - superiority, abs=0.002)
    assert not a.imagined


def test_players_that_never_met_are_rated_through_others() -> None:
    ratings = rate([PairResult("a", "b", 76, 0, 24), PairResult("b", "c", 76, 0, 24)]).estimates
    assert ratings["a"].elo - ratings["b"].elo == pytest.approx(ratings["b"].elo - ratings["c"].elo)
    assert ratings["a"].elo - ratings["c"].elo == pytest.approx(2 * 200.24, abs=0.01)
    assert ratings["b"].error < ratings["a"].error  # type: ignore[operator]


def test_anchors_do_not_move_and_carry_the_others() -> None:
    results = [PairResult("random", "a", 10, 0, 90), PairResult("a", "b", 50, 0, 50)]
    ratings = rate(results, centre=1000.0, anchors={"random": 0.0})
    random_player, a, b = (ratings.estimates[name] for name in ("random", "a", "b"))
    assert (random_player.elo, random_player.error) == (0.0, 0.0)
    assert a.elo == pytest.approx(400 * math.log10(9)) and b.elo == pytest.approx(a.elo)
    assert ratings.superiority("a", "random") == pytest.approx(1.0, abs=1e-6)


def test_all_anchored() -> None:
    ratings = rate([PairResult("a", "b", 1, 0, 1)], anchors={"a": 100.0, "b": 0.0})
    assert ratings.estimates["a"].elo == 100.0
    assert ratings.superiority("a", "b") == 1.0


def test_without_an_anchor_the_mean_is_the_centre() -> None:
    results = [PairResult("a", "b", 5, 1, 2), PairResult("b", "c", 3, 3, 3), PairResult("a", "c", 4, 0, 1)]
    ratings = rate(results, centre=1000.0).estimates
    assert sum(estimate.elo for estimate in ratings.values()) / 3 == pytest.approx(1000.0)


def test_a_player_that_won_all_gets_an_imaginary_draw() -> None:
    ratings = rate([PairResult("a", "b", 10, 0, 0)])
    a, b = ratings.estimates["a"], ratings.estimates["b"]
    assert a.imagined and b.imagined
    assert a.elo - b.elo == pytest.approx(400 * math.log10(10.5 / 0.5))
    assert ratings.superiority("a", "b") > 0.99  # type: ignore[operator]


def test_those_who_never_met_cannot_be_compared() -> None:
    ratings = rate([PairResult("a", "b", 3, 0, 1), PairResult("c", "d", 1, 0, 3)], centre=1000.0)
    assert ratings.superiority("a", "c") is None
    assert ratings.superiority("a", "nobody") is None
    assert ratings.estimates["a"].elo + ratings.estimates["b"].elo == pytest.approx(2000.0)


def test_nothing_but_draws_shows_no_spread() -> None:
    ratings = rate([PairResult("a", "b", 0, 7, 0)])
    assert ratings.estimates["a"].elo == ratings.estimates["b"].elo
    assert ratings.estimates["a"].error is None
    assert ratings.superiority("a", "b") == 0.5


def test_pairs_without_games_are_no_players() -> None:
    assert rate([PairResult("a", "b", 0, 0, 0)]).estimates == {}


def test_the_errors_hold_what_they_promise() -> None:
    """About 95 % of simulated tournaments must have the true difference within the error."""
    chance = random.Random(20260)
    strength = {"a": 0.0, "b": 80.0, "c": -120.0}
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    held = 0
    for _ in range(300):
        results = []
        for player, opponent in pairs:
            expected = 1 / (1 + 10 ** ((strength[opponent] - strength[player]) / 400))
            wins = sum(chance.random() < expected for _ in range(60))
            results.append(PairResult(player, opponent, wins, 0, 60 - wins))
        estimate = rate(results, anchors={"a": 0.0}).estimates["b"]
        assert estimate.error is not None
        held += abs(estimate.elo - 80.0) <= estimate.error
    assert 0.91 <= held / 300 <= 0.985


games = st.integers(0, 30)


@settings(max_examples=50)
@given(st.lists(st.tuples(games, games, games), min_size=6, max_size=6))
def test_the_likeliest_ratings_expect_the_points_that_were_made(counts: list[tuple[int, int, int]]) -> None:
    names = "abcd"
    pairs = [(i, j) for place, i in enumerate(names) for j in names[place + 1 :]]
    results = [PairResult(i, j, *count) for (i, j), count in zip(pairs, counts, strict=True)]
    ratings = rate(results).estimates
    if any(estimate.imagined for estimate in ratings.values()):
        return
    for name, estimate in ratings.items():
        made = expected = 0.0
        for result in results:
            if name in (result.player, result.opponent) and result.wins + result.draws + result.losses:
                mine = result.wins if name == result.player else result.losses
                other = result.opponent if name == result.player else result.player
                made += mine + result.draws / 2
                played = result.wins + result.draws + result.losses
                expected += played / (1 + 10 ** ((ratings[other].elo - estimate.elo) / 400))
        assert expected == pytest.approx(made, abs=1e-6)
