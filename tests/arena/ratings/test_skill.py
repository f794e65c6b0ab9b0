"""Skills from games of many players: what must hold of any rating with ties."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.skill import Skill, SkillTable

NEWCOMER = Skill(25.0, 25.0 / 3.0)
SEVEN = tuple("abcdefg")


def rated(*games: tuple[Sequence[str], Sequence[int]]) -> SkillTable:
    table = SkillTable()
    for players, winners in games:
        table.add(players, winners, [seat not in winners for seat in range(1, len(players) + 1)])
    return table


def after(players: tuple[str, ...], *games: tuple[int, ...]) -> list[float]:
    table = rated(*((players, winners) for winners in games))
    return [table.skill(name).mu for name in players]


@pytest.mark.parametrize(
    ("players", "winners", "expected"),
    [
        (("a", "b"), (1, 2), (25.0, 25.0)),
        (SEVEN, (1, 2, 3), (25.54,) * 3 + (24.60,) * 4),
        (SEVEN, (1,), (27.41,) + (24.60,) * 6),
        (SEVEN, tuple(range(1, 8)), (25.0,) * 7),
    ],
)
def test_known_games(players: tuple[str, ...], winners: tuple[int, ...], expected: tuple[float, ...]) -> None:
    assert after(players, winners) == pytest.approx(expected, abs=0.005)


winning_seats = st.sets(st.integers(1, 7), min_size=1).map(lambda seats: tuple(sorted(seats)))


@given(winning_seats)
def test_players_who_tie_stay_equal_and_winners_end_above_losers(winners: tuple[int, ...]) -> None:
    mu = after(SEVEN, winners)
    won = {round(mu[seat - 1], 9) for seat in winners}
    lost = {round(mu[seat - 1], 9) for seat in range(1, 8) if seat not in winners}
    assert len(won) == 1 and len(lost) <= 1
    assert not lost or won.pop() > lost.pop()


@given(st.lists(winning_seats, min_size=1, max_size=4), st.permutations(range(7)))
def test_the_order_of_seats_does_not_matter(games: list[tuple[int, ...]], order: list[int]) -> None:
    plain = after(SEVEN, *games)
    shuffled = tuple(SEVEN[place] for place in order)
    moved = [tuple(order.index(seat - 1) + 1 for seat in winners) for winners in games]
    assert after(shuffled, *moved) == pytest.approx([plain[place] for place in order])


def test_equals_lose_as_much_as_others_gain() -> None:
    assert sum(after(SEVEN, (2, 5))) == pytest.approx(7 * 25.0)


def test_games_without_a_result_change_no_rating_and_newcomers_are_known() -> None:
    table = rated((SEVEN, ()))
    assert table.skill("a") == table.skill("somebody else") == NEWCOMER


def test_a_player_in_several_seats_has_one_skill() -> None:
    """The mean of what its seats became, as if these had been of two players."""
    table, apart = rated((("a", "a", "b"), (1,))), rated((("won", "lost", "b"), (1,)))
    assert table.skill("a").mu > 25.0 > table.skill("b").mu
    won, lost = apart.skill("won"), apart.skill("lost")
    assert table.skill("a") == Skill((won.mu + lost.mu) / 2, (won.sigma + lost.sigma) / 2)


def test_playing_more_makes_surer() -> None:
    once, often = rated((SEVEN, (1,))), rated(*[(SEVEN, (1,))] * 20)
    assert NEWCOMER.sigma > once.skill("a").sigma > often.skill("a").sigma
