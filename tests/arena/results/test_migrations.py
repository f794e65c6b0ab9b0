"""Databases of earlier schema versions are brought up to date with all that they hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, update

from arena.results import schema as saga
from arena.results.database import ResultsDatabase, sqlite_url
from arena.results.exchange.exporting import export
from arena.results.exchange.importing import import_saga
from arena.results.series_reader import SeriesReader

# A mission of two series that release 3 of the schema was written by; `three` did not start.
VERSION_3 = Path(__file__).with_name("version_3.sql")
# Games of Diplomacy on both maps and of Go, that release 4 of the schema was written by.
VERSION_4 = Path(__file__).with_name("version_4.sql")
# Two games of Go to a clock, from openings, and a tuner's, that release 5 of the schema was written by.
VERSION_5 = Path(__file__).with_name("version_5.sql")
MOVES = (
    "SELECT GameId, Ply, Seat, Text, Seconds, LegalMoves, Interaction, Board, Comment, ClockSeconds, "
    "ClockStones, Opening FROM ARENA_Move ORDER BY GameId, Ply"
)
VALUES = "SELECT GameId, Ply, Seat, Value FROM ARENA_MoveValue ORDER BY GameId, Ply, Seat"


def rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def written(version: Path, path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(version.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(VERSION_3, tmp_path / "cup.results.sqlite")


@pytest.fixture
def path_4(tmp_path: Path) -> Path:
    return written(VERSION_4, tmp_path / "four.results.sqlite")


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


@pytest.mark.parametrize("version", [VERSION_3, VERSION_4, VERSION_5], ids=["3", "4", "5"])
def test_the_tables_views_and_indexes_are_those_of_a_new_database(version: Path, tmp_path: Path) -> None:
    def made(path: Path) -> dict[str, Any]:
        with (
            closing(ResultsDatabase.open(sqlite_url(path))) as database,
            database.transaction() as connection,
        ):
            looked = inspect(connection)
            columns = {
                name: [(column["name"], str(column["type"]), column["nullable"]) for column in columns]
                for (_, name), columns in looked.get_multi_columns().items()
            }
            keys = looked.get_multi_foreign_keys()[None, "ARENA_Seat"]
            referred = sorted((key["referred_table"], key["constrained_columns"]) for key in keys)
            indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1"
            return {
                "views": sorted(looked.get_view_names()),
                "indexes": list(connection.exec_driver_sql(indexes).scalars()),
                "seat": referred,
                **columns,
            }

    assert made(written(version, tmp_path / "old.sqlite")) == made(tmp_path / "new.sqlite")


def test_competitions_of_earlier_releases_have_no_exclusions(path_4: Path) -> None:
    with closing(ResultsDatabase.open(sqlite_url(path_4))) as database:
        assert SeriesReader.find(database, "duel").exclusions() == []


def test_powers_get_their_token_names_and_seats_tell_theirs(path: Path, path_4: Path) -> None:
    powers = """
        SELECT v.Name, s.Seat, w.Code, w.Name FROM ARENA_Seat s
        JOIN SAGA_Player p ON p.GameId = s.GameId AND p.PowerId = s.PowerId
        JOIN SAGA_Power w ON w.PowerId = p.PowerId JOIN SAGA_Variant v ON v.VariantId = w.VariantId
        ORDER BY s.GameId, s.Seat
    """
    seats = "SELECT GameId, Seat, Name, Fault, EngineName FROM ARENA_Seat ORDER BY GameId, Seat"
    before = rows(path_4, seats)
    ResultsDatabase.open(sqlite_url(path_4)).close()
    assert rows(path_4, seats) == before
    standard = ("Austria", "England", "France", "Germany", "Italy", "Russia", "Turkey")
    assert rows(path_4, powers) == [
        *(
            ("diplomacy-standard", seat, name[:3].upper(), name)
            for seat, name in enumerate(standard, start=1)
        ),
        ("diplomacy-straits", 1, "NOR", "North"),
        ("diplomacy-straits", 2, "SOU", "South"),
        ("go-5x5", 1, "Black", "Black"),
        ("go-5x5", 2, "White", "White"),
    ]
    assert rows(path_4, "PRAGMA foreign_key_check") == []
    ResultsDatabase.open(sqlite_url(path)).close()
    assert {(code, name) for _, _, code, name in rows(path, powers)} == {("Black",) * 2, ("White",) * 2}


def test_games_of_release_4_are_read_as_ever(path_4: Path) -> None:
    with closing(ResultsDatabase.open(sqlite_url(path_4))) as database:
        (game,) = SeriesReader.find(database, "spring").finished_games()
        assert game.outcome.points == (3, 3, 3, 4, 3, 4, 3)
        assert game.players == ("hold", "hold", "random", "random", "hold", "hold", "hold")
        reader = SeriesReader.find(database, "duel")
        assert {name: used.games for name, used in reader.player_usage().items()} == {"one": 1, "two": 1}
        whole = reader.whole_game("AvB_0")
        assert whole is not None and whole.listed.game.players == ("one", "two")


def test_old_games_in_a_new_export_and_old_exports_in_a_new_database(path_4: Path, tmp_path: Path) -> None:
    old = tmp_path / "old-export.sqlite"
    with closing(sqlite3.connect(path_4)) as database:
        database.execute("ATTACH ? AS out", (str(old),))
        for (name,) in database.execute(
            "SELECT name FROM main.sqlite_master WHERE name LIKE 'SAGA_%'"
        ).fetchall():
            database.execute(f'CREATE TABLE out."{name}" AS SELECT * FROM main."{name}"')
        database.commit()
    powers = "SELECT Code, COUNT(*) FROM SAGA_Player JOIN SAGA_Power USING (PowerId) GROUP BY 1 ORDER BY 1"
    codes = ["AUS", "Black", "ENG", "FRA", "GER", "ITA", "NOR", "RUS", "SOU", "TUR", "White"]
    with closing(ResultsDatabase.open(sqlite_url(path_4))) as database:
        export(database, tmp_path / "new-export", "saga2", "spring")
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "new.sqlite"))) as database:
        import_saga(database, old)
    assert rows(tmp_path / "new.sqlite", powers) == [(code, 1) for code in codes]
    # Where the powers are known by their tokens, those of an old export are the same.
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / "both.sqlite"))) as database:
        import_saga(database, tmp_path / "new-export")
        with database.transaction() as connection:
            connection.execute(update(saga.SERIES).values(Name=saga.SERIES.c.Name + " again"))
        import_saga(database, old)
    known = rows(tmp_path / "both.sqlite", powers)
    assert known == [(code, 2 if code in codes[:1] + codes[2:6] + ["RUS", "TUR"] else 1) for code in codes]


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


def test_a_migrated_database_can_be_read(opened: ResultsDatabase) -> None:
    reader = SeriesReader.find(opened, "cup")
    assert [game.game_id for game in reader.finished_games()] == ["large_0", "small_0", "small_1"]
    assert reader.inhibited() == {("three", "go-7x7")}
    whole = reader.whole_game("large_0")
    assert whole is not None and whole.moves[0].comment == "it's é" and whole.moves[0].values[1] == 0.5


def test_games_of_release_5_have_their_length_and_no_clock_and_opening(tmp_path: Path) -> None:
    path = written(VERSION_5, tmp_path / "five.results.sqlite")
    plies = rows(path, "SELECT GameId, COUNT(*) FROM ARENA_Move GROUP BY GameId ORDER BY GameId")
    ResultsDatabase.open(sqlite_url(path)).close()
    assert (
        rows(path, "SELECT number, plies FROM arena_results WHERE seat = 1 AND plies > 0 ORDER BY 1") == plies
    )
    assert rows(path, "SELECT DISTINCT clock, opening, opening_file FROM arena_results") == [(None,) * 3]
    with closing(ResultsDatabase.open(sqlite_url(path))) as database:
        games = SeriesReader.find(database, "tune").finished_games()
        assert [game.game_id for game in games] == ["0", "1", "2", "3", "4", "5"]


def test_games_of_earlier_releases_have_the_number_of_each_players_own_moves(tmp_path: Path) -> None:
    path = written(VERSION_5, tmp_path / "five.results.sqlite")
    moves = """SELECT g.GameId, m.Seat, COUNT(*) FROM ARENA_Game g JOIN ARENA_Move m USING (GameId)
        WHERE NOT m.Opening GROUP BY 1, 2 ORDER BY 1, 2"""
    own = rows(path, moves)
    assert own and own != rows(path, moves.replace("NOT m.Opening", "1"))
    ResultsDatabase.open(sqlite_url(path)).close()
    assert (
        rows(path, "SELECT number, seat, own_moves FROM arena_results WHERE own_moves > 0 ORDER BY 1, 2")
        == own
    )


def test_a_database_of_release_7_gets_the_new_columns_of_its_views(tmp_path: Path) -> None:
    path = written(VERSION_5, tmp_path / "seven.results.sqlite")
    ResultsDatabase.open(sqlite_url(path)).close()
    query = "SELECT number, seat, own_moves, opening_number FROM arena_results ORDER BY 1, 2"
    now = rows(path, query)
    with closing(sqlite3.connect(path)) as database:
        for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            database.execute(f'DROP VIEW "{view}"')
        database.execute("ALTER TABLE ARENA_Seat DROP COLUMN OwnMoves")
        database.execute("CREATE VIEW arena_results AS SELECT 1 AS number")
        database.execute("UPDATE ARENA_Meta SET Value = '7' WHERE Key = 'schema_version'")
        database.commit()
    ResultsDatabase.open(sqlite_url(path)).close()
    assert rows(path, query) == now
