"""Round robins and gauntlets: who meets whom, in which seats, and what may change between runs."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.selection.matchups import letters
from arena.selection.round_robin import Gauntlet, RoundRobin
from arena.selection.selector import CompetitionChangedError, CompletedGame
from referees.api import Outcome, Termination
from tests.arena.selection.playing import given_out, play, resumed

WON = Outcome((1,), Termination.SCORE, "B+1")


def won(game_id: str, players: tuple[str, ...] = ()) -> CompletedGame:
    """The game of these players by seat, else of a and b in the seats that its number gives them."""
    number = game_id.rpartition("_")[2]
    swapped = number.isdigit() and int(number) % 2
    return CompletedGame(game_id, players or (("b", "a") if swapped else ("a", "b")), WON)


def names(count: int) -> list[str]:
    return [f"player{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("place", "expected"), [(0, "A"), (25, "Z"), (26, "AA"), (27, "AB"), (52, "BA"), (701, "ZZ")]
)
def test_competitors_have_letters(place: int, expected: str) -> None:
    assert letters(place) == expected


def test_the_order_of_three_competitors_over_two_rounds() -> None:
    games = [(game.game_id, *game.players) for game in given_out(RoundRobin(["a", "b", "c"], 2))]
    assert games == [
        ("AvB_0", "a", "b"),
        ("AvC_0", "a", "c"),
        ("BvC_0", "b", "c"),
        ("AvB_1", "b", "a"),
        ("AvC_1", "c", "a"),
        ("BvC_1", "c", "b"),
    ]


@pytest.mark.parametrize(
    ("rounds", "first"), [(None, "AvB_0"), (1, "AvB_0"), (10, "AvB_0"), (11, "AvB_00"), (101, "AvB_000")]
)
def test_ids_are_padded_to_the_longest_number(rounds: int | None, first: str) -> None:
    fixture = RoundRobin(["a", "b"], rounds).next_game()
    assert fixture is not None and fixture.game_id == first


@given(players=st.integers(2, 6), rounds=st.integers(1, 5))
def test_pairs_never_differ_by_more_than_one_game_and_end_equal(players: int, rounds: int) -> None:
    selector = RoundRobin(names(players), rounds)
    issued = Counter({f"{first}v{second}": 0 for first, second in combinations("ABCDEF"[:players], 2)})
    while (fixture := selector.next_game()) is not None:
        issued[fixture.matchup] += 1
        assert max(issued.values()) - min(issued.values()) <= 1
    assert set(issued.values()) == {rounds}
    assert issued.total() == selector.total


@given(players=st.integers(2, 5), rounds=st.integers(1, 6))
def test_colours_alternate_in_every_pair(players: int, rounds: int) -> None:
    games = given_out(RoundRobin(names(players), rounds))
    for matchup in {game.matchup for game in games}:
        line_ups = [game.players for game in games if game.matchup == matchup]
        for earlier, later in pairwise(line_ups):
            assert later == (earlier[1], earlier[0])


@given(players=st.integers(2, 4), rounds=st.integers(1, 4), data=st.data())
def test_after_an_interrupted_run_exactly_the_missing_games_are_given_out(
    players: int, rounds: int, data: st.DataObject
) -> None:
    everything = given_out(RoundRobin(names(players), rounds, seed=5))
    completed = data.draw(st.lists(st.sampled_from(everything), unique=True))
    resumed = RoundRobin(names(players), rounds, seed=5)
    for fixture in completed:
        resumed.completed(won(fixture.game_id, fixture.players))
    missing = given_out(resumed)
    assert len(missing) == len(set(missing))
    assert {*missing, *completed} == set(everything)
    assert not set(missing) & set(completed)


@given(seed=st.integers(0, 2**63 - 1), number=st.integers(0, 19))
def test_a_game_keeps_its_seed_when_rounds_are_added(seed: int, number: int) -> None:
    short, long = RoundRobin(["a", "b"], None, seed), RoundRobin(["a", "b"], 1000, seed)
    for game in range(number):
        short.completed(won(f"AvB_{game}"))
        long.completed(won(f"AvB_{game:03d}"))
    ours, theirs = short.next_game(), long.next_game()
    assert ours is not None and theirs is not None
    assert (ours.game_id, theirs.game_id) == (f"AvB_{number}", f"AvB_{number:03d}")
    assert ours.seed == theirs.seed < 2**63


def test_seeds_differ_between_games_and_competitions() -> None:
    seeds = {game.seed for game in given_out(RoundRobin(["a", "b", "c"], 10, seed=1))}
    assert len(seeds) == 30
    assert not seeds & {game.seed for game in given_out(RoundRobin(["a", "b", "c"], 10, seed=2))}


def test_competitors_added_at_the_end_get_their_games_first() -> None:
    selector = RoundRobin(["a", "b", "c"], 3)
    for number in range(3):
        selector.completed(won(f"AvB_{number}"))
    assert [game.matchup for game in given_out(selector)] == ["AvC", "BvC"] * 3


def test_who_played_more_in_an_earlier_run_waits_for_the_others() -> None:
    selector = RoundRobin(["a", "b", "c"], 3)
    for number in range(2):
        selector.completed(won(f"AvB_{number}"))
    assert [game.matchup for game in given_out(selector)] == ["AvC", "BvC"] * 2 + ["AvB", "AvC", "BvC"]


def test_a_later_run_knows_games_of_three_by_any_seats() -> None:
    games = play(RoundRobin(names(4), 3, seats=3)).games
    assert resumed(RoundRobin(names(4), 3, seats=3), games).finished


@pytest.mark.parametrize("game_id", ["AvBvC_0", "0_1", "AvB", "AvB_x", ""])
def test_ids_of_other_competitions_are_refused(game_id: str) -> None:
    with pytest.raises(CompetitionChangedError, match="none of the control file's: all-play-all rounds=4"):
        RoundRobin(["a", "b"], 4).completed(won(game_id))


@pytest.mark.parametrize(
    ("game_id", "message"),
    [
        ("AvD_0", "with b as D, the control file now has nobody as D; put it back"),
        ("BvA_0", "with a as B, the control file now has b as B; put it back"),
    ],
)
def test_games_of_other_places_name_the_competitors(game_id: str, message: str) -> None:
    with pytest.raises(CompetitionChangedError, match=f"^competition.competitors: .* played {message}"):
        RoundRobin(["a", "b"], 4).completed(won(game_id))


def test_each_challenger_meets_each_opponent_in_both_seats() -> None:
    selector = Gauntlet(["new", "newer"], ["old", "older"], rounds=2)
    played = play(selector)
    assert played.ids == ["AvC_0", "AvD_0", "BvC_0", "BvD_0", "AvC_1", "AvD_1", "BvC_1", "BvD_1"]
    assert played.fixtures[0].players == ("new", "old")
    assert played.fixtures[4].players == ("old", "new")
    assert played.fixtures[0].opening == played.fixtures[4].opening == 0
    assert selector.finished and selector.total == 8
    assert selector.description == "gauntlet rounds=2 challengers=new,newer opponents=old,older"


@pytest.mark.parametrize(
    ("challengers", "opponents", "message"),
    [
        (["new"], ["old", "oldest"], "opponents: .* with older as C, .* now has oldest as C; put"),
        (["new"], ["old"], "opponents: .* with older as C, the control file now has nobody as C; put"),
        (["newest"], ["old", "older"], "challengers: .* with new as A, .* now has newest as A; put"),
        (
            ["new", "old"],
            ["older"],
            "challengers: .* with new against old as A and B, .* now has no such games",
        ),
    ],
)
def test_past_pairings_may_not_change(challengers: list[str], opponents: list[str], message: str) -> None:
    games = play(Gauntlet(["new"], ["old", "older"], rounds=2)).games
    assert resumed(Gauntlet(["new"], ["old", "older", "oldest"], rounds=2), games).total == 6
    with pytest.raises(CompetitionChangedError, match=rf"^competition\.{message}"):
        resumed(Gauntlet(challengers, opponents, rounds=2), games)


@pytest.mark.parametrize("played", [0, 4, 17, 18])
def test_the_schedule_has_the_games_that_are_given_out_next_in_their_order(played: int) -> None:
    selector = RoundRobin(names(4), 3)
    play(selector, most=played)
    upcoming = list(selector.upcoming())
    assert upcoming == list(selector.upcoming()) and len(upcoming) == 18 - played
    assert upcoming == given_out(selector)
