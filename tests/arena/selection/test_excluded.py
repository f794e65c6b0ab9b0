"""Players and matchups that are left out: what each kind does with their games, in later runs too."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.control.plans import SprtPlan, SwissPlan
from arena.ratings.pentanomial import Sprt
from arena.results.exclusions import Change, Exclusion, interleave
from arena.selection.round_robin import Gauntlet, RoundRobin
from arena.selection.selector import CompletedGame, Fixture
from arena.selection.sprt import SprtMatch
from arena.selection.swiss import Swiss
from tests.arena.selection.playing import completed, play

FOUR = ("a", "b", "c", "d")


def test_games_of_a_player_that_is_left_out_are_not_given_out() -> None:
    selector = RoundRobin(("a", "b", "c"), 2)
    first = selector.next_game()
    assert first is not None and set(first.players) == {"a", "b"}
    selector.exclude("player", "b")
    assert not selector.wants(first)
    assert selector.resume("AvB_1", ("b", "a"), "") is None, "a game left unfinished does not go on"
    played = play(selector)
    assert {fixture.players for fixture in played.fixtures} == {("a", "c"), ("c", "a")}
    assert selector.finished and selector.total == 2 and not selector.short


def test_a_matchup_that_is_left_out_harms_no_other_one() -> None:
    selector = Gauntlet(("a",), ("b", "c"), 2)
    selector.exclude("matchup", "AvB")
    assert play(selector).ids == ["AvC_0", "AvC_1"]
    assert selector.finished


def test_where_all_games_are_played_nothing_is_missing_though_players_are_left_out() -> None:
    selector = RoundRobin(("a", "b"), 2)
    play(selector)
    selector.exclude("player", "b")
    assert selector.finished and not selector.short


def test_a_readmitted_player_plays_the_missing_games() -> None:
    selector = RoundRobin(("a", "b", "c"), 2)
    selector.exclude("player", "b")
    play(selector)
    selector.readmit("player", "b")
    assert not selector.finished
    assert sorted(play(selector).ids) == ["AvB_0", "AvB_1", "BvC_0", "BvC_1"]
    assert selector.finished and selector.total == 6


@given(actions=st.lists(st.tuples(st.sampled_from("ggggcxr"), st.integers(0, 3)), max_size=60))
def test_the_matchup_with_the_fewest_games_plays_next_while_players_come_and_go(
    actions: list[tuple[str, int]],
) -> None:
    selector = RoundRobin(FOUR, 3)
    given_out, over = Counter[str](), Counter[str]()
    running: list[Fixture] = []
    out: set[str] = set()

    def wanted(matchup: str) -> bool:
        return given_out[matchup] < 3 and not out.intersection(selector.groups[matchup].players)

    for action, number in actions:
        if action == "g":
            fixture = selector.next_game()
            able = list(filter(wanted, selector.groups))
            assert (fixture and fixture.matchup) == min(able, key=given_out.__getitem__, default=None)
            if fixture is not None:
                given_out[fixture.matchup] += 1
                running.append(fixture)
        elif action == "c" and running:
            fixture = running.pop(number % len(running))
            over[fixture.matchup] += 1
            selector.completed(completed(fixture, (1,)))
        elif action == "x":
            out.add(FOUR[number])
            selector.exclude("player", FOUR[number])
        elif action == "r":
            out.discard(FOUR[number])
            selector.readmit("player", FOUR[number])
        left_out = [name for name, group in selector.groups.items() if out.intersection(group.players)]
        assert selector.total == sum(over[name] if name in left_out else 3 for name in selector.groups)
        missing = [name for name in selector.groups if over[name] < 3]
        assert selector.finished == (not set(missing) - set(left_out) and not selector.short)


def test_sprt_without_one_of_its_players_has_no_players_left() -> None:
    selector = SprtMatch(SprtPlan(("new", "old"), Sprt(0, 5, 0.05, 0.05, "normalized"), 10))
    selector.exclude("player", "old")
    assert selector.next_game() is None and not selector.finished
    assert selector.short == "all matchups with missing games are left out"


def swiss(names: tuple[str, ...] = FOUR, rounds: int = 3) -> Swiss:
    return Swiss(SwissPlan(names, rounds, 2), seed=1)


def test_in_a_swiss_tournament_a_player_left_out_loses_its_round_and_is_not_paired_again() -> None:
    selector = swiss()
    first = selector.next_game()
    assert first is not None and first.players == ("a", "c")
    selector.completed(completed(first, (2,)))
    selector.exclude("player", "c")
    # a lost the game that was played, and gets the other one.
    assert selector.score("a") == 1 and selector.score("c") == 1
    played = play(selector)
    assert all("c" not in fixture.players for fixture in played.fixtures)
    assert selector.finished and selector.total == 1 + len(played.fixtures)
    # Three are left: in each later round one has a bye.
    assert len(played.fixtures) == 2 + 2 + 2


def test_a_game_that_was_in_progress_when_its_player_was_left_out_counts_as_decided() -> None:
    selector = swiss()
    running = selector.next_game()
    assert running is not None
    selector.exclude("player", "c")
    assert not selector.wants(running) and selector.score("a") == 2
    selector.completed(completed(running, (2,)))
    assert selector.score("a") == 2 and selector.score("c") == 0


def test_a_pairing_that_is_left_out_is_drawn() -> None:
    selector = swiss()
    selector.exclude("matchup", "AvC")
    assert selector.score("a") == selector.score("c") == 1
    assert any("c" in fixture.players for fixture in play(selector).fixtures)


def test_swiss_tournament_of_one_has_no_players_left() -> None:
    selector = swiss(("a", "b"))
    selector.exclude("player", "b")
    assert selector.next_game() is None and not selector.finished and selector.short
    selector.exclude("player", "a")
    assert selector.short.startswith("0 of 2 competitors")


@pytest.mark.parametrize("out", ["b", "ba"])
def test_a_swiss_tournament_of_one_or_none_goes_on_with_the_next_round_when_they_come_back(out: str) -> None:
    selector = swiss(("a", "b"))
    for name in out:
        selector.exclude("player", name)
    for name in out:
        selector.readmit("player", name)
    assert not selector.short
    rounds = [game_id.partition("_")[0] for game_id in play(selector).ids]
    assert sorted(set(rounds)) == ["r2", "r3"] and selector.finished


def test_a_swiss_tournament_that_is_over_lacks_nobody() -> None:
    selector = swiss(("a", "b"))
    play(selector)
    selector.exclude("player", "b")
    assert selector.finished and not selector.short and selector.total == 6


def test_a_player_that_comes_back_while_a_round_is_on_changes_nothing_of_it() -> None:
    selector = swiss()
    selector.exclude("player", "c")
    before = list(selector.upcoming())
    selector.readmit("player", "c")
    assert before and list(selector.upcoming()) == before


@pytest.mark.parametrize("readmitted", [None, 6])
def test_a_later_run_goes_on_as_if_there_had_been_one(readmitted: int | None) -> None:
    live, known = swiss(tuple("abcdef")), [Exclusion("player", "c", "absent", 3, readmitted)]
    games: list[CompletedGame] = []
    for change in (Change("player", "c", True), Change("player", "c", False), None):
        limit = 3 if not games else 6
        while len(games) < limit or change is None:
            fixture = live.next_game()
            if fixture is None:
                break
            games.append(completed(fixture, (1,)))
            live.completed(games[-1])
        if change is not None and (change.is_out or readmitted is not None):
            (live.exclude if change.is_out else live.readmit)(change.scope, change.name)
    assert live.finished

    resumed = swiss(tuple("abcdef"))
    for entry in interleave(games, known):
        if isinstance(entry, Change):
            (resumed.exclude if entry.is_out else resumed.readmit)(entry.scope, entry.name)
        else:
            resumed.completed(entry)
    assert resumed.finished and resumed.ranking() == live.ranking()
    assert list(map(resumed.score, "abcdef")) == list(map(live.score, "abcdef"))


def test_changes_come_between_the_games_they_came_between() -> None:
    known = [
        Exclusion("player", "x", "", 1, 1),
        Exclusion("matchup", "AvB", "", 0),
        Exclusion("player", "x", "", 1),
    ]
    assert list(interleave(["first", "second"], known)) == [
        Change("matchup", "AvB", True),
        "first",
        Change("player", "x", True),
        Change("player", "x", False),
        Change("player", "x", True),
        "second",
    ]
