"""MARS: series by weight, line-ups by rule, clones, settings, frozen series."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from arena.control.plans import GameSettings, MarsSeries, MarsSetting
from arena.ratings.moving_averages import MovingAverages
from arena.selection.mars import Form, Mars, NoPlayersLeftError, choose_line_up
from arena.selection.selector import CompetitionChangedError, Fixture
from referees.api import Outcome, Termination
from tests.arena.selection.playing import completed, play, resumed

SEATS = 7
SPRING = MarsSetting("standard", GameSettings("diplomacy"))
BOTS = {"albert": 1.0, "dumb": 1.0, "hold": 1.0, "random": 1.0}


def series(name: str = "t1", games: int | None = 20, **more: Any) -> MarsSeries:
    series_of_games = MarsSeries(name, BOTS, (SPRING,), "least-played", games=games)
    return replace(series_of_games, **more)


def mars(*all_series: MarsSeries, seed: int = 5) -> Mars:
    return Mars(all_series or (series(),), SEATS, seed)


def albert_wins(fixture: Fixture) -> Sequence[int]:
    return [seat for seat, name in enumerate(fixture.players, 1) if name == "albert"] or range(1, SEATS + 1)


def test_games_are_numbered_within_their_series() -> None:
    selector = mars(series(games=11))
    played = play(selector)
    assert played.ids == [f"t1_{number:02d}" for number in range(11)]
    assert all(
        len(fixture.players) == SEATS and set(fixture.players) <= set(BOTS) for fixture in played.fixtures
    )
    assert selector.finished and selector.total == 11
    assert played.fixtures[0].game == SPRING.game and played.fixtures[0].matchup == "t1"


def test_the_first_bot_of_a_game_is_the_one_with_the_fewest_plays() -> None:
    form = Form()
    for name, plays in {"albert": 5, "dumb": 4, "hold": 1, "random": 9}.items():
        form.plays[name] = plays
    fair = series(clones=False)
    for seed in range(20):
        assert "hold" in choose_line_up(fair, 1, form, random.Random(seed))


def test_plays_stay_level_where_the_least_played_comes_first() -> None:
    played = play(mars(series(games=200)))
    plays = Counter(name for fixture in played.fixtures for name in fixture.players)
    assert sum(plays.values()) == 200 * SEATS
    assert max(plays.values()) - min(plays.values()) < 0.15 * 200 * SEATS / len(BOTS)


def test_slow_knockout_draws_in_proportion_to_the_moving_average() -> None:
    form = Form()
    form._averages = {"albert": MovingAverages(fitness=6.0), "dumb": MovingAverages(fitness=0.0)}
    chance = random.Random(1)
    knockout = series(selector="slow-knockout", by="fitness")
    drawn = Counter(name for _ in range(2000) for name in choose_line_up(knockout, SEATS, form, chance))
    # albert 6, hold 1, random 1, dumb 0.
    assert drawn["dumb"] == 0
    assert drawn["albert"] / (2000 * SEATS) == pytest.approx(0.75, abs=0.02)


def test_in_a_slow_knockout_the_winner_comes_to_play_most() -> None:
    knockout = series(games=150, selector="slow-knockout", by="fitness")
    played = play(mars(knockout), albert_wins)
    late = Counter(name for fixture in played.fixtures[100:] for name in fixture.players)
    assert late.most_common(1)[0][0] == "albert" and late["albert"] > 4 * 50


@pytest.mark.parametrize("kinds", [(3, 4), (7,), (1, 2, 4)])
def test_game_of_kinds_gives_each_player_its_number_of_seats(kinds: tuple[int, ...]) -> None:
    played = play(mars(series(selector="weighted", kinds=kinds)))
    for fixture in played.fixtures:
        assert sorted(Counter(fixture.players).values()) == sorted(kinds)


def test_both_kinds_are_in_the_majority_by_turns_of_chance() -> None:
    two = {"albert": 1.0, "dumb": 1.0}
    played = play(mars(series(games=40, contestants=two, selector="weighted", kinds=(3, 4))))
    assert 8 < sum(fixture.players.count("albert") == 4 for fixture in played.fixtures) < 32


def test_without_clones_all_seats_differ() -> None:
    many = dict.fromkeys("abcdefghij", 1.0)
    for fixture in play(mars(series(contestants=many, selector="weighted", clones=False))).fixtures:
        assert len(set(fixture.players)) == SEATS


def test_contestants_and_settings_are_drawn_by_weight() -> None:
    winter = MarsSetting("winter", GameSettings("diplomacy", {"first_season": "winter"}), weight=3.0)
    never = MarsSetting("never", GameSettings("diplomacy", {"never": 1}), weight=0.0)
    weighted = series(
        games=400, selector="weighted", contestants={"albert": 3.0, "dumb": 1.0, "hold": 0.0},
        settings=(SPRING, winter, never),
    )  # fmt: skip
    fixtures = play(mars(weighted)).fixtures
    players = Counter(name for fixture in fixtures for name in fixture.players)
    assert players["hold"] == 0 and players["albert"] / (400 * SEATS) == pytest.approx(0.75, abs=0.04)
    games = [fixture.game for fixture in fixtures]
    assert games.count(never.game) == 0 and games.count(winter.game) == pytest.approx(300, abs=40)


def test_series_are_drawn_by_weight_and_never_at_weight_0_or_complete() -> None:
    selector = mars(
        series("often", None, weight=3.0), series("rare", None), series("never", weight=0.0),
        series("over", complete=True),
    )  # fmt: skip
    drawn = Counter(fixture.matchup for fixture in play(selector, most=400).fixtures)
    assert set(drawn) == {"often", "rare"} and drawn["rare"] == pytest.approx(100, abs=35)
    assert selector.total is None and not selector.finished
    assert mars(series(weight=0.0)).finished


def test_a_pure_series_goes_by_its_own_games_and_others_by_all() -> None:
    def second_line_ups(pure: bool) -> list[tuple[str, ...]]:
        earlier = series("earlier", games=30)
        later = series("later", selector="slow-knockout", pure=pure)
        before = play(mars(earlier), albert_wins).games
        selector = resumed(mars(replace(earlier, complete=True), later), before)
        return [fixture.players for fixture in play(selector, most=5).fixtures]

    alone = [
        fixture.players for fixture in play(mars(series("later", selector="slow-knockout")), most=5).fixtures
    ]
    assert second_line_ups(pure=True)[0] == alone[0]
    assert second_line_ups(pure=False)[0].count("albert") > alone[0].count("albert")


def test_an_interrupted_game_is_played_again_with_the_same_line_up() -> None:
    selector = mars()
    fixture = selector.next_game()
    assert fixture is not None
    again = mars(series(weight=2.0)).resume(fixture.game_id, fixture.players, fixture.detail)
    assert again == fixture


def test_the_same_seed_draws_the_same_and_another_one_differently() -> None:
    assert play(mars(), albert_wins) == play(mars(), albert_wins)
    assert play(mars(seed=6)).fixtures != play(mars()).fixtures
    whole = play(mars(), albert_wins)
    rest = play(resumed(mars(), whole.games[:9]), albert_wins)
    assert rest.fixtures == whole.fixtures[9:]


def test_an_inhibited_player_is_in_no_new_line_up() -> None:
    selector = mars()
    first = next(
        fixture for _ in range(20) if (fixture := selector.next_game()) and "hold" in fixture.players
    )
    assert selector.inhibit("hold", "diplomacy-standard")
    selector.dropped(first)
    assert selector.resume(first.game_id, first.players, first.detail) is None
    played = play(selector)
    assert first.game_id in played.ids
    assert not any("hold" in fixture.players for fixture in played.fixtures)
    assert any(line.endswith("inhibited") for line in selector.report_lines())


def test_all_games_that_were_dropped_are_played_again() -> None:
    selector = mars(series(games=4))
    for fixture in [fixture for _ in range(3) if (fixture := selector.next_game())]:
        selector.dropped(fixture)
    assert play(selector).ids == ["t1_0", "t1_1", "t1_2", "t1_3"] and selector.finished


def test_a_player_is_inhibited_for_the_variant_that_it_did_not_start_for() -> None:
    small = MarsSetting("small", GameSettings("go", {"board_size": 5}))
    large = MarsSetting("large", GameSettings("go", {"board_size": 7}))
    bots = {"albert": 1.0, "dumb": 1.0}
    weighted = series(contestants=bots, selector="weighted", clones=False, settings=(small, large), games=40)
    free, selector = Mars((weighted,), 2), Mars((weighted,), 2)
    games = [fixture.game for fixture in play(free).fixtures]
    assert small.game in games and large.game in games
    assert selector.inhibit("dumb", "go-5x5")
    fixtures = play(selector).fixtures
    assert len(fixtures) == 40 and all(fixture.game == large.game for fixture in fixtures)
    assert not any("inhibited" in line for line in selector.report_lines())
    assert selector.inhibit("dumb", "go-7x7")
    assert any(line.endswith("inhibited") for line in selector.report_lines())


def test_a_report_tells_players_that_are_left_out_from_inhibited_ones() -> None:
    selector = mars()
    selector.exclude("player", "albert")
    assert selector.inhibit("hold", "diplomacy-standard")
    assert selector.inhibit("albert", "diplomacy-standard")
    states = {line.split()[0]: line for line in selector.report_lines()}
    assert states["albert"].endswith("1.000  left out") and states["hold"].endswith("1.000  inhibited")


def test_a_series_without_enough_contestants_ends_and_says_so() -> None:
    selector = mars(series(contestants={"albert": 1.0, "dumb": 1.0}, selector="weighted", kinds=(3, 4)))
    assert selector.inhibit("dumb", "diplomacy-standard") and selector.next_game() is None
    assert not selector.finished and not selector.decided
    assert selector.short == "series t1: 1 contestants are left, a game needs 2"
    with pytest.raises(NoPlayersLeftError):
        choose_line_up(series(contestants={}), 2, Form(), random.Random(0))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"selector": "weighted"}, "selector"),
        ({"contestants": {**BOTS, "new": 1.0}}, "contestants"),
        ({"contestants": {**BOTS, "hold": 2.0}}, "contestants"),
        ({"settings": (replace(SPRING, weight=2.0), SPRING)}, "settings"),
        ({"pure": False}, "pure"),
        ({"settings": (replace(SPRING, game=replace(SPRING.game, scorer="players")),)}, "settings"),
    ],
)
def test_a_series_that_has_begun_is_frozen(change: dict[str, Any], part: str) -> None:
    games = play(mars(), most=1).games
    resumed(mars(series(games=500, weight=9.0, notes="more")), games)
    with pytest.raises(
        CompetitionChangedError,
        match=rf"^series\[t1\]\.{part}: the games so far were played with .+, the control",
    ):
        resumed(mars(series(**change)), games)


def test_a_series_that_is_left_out_plays_no_more_and_is_not_in_the_total() -> None:
    selector = mars(series("t1", games=20), series("t2", games=5))
    assert selector.total == 25
    selector.exclude("matchup", "t1")
    assert selector.total == 5
    assert len(play(selector).fixtures) == 5 and selector.finished


def test_a_series_that_is_gone_leaves_its_games_behind() -> None:
    games = play(mars(), most=3).games
    left = resumed(mars(series("t2")), games)
    assert not left.finished and list(left.ghosts) == ["t1"]
    assert mars(series("t2")).resume("t1_3", (), "") is None
    with pytest.raises(CompetitionChangedError):
        mars().resume("t1", (), "")


@pytest.mark.parametrize(
    ("winners", "points", "seat", "expected"),
    [
        ((1,), (18, 16, 0), 1, (0.9 + 0.3, 0.9 + 0.3, 0.9 + 0.15)),
        ((1,), (18, 16, 0), 2, (0.9, 0.9, 0.9 + 0.15)),
        ((1,), (18, 16, 0), 3, (0.9, 0.9, 0.9)),
        ((1,), (18, 17, 0), 2, (0.9, 0.9, 0.9 + 0.15)),
        ((1, 2), (17, 17, 0), 2, (0.9 + 0.15, 0.9 + 0.15, 0.9 + 0.15)),
        ((3,), (), 3, (1.2, 1.2, 1.2)),
        ((), (18, 16, 0), 1, (1.0, 1.0, 1.0)),
    ],
)
def test_averages_keep_nine_tenths_and_take_a_tenth_of_the_shared_pot(
    winners: tuple[int, ...], points: tuple[float, ...], seat: int, expected: tuple[float, ...]
) -> None:
    after = MovingAverages().after(Outcome(winners, Termination.SCORE, "", points), seat, 3)
    assert (after.fitness, after.strength, after.tenacity) == pytest.approx(expected)


def test_the_report_lists_plays_and_averages() -> None:
    selector = mars(series(games=1, selector="weighted"))
    fixture = play(selector, albert_wins).fixtures[0]
    text = "\n".join(selector.report_lines())
    assert "series t1: 1/1 games" in text
    assert "weighted clones=yes contestants=albert*1,dumb*1,hold*1,random*1 settings=standard*1" in text
    assert f"albert  {fixture.players.count('albert'):5d}" in text
    assert completed(fixture, (1,)).detail == fixture.detail
