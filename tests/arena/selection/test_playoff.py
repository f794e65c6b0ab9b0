"""Playoffs: ids, order, seats, games of their own, and what may change between runs."""

from dataclasses import replace
from typing import Any

import pytest

from arena.control.plans import GameSettings, Matchup
from arena.jobs import PlayerSetup
from arena.selection.playoff import Playoff
from arena.selection.selector import CompetitionChangedError
from tests.arena.selection.playing import completed, play, resumed

GO = GameSettings("go", {"board_size": 9})
PLAYERS = {name: PlayerSetup(name, (name,)) for name in "abc"}


def matchup(matchup_id: str, players: str, games: int | None = 2, **more: Any) -> Matchup:
    return Matchup(matchup_id, tuple(players), GO, games=games, **more)


def playoff(*matchups: Matchup) -> Playoff:
    return Playoff(matchups, PLAYERS, "cup")


def test_the_matchup_with_the_fewest_games_given_out_plays_next() -> None:
    selector = playoff(matchup("0", "ab", 3), matchup("1", "ac", 2))
    assert play(selector).ids == ["0_0", "1_0", "0_1", "1_1", "0_2"]
    assert selector.finished and selector.total == 5


@pytest.mark.parametrize(
    ("games", "first"), [(None, "x_0"), (1, "x_0"), (10, "x_0"), (11, "x_00"), (101, "x_000")]
)
def test_ids_are_padded_by_each_matchups_own_number_of_games(games: int | None, first: str) -> None:
    assert play(playoff(matchup("x", "ab", games)), most=1).ids == [first]


def test_an_unfinished_game_keeps_its_id_where_ids_have_more_digits_now() -> None:
    fixture = playoff(matchup("x", "ab", 11)).resume("x_1", ("a", "b"), "")
    assert fixture is not None and fixture.game_id == "x_1"


def test_without_an_end_there_is_no_total() -> None:
    selector = playoff(matchup("x", "ab", None))
    assert len(play(selector, most=30).ids) == 30
    assert selector.total is None and not selector.finished
    assert selector.resume("x_40", ("a", "b"), "") is not None, "a game left unfinished goes on"


@pytest.mark.parametrize(
    ("alternating", "firsts", "openings"), [(False, "aaaa", [0, 1, 2, 3]), (True, "abab", [0, 0, 1, 1])]
)
def test_seats_are_kept_or_swapped(alternating: bool, firsts: str, openings: list[int]) -> None:
    games = play(playoff(matchup("0", "ab", 4, alternating=alternating))).fixtures
    assert "".join(game.players[0] for game in games) == firsts
    assert [game.opening for game in games] == openings


def test_a_player_may_meet_himself() -> None:
    first, second = play(playoff(matchup("0", "aa", alternating=True))).fixtures
    assert (first.players, second.players) == (("a", "a#2"), ("a#2", "a"))
    assert [setup.name for setup in second.setups] == ["a#2", "a"]
    assert {setup.command for setup in second.setups} == {("a",)}


def test_games_have_their_matchups_settings_and_name() -> None:
    stones = GameSettings("go", {"board_size": 9, "handicap": 2})
    named = Matchup("h", ("a", "b"), stones, name="two stones", games=1)
    plain, special = play(playoff(matchup("0", "ab", 1), named)).fixtures
    assert (plain.game, plain.event) == (GO, "")
    assert (special.game, special.event) == (stones, "cup (two stones)")


def test_a_matchup_of_no_games_is_passed_over() -> None:
    assert play(playoff(matchup("0", "ab", 0), matchup("1", "bc", 1))).ids == ["1_0"]


def test_a_matchup_that_is_gone_keeps_its_results_and_stops_playing() -> None:
    before = play(playoff(matchup("0", "ab"), matchup("1", "bc")))
    selector = resumed(playoff(matchup("1", "bc", 3)), before.games)
    assert selector.resume("0_2", ("a", "b"), "") is None
    assert play(selector).ids == ["1_2"]
    assert list(selector.ghosts) == ["0"]


def test_a_matchup_of_other_players_is_refused() -> None:
    before = play(playoff(matchup("0", "ab")))
    with pytest.raises(
        CompetitionChangedError, match=r"matchups\[0\]\.players: .* with a and b, .* has a and c"
    ):
        resumed(playoff(matchup("0", "ac")), before.games)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (GameSettings("go", {"board_size": 13}), "board_size: .* played with 9, the control file now has 13"),
        (GameSettings("go", {"board_size": 9, "komi": 0.5}), "komi: .* its default, .* now has 0.5"),
        (GameSettings("go", {"board_size": 9}, move_limit=50), "move_limit: .* with 1000, .* now has 50"),
        (GameSettings("go", {"board_size": 9}, scorer="players"), "scorer: .* internal, .* now has players"),
    ],
)
def test_a_matchup_whose_games_had_other_settings_is_refused(changed: GameSettings, message: str) -> None:
    before = [replace(game, game=GO) for game in play(playoff(matchup("0", "ab"))).games]
    with pytest.raises(CompetitionChangedError, match=rf"^matchups\[0\]\.game\.{message}"):
        resumed(playoff(Matchup("0", ("a", "b"), changed, games=4)), before)
    # Without games it may have any.
    assert play(
        resumed(playoff(matchup("0", "ab"), Matchup("1", ("a", "b"), changed, games=1)), before)
    ).ids == ["1_0"]


def test_a_game_left_unfinished_is_taken_up_and_then_not_given_out_again() -> None:
    selector = resumed(playoff(matchup("0", "ab", 4)), play(playoff(matchup("0", "ab", 4)), most=2).games)
    fixture_again = selector.resume("0_3", ("b", "a"), "")
    assert fixture_again is not None and fixture_again.players == ("a", "b")
    assert fixture_again == play(playoff(matchup("0", "ab", 4))).fixtures[3]
    assert play(selector).ids == ["0_2"]
    assert not selector.finished
    selector.completed(completed(fixture_again, (1,)))
    assert selector.finished


def test_fewer_games_than_were_played_make_an_end() -> None:
    before = play(playoff(matchup("0", "ab", 4)))
    selector = resumed(playoff(matchup("0", "ab", 2)), before.games)
    assert selector.finished and selector.next_game() is None
    # Nor does one of them go on that was left unfinished.
    assert playoff(matchup("0", "ab", 2)).resume("0_2", ("a", "b"), "") is None


@pytest.mark.parametrize("game_id", ["0", "_1", "0_x", "0_-1", "0_²", ""])
def test_a_text_that_is_not_a_game_id_is_refused(game_id: str) -> None:
    with pytest.raises(CompetitionChangedError, match="none of the control file's: playoff 0=a/b"):
        playoff(matchup("0", "ab")).resume(game_id, (), "")
