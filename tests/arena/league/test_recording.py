"""A league takes each game once, whatever happens meanwhile, and rates by all of them."""

import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, select, text

from arena.league import estimates
from arena.league.database import LeagueDatabase, open_league
from arena.league.estimates import estimate_all
from arena.league.lists import LeagueReader
from arena.league.players import Entrant, enter
from arena.league.recording import begun_ratings, record, take_in
from arena.league.source import competitions
from arena.league.tables import PAIR, PLAYER, SEAT
from arena.ratings import bradley_terry
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from benchmarks.league import GAME, Society
from tests.arena.cli.command import ARENA
from tests.arena.league.leagues import CUP, competition, contents, enter_cup, filled, game_of_cup, play
from tests.arena.postgresql import needs_postgresql
from tests.waiting import until


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=needs_postgresql)])
def league(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LeagueDatabase]:
    url = str(sqlite_url(tmp_path / "league.db"))
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql")
    with closing(LeagueDatabase.open(url)) as database:
        yield database
        if request.param == "postgresql":
            with database.transaction() as connection:
                connection.execute(text("DROP SCHEMA public CASCADE"))
                connection.execute(text("CREATE SCHEMA public"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ResultsDatabase]:
    file = filled(tmp_path_factory.mktemp("results") / "cup.sqlite", 150)
    with closing(ResultsDatabase.open(sqlite_url(file))) as database:
        yield database


def take_all(league: LeagueDatabase, results: ResultsDatabase) -> int:
    games = sum(take_in(league, results, competition) for competition in competitions(results))
    estimate_all(league)
    return games


def test_taking_the_same_results_twice_changes_nothing(
    league: LeagueDatabase, results: ResultsDatabase
) -> None:
    assert take_all(league, results) == 150
    once = contents(league)
    assert take_all(league, results) == 0
    assert contents(league) == once
    ratings = LeagueReader(league).ratings("go-9x9")
    assert sum(rating.games for rating in ratings) == 300
    assert [rating.name for rating in ratings] == ["d", "c", "b", "a"]
    assert all(rating.error is not None and 5 < rating.error < 120 for rating in ratings)


def test_a_leagues_elo_is_the_competitions_own(league: LeagueDatabase, results: ResultsDatabase) -> None:
    take_all(league, results)
    with results.transaction() as connection:
        last = connection.execute(
            text("SELECT name, elo_after FROM arena_results WHERE competition = 'cup' ORDER BY number, seat")
        )
        known = {row.name: row.elo_after for row in last}
    stored = {rating.name: rating.elo for rating in LeagueReader(league).ratings("go-9x9")}
    assert stored == pytest.approx(known)


def test_games_after_a_backup_of_the_results_was_put_back_are_taken(
    league: LeagueDatabase, tmp_path: Path
) -> None:
    file = filled(tmp_path / "cup.sqlite", 20)
    with closing(ResultsDatabase.open(sqlite_url(file))) as results:
        assert take_all(league, results) == 20
        with results.transaction() as connection:
            # As if 14 games had been in the backup, and others been played since.
            connection.execute(
                text('UPDATE "ARENA_Game" SET "ContestId" = "ContestId" || 1 WHERE "GameId" > 14')
            )
        assert take_all(league, results) == 6
        assert take_all(league, results) == 0


def test_games_known_under_another_number_are_not_counted_again(
    league: LeagueDatabase, results: ResultsDatabase
) -> None:
    take_all(league, results)
    once = contents(league)
    with league.transaction() as connection:
        # As when a league's backup is older than what it stands beside.
        connection.execute(text('UPDATE "LEAGUE_Competition" SET "LastGame" = 70'))
    assert take_all(league, results) == 0
    assert contents(league) == once


def test_a_draw_is_shared_and_a_game_without_a_result_is_not_in_the_score(
    league: LeagueDatabase, tmp_path: Path
) -> None:
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "cup.sqlite"))) as results:
        series = competition(results, "cup", ("a", "b"))
        elo: dict[str, float] = {}
        for number, winners in enumerate([(1, 2), (), (1,)]):
            play(series, f"AvB_{number}", ("a", "b"), winners, elo)
        take_all(league, results)
    listed = [(line.name, line.games, line.score) for line in LeagueReader(league).ratings("go-9x9")]
    assert listed == [("a", 3, 0.75), ("b", 3, 0.25)]
    pairs = league.rows(select(PAIR.c.Points, PAIR.c.Games))
    assert [tuple(row) for row in pairs] == [(1.5, 2.0)]


@pytest.mark.parametrize(
    ("names", "winner", "pairs"),
    [
        ("abc", 1, [(0.5, 0.5), (0.5, 0.5), (0.25, 0.5)]),
        # Nobody meets itself.
        ("aab", 3, [(0.0, 1.0)]),
    ],
)
def test_a_game_of_three_counts_as_one_game_of_each_against_the_others(
    league: LeagueDatabase, names: str, winner: int, pairs: list[tuple[float, float]]
) -> None:
    enter_cup(league)
    record(league, CUP, [game_of_cup(1, *names, winner=winner)])
    query = select(PAIR.c.Points, PAIR.c.Games).order_by(PAIR.c.PlayerId, PAIR.c.OpponentId)
    assert [tuple(row) for row in league.rows(query)] == pairs


def test_a_new_version_begins_where_the_one_before_is(league: LeagueDatabase, tmp_path: Path) -> None:
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "versions.sqlite"))) as results:
        elo: dict[str, float] = {}
        series = competition(results, "first", ("bot-1.3", "rival"))
        for number in range(20):
            play(series, f"AvB_{number}", ("bot-1.3", "rival"), (1,), elo)
        take_all(league, results)
        with league.transaction() as connection:
            begun = begun_ratings(connection, "go-9x9", [("bot", "1.4"), ("rival", ""), ("stranger", "")])
        assert begun == pytest.approx({"bot": elo["bot-1.3"], "rival": elo["rival"]})
        series = competition(results, "second", ("bot-1.4", "rival"))
        elo["bot-1.4"] = begun["bot"]
        for number in range(2):
            play(series, f"AvB_{number}", ("bot-1.4", "rival"), (2,), elo)
        take_all(league, results)
    listed = {player.version: player for player in LeagueReader(league).players() if player.name == "bot"}
    assert (listed["1.4"].predecessor, listed["1.4"].family) == ("bot 1.3", "bot")
    ratings = {rating.label: rating for rating in LeagueReader(league).ratings("go-9x9")}
    assert ratings["bot 1.4"].elo == pytest.approx(elo["bot-1.4"])
    # Two lost games say less than the twenty that its forerunner has won.
    assert ratings["bot 1.4"].likeliest is not None and ratings["rival"].likeliest is not None
    assert ratings["bot 1.4"].likeliest > ratings["rival"].likeliest
    history = LeagueReader(league).history("bot")
    assert [at.games for at in history["bot 1.3"]] == [20] and [at.games for at in history["bot 1.4"]] == [2]


@pytest.mark.parametrize("batches", [1, 20])
def test_a_new_version_begins_where_the_last_one_that_played_is(tmp_path: Path, batches: int) -> None:
    with (
        closing(LeagueDatabase.open(str(sqlite_url(tmp_path / "league.db")))) as league,
        closing(ResultsDatabase.open(sqlite_url(tmp_path / "cup.sqlite"))) as results,
    ):
        series = competition(results, "cup", ("bot-1.3", "bot-1.4", "rival"))
        elo: dict[str, float] = {}
        for number in range(20):
            play(series, f"AvB_{number}", ("bot-1.3", "rival"), (1,), elo)
            if batches > 1:
                take_all(league, results)
        with league.sole_transaction() as connection:
            enter(connection, Entrant("bot", "1.3"))
            # It never plays.
            enter(connection, Entrant("bot", "1.35"))
        before = elo["bot-1.3"]
        play(series, "AvB_20", ("bot-1.4", "rival"), (2,), elo)
        with league.sole_transaction() as connection:
            enter(connection, Entrant("bot", "1.4"))
            begun = begun_ratings(connection, "go-9x9", [("bot", "1.4")])
        assert begun == ({"bot": pytest.approx(before)} if batches > 1 else {})
        take_all(league, results)
        ratings = {line.label: line for line in LeagueReader(league).ratings("go-9x9")}
        assert ratings["bot 1.4"].elo == pytest.approx(before, abs=40) and before > 1_100
        assert ratings["bot 1.4"].likeliest is not None and ratings["bot 1.4"].likeliest > 1_200
        assert ratings["bot 1.4"].error is not None and ratings["bot 1.4"].error < 300


def test_a_fixed_player_anchors_all_others(league: LeagueDatabase, results: ResultsDatabase) -> None:
    with league.sole_transaction() as connection:
        enter(connection, Entrant("a", anchor=0.0))
    take_all(league, results)
    ratings = {rating.name: rating for rating in LeagueReader(league).ratings("go-9x9")}
    assert (ratings["a"].elo, ratings["a"].likeliest, ratings["a"].error) == (0, 0, 0)
    seats = select(SEAT.c.EloBefore).join_from(SEAT, PLAYER).where(PLAYER.c.Name == "a")
    assert {row.EloBefore for row in league.rows(seats)} == {0}, "whatever it had in the competition"
    assert ratings["d"].likeliest is not None and 200 < ratings["d"].likeliest < 800
    other = r"players\.a\.fixed_elo: the league has a at 0, the control file at 5"
    with pytest.raises(ResultsError, match=other), league.sole_transaction() as connection:
        enter(connection, Entrant("a", anchor=5.0))


def test_competitions_that_end_at_a_time_lose_no_game(league: LeagueDatabase, tmp_path: Path) -> None:
    files = [filled(tmp_path / f"cup{number}.sqlite", 30, number, f"cup{number}") for number in range(2)]
    url = league.engine.url.render_as_string(hide_password=False)
    together = threading.Barrier(2)

    def import_results(file: Path) -> int:
        with (
            closing(open_league(url)) as own,
            closing(ResultsDatabase.open(sqlite_url(file))) as results,
        ):
            together.wait(180)
            return take_all(own, results)

    with ThreadPoolExecutor(2) as importing:
        assert [*importing.map(import_results, files)] == [30, 30]
    assert sum(rating.games for rating in LeagueReader(league).ratings("go-9x9")) == 120
    assert [game.games for game in LeagueReader(league).games()] == [60]


def games_taken(file: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as connection:
            return int(connection.execute('SELECT COUNT(*) FROM "LEAGUE_Game"').fetchone()[0])
    except sqlite3.OperationalError:
        # It is not made yet.
        return 0


def test_a_killed_import_neither_loses_nor_doubles_a_game(tmp_path: Path) -> None:
    # Three batches: a kill after each of the first two.
    source, chance = filled(tmp_path / "cup.sqlite", 500), random.Random(7)
    file = tmp_path / "league.db"
    command = [*ARENA, "league", "import", str(file), str(source)]
    killed = 0
    # On a busy machine the first may come after the last batch.
    while killed < 2 and (before := games_taken(file)) < 500:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda before=before: games_taken(file) > before, process)  # type: ignore[misc]
        time.sleep(chance.uniform(0.0, 0.05))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    assert killed
    assert subprocess.run(command, env={**os.environ}, stdout=subprocess.DEVNULL).returncode == 0
    whole = tmp_path / "whole.db"
    with (
        closing(LeagueDatabase.open(sqlite_url(whole))) as league,
        closing(LeagueDatabase.open(sqlite_url(file), create=False)) as broken,
        closing(ResultsDatabase.open(sqlite_url(source))) as results,
    ):
        take_all(league, results)
        expected, stored = contents(league), contents(broken)
    # An estimate of part of the games is history, and a step on the way to the same.
    for table in ("LEAGUE_Rating", "LEAGUE_Pair", "LEAGUE_Seat", "LEAGUE_Game", "LEAGUE_RatedGame"):
        assert stored[table] == expected[table], table


@pytest.mark.parametrize("league", ["sqlite"], indirect=True)
@pytest.mark.parametrize("few", [False, True])
def test_an_estimate_from_fewer_games_that_ends_later_changes_nothing(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch, few: bool
) -> None:
    # In a league of thousands of players few may move alone.
    if few:
        monkeypatch.setattr(estimates, "MOST_EXACT", 10)
        monkeypatch.setattr(bradley_terry, "MOST_EXACT", 10)
    society = Society(200)
    enter_cup(league)
    record(league, CUP, society.games(0, 1000))
    estimates.estimate(league, GAME)
    likeliest, newer = estimates._likeliest, list[object]()

    def find_late(*given: Any) -> Any:
        strengths = likeliest(*given)
        if not newer:
            newer.append(None)
            # Another run of the league ends meanwhile.
            record(league, CUP, society.games(1005, 5))
            estimates.estimate(league, GAME, only_new=few)
            newer[0] = ratings(league)
        return strengths

    monkeypatch.setattr(estimates, "_likeliest", find_late)
    record(league, CUP, society.games(1000, 5))
    estimates.estimate(league, GAME, only_new=few)
    assert ratings(league) == newer[0]


def test_games_that_come_while_an_estimate_reads_wait_for_the_next_one(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    society = Society(200)
    enter_cup(league)
    record(league, CUP, society.games(0, 50))
    read_players = estimates._players

    def read_slowly(*given: Any) -> Any:
        players = read_players(*given)
        # Among them are players of whom nothing is known so far.
        record(league, CUP, society.games(50, 50))
        return players

    with monkeypatch.context() as slow:
        slow.setattr(estimates, "_players", read_slowly)
        estimates.estimate(league, GAME)
    assert any(row[1] is None for row in ratings(league))
    assert estimate_all(league) == [GAME]
    assert all(row[1] is not None for row in ratings(league))


def ratings(league: LeagueDatabase) -> list[tuple[object, ...]]:
    query = text('SELECT "PlayerId", "Likeliest", "Error", "EstimatedGames" FROM "LEAGUE_Rating" ORDER BY 1')
    with league.transaction() as connection:
        return [tuple(row) for row in connection.execute(query)]


def test_few_with_new_games_are_rated_as_in_an_estimate_of_all(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a league of thousands of players.
    monkeypatch.setattr(estimates, "MOST_EXACT", 10)
    monkeypatch.setattr(bradley_terry, "MOST_EXACT", 10)
    society = Society(200)
    enter_cup(league)
    record(league, CUP, society.games(0, 2000))
    estimates.estimate(league, GAME)
    before = {line.name: line for line in LeagueReader(league).ratings(GAME)}
    news = society.games(2000, 10)
    record(league, CUP, news)
    estimates.estimate(league, GAME, only_new=True)
    few = {line.name: line for line in LeagueReader(league).ratings(GAME)}
    playing = {seat.name for game in news for seat in game.seats}
    moved = {name for name, line in few.items() if line.likeliest != before[name].likeliest}
    assert moved == playing
    histories = {len(LeagueReader(league).history(name)[name]) for name in playing}
    assert histories == {2}, "each has a rating after either estimate"
    estimates.estimate(league, GAME)
    whole = {line.name: line for line in LeagueReader(league).ratings(GAME)}
    for name in playing:
        line, right = few[name], whole[name]
        assert line.likeliest is not None and right.likeliest is not None
        assert line.error is not None and right.error is not None
        assert abs(line.likeliest - right.likeliest) < 0.05 * right.error
        assert line.error == pytest.approx(right.error, rel=0.1)


def test_an_estimate_of_all_follows_one_of_few_though_no_game_was_played_meanwhile(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "MOST_EXACT", 10)
    monkeypatch.setattr(bradley_terry, "MOST_EXACT", 10)
    society = Society(200)
    enter_cup(league)
    record(league, CUP, society.games(0, 1000))
    assert estimate_all(league) == [GAME]
    record(league, CUP, society.games(1000, 10))
    assert estimate_all(league, only_new=True) == [GAME]
    few = {line.name: line.likeliest for line in LeagueReader(league).ratings(GAME)}
    assert estimate_all(league, only_new=True) == [], "nobody has new games"
    assert estimate_all(league) == [GAME]
    whole = {line.name: line.likeliest for line in LeagueReader(league).ratings(GAME)}
    playing = {seat.name for game in society.games(1000, 10) for seat in game.seats}
    assert {name for name, likeliest in whole.items() if likeliest != few[name]} - playing
    assert estimate_all(league) == []


def test_a_league_of_an_earlier_release_gets_the_index_of_opponents(tmp_path: Path) -> None:
    file = tmp_path / "league.db"
    open_league(str(file), create=True).close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute('DROP INDEX "LEAGUE_Pair_of_opponent"')
    with closing(open_league(str(file), create=True)) as league:
        assert [index["name"] for index in inspect(league.engine).get_indexes("LEAGUE_Pair")] == [
            "LEAGUE_Pair_of_opponent"
        ]
