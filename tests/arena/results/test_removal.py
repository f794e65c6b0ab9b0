"""Removing a competition leaves the others of its database whole."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import func, select

from arena.results import schema as saga
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.exchange.exporting import export
from arena.results.exchange.importing import import_saga
from arena.results.series import PlannedGame, Series, remove_series
from tests.arena.results.examples import finish_game, heading, player, registered, result

PLANNED = PlannedGame("AvB", [player("a"), player("b")])


def play(database: ResultsDatabase, name: str) -> Series:
    series = registered(database, heading(name=name))
    for game_id in ("AvB_0", "AvB_1"):
        attempt = series.next_attempt(game_id)
        series.begin(attempt, b"contest", PLANNED)
        finish_game(series, attempt, result(game_id), report=b"report")
    void = series.next_attempt("AvB_2")
    series.begin(void, b"contest", PLANNED)
    series.give_up(void, "void", "it crashed", 1.0, b"report")
    return series


def rows(database: ResultsDatabase) -> dict[str, int]:
    with database.transaction() as connection:
        return {
            table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in saga.METADATA.sorted_tables
        }


def test_a_removed_competition_leaves_nothing_of_its_own_and_everything_of_others(
    database: ResultsDatabase,
) -> None:
    other = play(database, "other")
    before, games = rows(database), list(other.finished_games())
    play(database, "mine")
    assert rows(database)["SAGA_Game"] == 4

    remove_series(database, "mine")

    assert rows(database) == before
    assert list(other.finished_games()) == games
    # A missing one may be removed, too.
    remove_series(database, "mine")
    assert rows(database) == before


def test_an_imported_series_of_the_name_is_not_removed(database: ResultsDatabase, tmp_path: Path) -> None:
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "mine.sqlite"))) as mine:
        play(mine, "mine")
        export(mine, tmp_path / "saga", "saga2")
    play(database, "other")
    import_saga(database, tmp_path / "saga")
    before = rows(database)
    assert before["SAGA_Series"] == 2
    remove_series(database, "mine")
    assert rows(database) == before
