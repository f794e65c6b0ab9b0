"""Databases of earlier schema versions are brought up to date with all that they hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect

from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.game_listing import GameListing
from arena.results.series_reader import SeriesReader

# A mission of two series that release 3 of the schema was written by; `three` did not start.
VERSION_3 = Path(__file__).with_name("version_3.sql")
MOVES = (
    "SELECT GameId, Ply, Seat, Text, Seconds, LegalMoves, Interaction, Board, Comment, ClockSeconds, "
    "ClockStones, Opening FROM ARENA_Move ORDER BY GameId, Ply"
)
VALUES = "SELECT GameId, Ply, Seat, Value FROM ARENA_MoveValue ORDER BY GameId, Ply, Seat"


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cup.results.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(VERSION_3.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def opened(path: Path) -> Iterator[ResultsDatabase]:
    with closing(ResultsDatabase.open(sqlite_url(path), create=False)) as database:
        yield database


def test_the_moves_are_those_that_there_were(path: Path) -> None:
    moves, values = rows(path, MOVES), rows(path, VALUES)
    assert len(moves) > 10 and values == [(1, 1, 1, 0.5), (1, 1, 2, 0.25)]
    ResultsDatabase.open(sqlite_url(path)).close()
    assert rows(path, MOVES) == moves
    assert rows(path, VALUES) == values


def test_the_tables_and_views_are_those_of_a_new_database(opened: ResultsDatabase, tmp_path: Path) -> None:
    def made(database: ResultsDatabase) -> dict[str, Any]:
        with database.transaction() as connection:
            looked = inspect(connection)
            columns = {
                name: [(column["name"], str(column["type"]), column["nullable"]) for column in found]
                for (_, name), found in looked.get_multi_columns().items()
            }
            return {"views": sorted(looked.get_view_names()), **columns}

    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "new.sqlite"))) as new:
        assert made(opened) == made(new)


def test_a_missions_series_have_rows_of_their_own(opened: ResultsDatabase, path: Path) -> None:
    query = "SELECT Name, Selector, (SELECT COUNT(*) FROM SAGA_Game g WHERE g.SeriesId = s.SeriesId)"
    series = {name: (selector, games) for name, selector, games in rows(path, f"{query} FROM SAGA_Series s")}
    assert sorted(series) == ["cup", "cup/large", "cup/small"]
    assert [series[name][1] for name in sorted(series)] == [0, 1, 2]
    assert series["cup/small"][0].startswith("least-played clones=no contestants=one*1,")
    weights = "SELECT t.Weight FROM SAGA_SeriesSetting t JOIN SAGA_Series s USING (SeriesId) WHERE s.Name = ?"
    with closing(sqlite3.connect(path)) as database:
        assert database.execute(weights, ("cup/large",)).fetchall() == [(0.5,)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []


def test_it_can_be_read_as_ever(opened: ResultsDatabase) -> None:
    reader = SeriesReader.find(opened, "cup")
    assert [game.game_id for game in reader.finished_games()] == ["large_0", "small_0", "small_1"]
    assert reader.inhibited() == {("three", "go-7x7")}
    found = GameListing(opened, "cup").game("large_0")
    assert found is not None and found.moves[0].comment == "it's é" and found.moves[0].value == 0.5
