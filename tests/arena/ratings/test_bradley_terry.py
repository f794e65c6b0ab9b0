"""The likeliest ratings find the strengths that made the results."""

import numpy as np
import pytest

from arena.ratings import bradley_terry
from arena.ratings.bradley_terry import Numbers, Pairings, Strengths, likeliest
from arena.ratings.rating_list import PairResult, rate


def simulated(players: int, pairs: int, games: int, seed: int) -> tuple[Numbers, Pairings]:
    chance = np.random.default_rng(seed)
    true = chance.normal(1000, 300, players)
    first, second = chance.integers(0, players, (2, pairs))
    first, second = first[first != second], second[first != second]
    expected = 1 / (1 + 10 ** ((true[second] - true[first]) / 400))
    points = chance.binomial(games, expected).astype(float)
    return true, Pairings(first, second, points, np.full(len(first), float(games)))


def rated(pairings: Pairings, players: int, begin: Numbers | None = None) -> Strengths:
    nobody = np.full(players, -1)
    start = np.full(players, 1000.0) if begin is None else begin
    return likeliest(pairings, nobody, np.full(players, np.nan), start)


def test_errors_hold_the_truth_as_often_as_they_say() -> None:
    inside = []
    for seed in range(10):
        true, pairings = simulated(100, 1500, 3, seed)
        fit = rated(pairings, 100)
        wrong = fit.elo - true
        inside.append(np.mean(np.abs(wrong - wrong.mean()) < fit.error))
    assert 0.93 < np.mean(inside) < 0.97


def test_many_games_give_what_a_fit_without_a_prior_gives() -> None:
    _, pairings = simulated(6, 60, 4000, 3)
    fit = rated(pairings, 6)
    results = [
        PairResult(str(first), str(second), int(points), 0, int(games - points))
        for first, second, points, games in zip(
            pairings.first, pairings.second, pairings.points, pairings.games, strict=True
        )
    ]
    merged: dict[tuple[str, str], PairResult] = {}
    for result in results:
        known = merged.get(
            (result.player, result.opponent), PairResult(result.player, result.opponent, 0, 0, 0)
        )
        merged[result.player, result.opponent] = PairResult(
            result.player, result.opponent, known.wins + result.wins, 0, known.losses + result.losses
        )
    plain = rate(merged.values())
    difference = [fit.elo[place] - plain.estimates[str(place)].elo for place in range(6)]
    assert np.ptp(difference) < 0.5


def test_errors_of_many_players_are_close_to_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    _, pairings = simulated(600, 12_000, 5, 4)
    exact = rated(pairings, 600).error
    monkeypatch.setattr(bradley_terry, "MOST_EXACT", 0)
    assert np.quantile(rated(pairings, 600).error / exact, [0.01, 0.99]) == pytest.approx(1, abs=0.03)


def test_beginning_with_other_ratings_finds_the_same() -> None:
    true, pairings = simulated(200, 2000, 3, 5)
    assert rated(pairings, 200).elo == pytest.approx(rated(pairings, 200, true + 500).elo, abs=0.01)


def test_players_without_a_loss_and_players_who_never_met_have_ratings() -> None:
    pairings = Pairings(np.array([0, 2]), np.array([1, 3]), np.array([10.0, 1.0]), np.array([10.0, 1.0]))
    fit = rated(pairings, 5)
    assert fit.elo[0] > fit.elo[2] > fit.elo[4] == 1000 > fit.elo[3] > fit.elo[1]
    assert fit.error[4] > fit.error[2] > fit.error[0]


def test_before_its_games_a_newcomer_is_expected_near_1000_and_a_version_nearer_to_the_one_before() -> None:
    nothing = np.array([])
    pairings = Pairings(nothing.astype(int), nothing.astype(int), nothing, nothing)
    anchors = np.array([1300.0, np.nan, np.nan])
    fit = likeliest(pairings, np.array([-1, -1, 0]), anchors, np.zeros(3))
    assert fit.elo == pytest.approx([1300, 1000, 1300])
    assert fit.error / 1.959964 == pytest.approx([0, 350, 100])
    # Without an anchor: how far each is off the mean of the three.
    free = likeliest(pairings, np.array([-1, -1, 0]), np.full(3, np.nan), np.zeros(3))
    newcomer, version = np.array([2, 8, 2]) / 9, np.array([1, 1, 4]) / 9
    assert (free.error / 1.959964) ** 2 == pytest.approx(newcomer * 350**2 + version * 100**2)


def test_a_version_without_games_is_where_the_one_before_is() -> None:
    pairings = Pairings(np.array([0]), np.array([1]), np.array([40.0]), np.array([50.0]))
    fit = likeliest(pairings, np.array([-1, -1, 0]), np.full(3, np.nan), np.full(3, 1000.0))
    assert fit.elo[2] == pytest.approx(fit.elo[0], abs=0.01) and fit.elo[0] > 1050
    assert fit.error[2] > fit.error[0]


@pytest.mark.parametrize("held", [-10_000.0, -6_000.0, 0.0, 10_000.0])
def test_a_list_is_found_wherever_its_anchor_is_held(held: float) -> None:
    rated = rate([PairResult("a", "b", 1, 1, 1)], centre=1_000.0, anchors={"a": held})
    assert rated.estimates["b"].elo == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize(
    ("strangers", "ties"),
    [(2, 0), (3, 0), (30, 0), (90, 0), (2, 1), (3, 1), (30, 1)],
    ids=lambda count: str(count),
)
def test_players_of_a_large_league_who_met_hardly_any_others_have_no_narrow_intervals(
    strangers: int, ties: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each two strangers met 100 times; the first `ties` of them met the rest of the league once."""
    _, league = simulated(400, 16_000, 5, 7)
    first, second = np.triu_indices(strangers, 1)
    games = np.full(len(first), 100.0)
    pairings = Pairings(
        np.concatenate([league.first, 400 + first, 400 + np.arange(ties)]),
        np.concatenate([league.second, 400 + second, np.arange(ties)]),
        np.concatenate([league.points, games / 2, np.full(ties, 0.5)]),
        np.concatenate([league.games, games, np.ones(ties)]),
    )
    exact = rated(pairings, 400 + strangers).error
    monkeypatch.setattr(bradley_terry, "MOST_EXACT", 100)
    assert rated(pairings, 400 + strangers).error / exact == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("predecessors", "points"), [([-1, -1, -1], 500.0), ([1, -1, -1], 600.0)], ids=["newcomers", "versions"]
)
def test_players_who_move_alone_and_met_only_each_other_have_no_narrow_intervals(
    predecessors: list[int], points: float
) -> None:
    pairings = Pairings(np.array([0]), np.array([1]), np.array([points]), np.array([1000.0]))
    players = np.array(predecessors), np.array([np.nan, np.nan, 1200.0]), np.full(3, 1000.0)
    # How far they were off before says nothing.
    alone = likeliest(pairings, *players, errors=np.array([300.0, 300.0, 10.0]))
    assert alone.error[:2] == pytest.approx(likeliest(pairings, *players).error[:2])
    assert alone.error[2] == pytest.approx(10)


def test_a_player_who_moves_alone_is_off_with_the_mean_of_those_whom_it_met() -> None:
    games = np.full(4, 1e5)
    pairings = Pairings(np.full(4, 4), np.arange(4), games / 2, games)
    anchors, errors = np.array([1000.0] * 4 + [np.nan]), np.array([80.0] * 4 + [0.0])
    fit = likeliest(pairings, np.full(5, -1), anchors, np.full(5, 1000.0), errors)
    assert fit.error == pytest.approx([80.0] * 4 + [40.0], abs=1)


def test_players_who_move_alone_are_off_with_the_one_held_player_whom_they_met() -> None:
    """Three newcomers met each other and one held player so often that only that one's error is left."""
    first, second = np.triu_indices(4, 1)
    games = np.full(6, 1e5)
    pairings = Pairings(first, second, games / 2, games)
    anchors = np.array([1000.0, np.nan, np.nan, np.nan])
    errors = np.array([80.0, 0.0, 0.0, 0.0])
    fit = likeliest(pairings, np.full(4, -1), anchors, np.full(4, 1000.0), errors)
    assert fit.error == pytest.approx(80, abs=1)
