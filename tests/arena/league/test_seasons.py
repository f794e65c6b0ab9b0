"""A season's table has the games of its time alone."""

from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, select, update

from arena.league.database import open_league
from arena.league.errors import InvalidSeasonError, SeasonConflictError, UnknownSeasonError
from arena.league.estimates import estimate_all
from arena.league.lists import LeagueReader
from arena.league.recording import record, take_in
from arena.league.seasons import Seasons
from arena.league.source import competitions
from arena.league.tables import GAME, PLAYER, SEAT
from arena.results.database import NoResultsYetError, ResultsDatabase, sqlite_url, utc_now
from benchmarks.league import GAME as SOCIETYS_GAME
from benchmarks.league import Society
from tests.arena.league.leagues import CUP, enter_cup, filled


def test_a_season_counts_the_games_of_its_time_alone(tmp_path: Path) -> None:
    results_file = filled(tmp_path / "cup.sqlite", 60)
    with (
        closing(open_league(str(tmp_path / "league.db"), create=True)) as league,
        closing(ResultsDatabase.open(sqlite_url(results_file))) as results,
    ):
        take_in(league, results, competitions(results)[0])
        with league.transaction() as connection:
            for number, row in enumerate(connection.execute(select(GAME.c.GameId)).all()):
                at = datetime(2026, 11, 1) + timedelta(hours=number)
                # The third has no result, and does not count.
                values = {"Finished": at, "Known": number != 2}
                connection.execute(update(GAME).where(GAME.c.GameId == row.GameId).values(values))
        ends = sorted(row.Finished for row in league.rows(select(GAME.c.Finished)))
        game = str(league.value(select(GAME.c.Game).distinct()))
        seasons = Seasons(league)
        seasons.begin("whole", ends[0], None)
        seasons.begin("early", ends[0], ends[30])
        seasons.begin("later", ends[-1] + timedelta(days=1), None)
        query = (
            select(PLAYER.c.Name, SEAT.c.Score, GAME.c.Finished)
            .join_from(SEAT, GAME)
            .join(PLAYER, PLAYER.c.PlayerId == SEAT.c.PlayerId)
            .where(GAME.c.Known)
        )
        for name, until in (("whole", None), ("early", ends[30])):
            points: Counter[str] = Counter()
            games: Counter[str] = Counter()
            for player, score, finished in league.rows(query):
                if until is None or finished < until:
                    points[player] += score
                    games[player] += 1
            table = seasons.table(name, game)
            assert {line.name: (line.games, line.points) for line in table} == {
                player: (games[player], points[player]) for player in games
            }
            assert [line.elo for line in table] == sorted((line.elo for line in table), reverse=True)
        assert seasons.table("later", game) == []
        # Later letters are stronger.
        assert seasons.table("whole", game)[0].name == "d"
        with pytest.raises(SeasonConflictError):
            seasons.begin("early", None, None)
        with pytest.raises(InvalidSeasonError):
            seasons.begin("never", ends[1], ends[0])
        with pytest.raises(UnknownSeasonError):
            seasons.table("none", game)
        with pytest.raises(NoResultsYetError, match="its games: go-9x9"):
            seasons.table("whole", "hex")
        coming = seasons.begin("coming", utc_now() + timedelta(days=1), None)
        with pytest.raises(InvalidSeasonError, match="has not begun"):
            seasons.end("coming")
        seasons.remove("coming")
        assert coming not in seasons.all()
        with pytest.raises(UnknownSeasonError):
            seasons.remove("coming")


def test_ending_a_season_ends_it_now_but_one_that_has_ended_stays_as_it_is(tmp_path: Path) -> None:
    begins, ended, to_end = datetime(2026, 1, 1), datetime(2026, 2, 1), utc_now() + timedelta(days=1)
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as league:
        seasons = Seasons(league)
        seasons.begin("endless", begins, None)
        seasons.begin("long", begins, to_end)
        seasons.begin("over", begins, ended)
        endless, long, over = (seasons.end(name).ends for name in ("endless", "long", "over"))
    assert endless is not None and long is not None
    assert ended < endless < to_end and ended < long < to_end
    assert over == ended


def test_games_that_come_while_a_table_is_read_are_in_the_next_one(tmp_path: Path) -> None:
    society = Society(200)
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as league:
        enter_cup(league)
        record(league, CUP, society.games(0, 20))
        seasons, news = Seasons(league), [society.games(20, 100)]
        seasons.begin("spring", datetime(2000, 1, 1), None)

        def bring_news(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if news and "LEAGUE_Seat" in statement:
                record(league, CUP, news.pop())

        event.listen(league.engine, "after_cursor_execute", bring_news)
        try:
            first = seasons.table("spring", SOCIETYS_GAME)
        finally:
            event.remove(league.engine, "after_cursor_execute", bring_news)
        assert not news and sum(line.games for line in first) == 40
        table = seasons.table("spring", SOCIETYS_GAME)
        assert sum(line.games for line in table) == 240
        # A season of all games has the league's ratings.
        estimate_all(league)
        ratings = {rating.name: rating.likeliest for rating in LeagueReader(league).ratings(SOCIETYS_GAME)}
        assert {line.name: line.elo for line in table} == pytest.approx(ratings, abs=0.01)
