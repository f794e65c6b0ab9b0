"""LUDAE's Elo, by examples worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.elo import Curve, EloRules, change_factor, expected_score


@pytest.mark.parametrize(
    ("difference", "curve", "expected"),
    [
        (0, Curve.LOGISTIC, 0.5),
        (200, Curve.LOGISTIC, 0.760),
        (100, Curve.LOGISTIC, 0.640),
        (-400, Curve.LOGISTIC, 1 / 11),
        (0, Curve.NORMAL, 0.5),
        (200, Curve.NORMAL, 0.841),
        (100, Curve.NORMAL, 0.691),
        (-200, Curve.NORMAL, 0.159),
        (426, Curve.NORMAL, 0.9834),
    ],
)
def test_the_expected_score_of_a_difference(difference: float, curve: Curve, expected: float) -> None:
    assert expected_score(difference, curve) == pytest.approx(expected, abs=0.0006)


@pytest.mark.parametrize(
    ("own", "opponent", "factor"),
    [
        (1999, 2300, 30),
        (2000, 2300, 15),
        (2200, 2200, 20),
        (2400, 2000, 30),
        (2200, 1600, 50),
        (2401, 1000, 10),
        (2200, 2500, 10),
        (2200, 2700, 10),
    ],
)
def test_the_change_factor(own: float, opponent: float, factor: float) -> None:
    assert change_factor(own, opponent) == factor


@pytest.mark.parametrize(("name", "elo"), [("fixed", 0.0), ("known", 1400.0), ("newcomer", 1000.0)])
def test_a_player_begins_with_its_fixed_elo_then_with_the_one_it_had(name: str, elo: float) -> None:
    rules = EloRules(fixed={"fixed": 0.0}, begin={"fixed": 900.0, "known": 1400.0})
    assert rules.first(name) == elo


@pytest.mark.parametrize(
    ("names", "before", "winners", "after"),
    [
        ("ab", (1000, 1000), (1,), (1015, 985)),
        ("ab", (1000, 1000), (1, 2), (1000, 1000)),
        ("ab", (1200, 1000), (2,), (1200 - 30 * 0.7597, 1000 + 30 * 0.7597)),
        ("ab", (1200, 1000), (1, 2), (1200 - 30 * 0.2597, 1000 + 30 * 0.2597)),
        ("ab", (2200, 2500), (1,), (2200 + 10 * 0.8490, 2500 - 10 * 0.8490)),
        ("ab", (2200, 2300), (1,), (2200 + 15 * 0.6401, 2300 - 20 * 0.6401)),
        ("ab", (1200, 1000), (), (1200, 1000)),
        # The mean of the pairs. a: (15 + 15) / 2; b: lost to a (-15), drew with c (0), halved.
        ("abc", (1000, 1000, 1000), (1,), (1015, 992.5, 992.5)),
        # Nobody plays itself.
        ("aa", (1000, 1000), (1,), (1000, 1000)),
        ("aab", (1000, 1000, 1000), (3,), (970, 970, 1015)),
    ],
)
def test_a_game_moves_the_elo_of_its_players(
    names: str, before: tuple[float, ...], winners: tuple[int, ...], after: tuple[float, ...]
) -> None:
    assert EloRules().rate(tuple(names), before, winners) == pytest.approx(after, abs=0.01)


def test_the_curve_of_the_rules_says_what_a_win_is_worth() -> None:
    rated = EloRules(curve=Curve.NORMAL).rate(("a", "b"), (1200, 1000), (2,))
    assert rated == pytest.approx((1200 - 30 * 0.8413, 1000 + 30 * 0.8413), abs=0.01)


def test_a_fixed_player_never_moves_but_moves_others() -> None:
    rules = EloRules(fixed={"random": 0.0})
    assert rules.first("random") == 0.0 and rules.first("other") == 1000.0
    random, other = rules.rate(("random", "other"), (0.0, 0.0), (2,))
    assert (random, other) == (0.0, 15.0)


@given(
    elo=st.lists(st.floats(-3000, 1999), min_size=2, max_size=7),
    data=st.data(),
    curve=st.sampled_from(Curve),
)
def test_below_2000_what_two_win_and_lose_is_the_same_and_winners_never_lose(
    elo: list[float], data: st.DataObject, curve: Curve
) -> None:
    seats = range(1, len(elo) + 1)
    winners = data.draw(st.sets(st.sampled_from(seats), min_size=1))
    names = [f"p{seat}" for seat in seats]
    rated = EloRules(curve=curve).rate(names, elo, tuple(winners))
    assert sum(rated) == pytest.approx(sum(elo), abs=1e-6)
    if len(winners) == 1:
        (seat,) = winners
        assert rated[seat - 1] >= elo[seat - 1]
