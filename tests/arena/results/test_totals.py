"""Running totals are what all games of a competition add up to."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from arena.ratings.elo import EloRules
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.game_filter import GameFilter
from arena.results.series_reader import SeriesReader
from arena.results.standings import PlayerStanding, Standings
from tests.arena.reports.examples import ALL_PLAY_ALL, ALL_PLAYED, played
from tests.arena.results.test_migrations import VERSION_3, VERSION_4, VERSION_5, written


def lines(standings: Standings) -> Sequence[tuple[object, ...]]:
    def line(player: PlayerStanding) -> tuple[object, ...]:
        cpu = player.mean_cpu
        counts = (player.forfeits, player.time_losses, player.fault_games)
        mean = None if cpu is None else round(cpu, 6)
        return (player.name, player.score, round(player.points, 9), round(player.elo, 6), *counts, mean)

    return [line(player) for player in standings.table()]


def check(series: SeriesReader) -> None:
    rules = EloRules()
    games = Standings((), rules, series.finished_games())
    totals = series.standings((), rules)
    assert lines(totals) == lines(games) and totals.games == games.games > 0
    for name in games.order:
        for opponent in games.order:
            assert totals.against(name, opponent) == games.against(name, opponent)


def test_each_stored_game_counts_at_once(tmp_path: Path) -> None:
    with played(tmp_path, ALL_PLAY_ALL, ALL_PLAYED) as series:
        check(series)
        for outcome, count in (("won", 3), ("drew", 1), ("lost", 1)):
            which = GameFilter(player="alpha", outcome=outcome)  # type: ignore[arg-type]
            assert series.count_games(which) == len(series.games_after(0, 9, which)) == count


@pytest.mark.parametrize("version", [VERSION_3, VERSION_4, VERSION_5])
def test_games_of_earlier_versions_are_counted_when_their_database_is_opened(
    version: Path, tmp_path: Path
) -> None:
    path = written(version, tmp_path / "cup.results.sqlite")
    with closing(sqlite3.connect(path)) as database:
        names = [
            name
            for (name,) in database.execute(
                "SELECT s.Name FROM SAGA_Series s JOIN ARENA_Competition c ON c.SeriesId = s.SeriesId"
            )
        ]
    with closing(ResultsDatabase.open(sqlite_url(path), create=False)) as opened:
        for name in names:
            check(SeriesReader.find(opened, name))
    with closing(sqlite3.connect(path)) as database:
        indexes = {
            name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        }
        (unset,) = database.execute("SELECT COUNT(*) FROM ARENA_Seat WHERE Result IS NULL").fetchone()
    assert {"ARENA_Game_in_lists", "ARENA_Seat_of_player", "ARENA_Seat_with_fault"} <= indexes
    assert unset == 0
