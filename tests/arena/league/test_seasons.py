"""A season's table has the games of its time alone."""

from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from arena.league.database import open_league
from arena.league.errors import InvalidSeasonError, SeasonConflictError, UnknownSeasonError
from arena.league.recording import take_in
from arena.league.seasons import Seasons
from arena.league.source import competitions
from arena.league.tables import GAME, PLAYER, SEAT
from arena.results.database import NoResultsYetError, ResultsDatabase, sqlite_url, utc_now
from tests.arena.league.leagues import filled


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
                connection.execute(update(GAME).where(GAME.c.GameId == row.GameId).values(Finished=at))
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
