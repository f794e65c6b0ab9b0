"""Players' latest Elos: as the contests reported them, and in order at any time."""

import statistics

from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.contests import Contestant
from academy.knowledge.measures import Ratings

contestants = st.builds(Contestant, st.sampled_from("abcdefgh"), st.floats(-100, 100))


@given(st.lists(contestants, min_size=1))
def test_the_latest_elo_counts_and_the_upper_quartile_is_of_all_players(seated: list[Contestant]) -> None:
    ratings = Ratings()
    latest: dict[str, int] = {}
    for player in seated:
        ratings.set_after_contest([player])
        latest[player.name] = round(player.elo * 100)
        best = max(latest.values())
        quartile = statistics.quantiles(latest.values(), n=4)[2] if len(latest) > 1 else best
        reaching = {name for name, elo in latest.items() if elo >= min(quartile, best)}
        assert {name for name in latest if ratings.in_upper_quartile(name)} == reaching
    assert dict(ratings) == latest and len(ratings) == len(latest)
    assert all(ratings[name] == elo for name, elo in latest.items())
    assert ratings == Ratings(latest.items())


def test_changes_are_players_who_are_new_or_have_another_elo() -> None:
    ratings = Ratings([("ann", 100), ("bob", 200)])
    assert ratings.take_changes() == frozenset()
    ratings.set_after_contest([Contestant("ann", 1.0), Contestant("bob", 2.5), Contestant("cas", 3.0)])
    assert ratings.take_changes() == {"bob", "cas"}
    assert ratings.take_changes() == frozenset()


def test_the_elo_of_the_last_seat_counts_for_a_player_in_several_seats() -> None:
    ratings = Ratings()
    ratings.set_after_contest([Contestant("ann", 5.0), Contestant("ann", 1.0)])
    assert (dict(ratings), ratings.in_upper_quartile("ann")) == ({"ann": 100}, True)
