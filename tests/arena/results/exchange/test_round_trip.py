"""SAGA out of one database and into another: nothing is lost, and nothing wrong gets in."""

import csv
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update

from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from arena.results.exchange.exporting import Edition, export
from arena.results.exchange.importing import import_saga
from arena.results.series import PlannedGame
from referees.api import Outcome, Termination
from tests.arena.results import saga_games
from tests.arena.results.examples import heading, play_game, player, registered, result

PLANNED = PlannedGame("AvB", [player("a"), player("b")])
Dump = dict[str, list[dict[str, Any]]]


def play(database: ResultsDatabase, name: str) -> None:
    """A competition of three games: a win by points, a draw, a void one that is played again and resigned."""
    series = registered(database, heading(name=name, description='α "quoted", with\nlines'))
    ends = [
        Outcome((1,), Termination.SCORE, "B+3.5", (43.0, 39.5)),
        Outcome((1, 2), Termination.SCORE, "0", (40.5, 40.5)),
        Outcome((2,), Termination.RESIGNATION, "W+R"),
        Outcome((), Termination.MOVE_LIMIT, "?"),
    ]
    for number, end in enumerate(ends):
        play_game(series, PLANNED, result(f"AvB_{number}", end, started=1_000_000_000.25 + 60 * number))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], ResultsDatabase]]:
    databases: list[ResultsDatabase] = []

    def open_database(name: str) -> ResultsDatabase:
        databases.append(ResultsDatabase.open(sqlite_url(tmp_path / f"{name}.sqlite")))
        return databases[-1]

    yield open_database
    for database in databases:
        database.close()


@pytest.fixture
def other(opened: Callable[[str], ResultsDatabase]) -> ResultsDatabase:
    """Another database, which is empty."""
    return opened("other")


@pytest.fixture(scope="module")
def two_competitions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of two competitions; for copies."""
    file = tmp_path_factory.mktemp("results") / "full.sqlite"
    with closing(ResultsDatabase.open(sqlite_url(file))) as database:
        play(database, "first")
        play(database, "second")
    return file


@pytest.fixture
def full(opened: Callable[[str], ResultsDatabase], two_competitions: Path, tmp_path: Path) -> ResultsDatabase:
    """The results of two competitions, which the test may change."""
    shutil.copyfile(two_competitions, tmp_path / two_competitions.name)
    return opened("full")


def dump(database: ResultsDatabase, names: str) -> Dump:
    """All rows of the tables or views whose names begin so."""
    with database.transaction() as connection:
        stored = connection.execute(
            text("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        ).scalars()
        return {
            name: [
                dict(row)
                for row in connection.execute(text(f'SELECT * FROM "{name}" ORDER BY 1, 2')).mappings()
            ]
            for name in list(stored)
            if name.startswith(names)
        }


@pytest.mark.parametrize("target", ["out.sqlite", "out"])
@pytest.mark.parametrize(("edition", "names"), [("saga2", "SAGA_"), ("saga1", "Dip_")])
def test_an_export_can_be_imported_again(
    tmp_path: Path,
    other: ResultsDatabase,
    full: ResultsDatabase,
    target: str,
    edition: Edition,
    names: str,
) -> None:
    export(full, tmp_path / target, edition)
    imported = import_saga(other, tmp_path / target)
    assert (imported.series, imported.games) == (("first", "second"), 8)
    expected, taken = dump(full, names), dump(other, names)
    if edition == "saga1":
        # Points of games without supply centres have no place there, and so who kept any is lost.
        for player in expected["Dip_Player"] + taken["Dip_Player"]:
            del player["Tenacity"]
    assert taken == expected
    assert dump(other, "ARENA_Score") == dump(full, "ARENA_Score")


def test_saga1_loses_nothing_of_games_with_supply_centres(
    tmp_path: Path, opened: Callable[[str], ResultsDatabase], other: ResultsDatabase
) -> None:
    database = opened("diplomacy")
    with database.transaction() as connection:
        saga_games.play(connection, saga_games.DIPLOMACY, 7, 34)
    export(database, tmp_path / "out", "saga1")
    import_saga(other, tmp_path / "out")
    assert dump(other, "Dip_") == dump(database, "Dip_")
    taken, expected = dump(other, "SAGA_"), dump(database, "SAGA_")
    for name in ("Supplies", "Elimination", "Winner", "Grade", "Rank"):
        assert [row[name] for row in taken["SAGA_Player"]] == [row[name] for row in expected["SAGA_Player"]]
    assert [row["MaxSupplies"] for row in taken["SAGA_Game"]] == [18, 12, 5, 5]
    # 1 a solo; the draws of all survivors are taken for stasis, because the games had a limit of it
    assert [row["Termination"] for row in taken["SAGA_Game"]] == [1, 4, 4, None]


def test_an_exported_database_has_sagas_tables_alone(tmp_path: Path, full: ResultsDatabase) -> None:
    export(full, tmp_path / "out.sqlite", "saga2")
    with closing(sqlite3.connect(tmp_path / "out.sqlite")) as connection:
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        assert len({name for name in tables if name.startswith("SAGA_")}) == 12
        assert not {name for name in tables if name.startswith("ARENA_")}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_one_series_goes_out_with_all_it_needs_and_nothing_else(
    tmp_path: Path, opened: Callable[[str], ResultsDatabase], full: ResultsDatabase
) -> None:
    for edition in ("saga1", "saga2"):
        export(full, tmp_path / edition, edition, "second")
        other = opened(f"of-{edition}")
        assert import_saga(other, tmp_path / edition).series == ("second",)
        assert len(dump(other, "SAGA_Game")["SAGA_Game"]) == 4
        assert len(dump(other, "Dip_Bot")["Dip_Bot"]) == 2


def test_an_import_joins_what_is_there_already(
    tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase
) -> None:
    export(full, tmp_path / "out", "saga2", "second")
    play(other, "mine")
    import_saga(other, tmp_path / "out")
    taken = dump(other, "SAGA_")
    assert [row["Name"] for row in taken["SAGA_Series"]] == ["mine", "second"]
    assert len(taken["SAGA_Game"]) == 8 and len(taken["SAGA_Variant"]) == 1 and len(taken["SAGA_Power"]) == 2
    assert dump(other, "Dip_Player")["Dip_Player"][:8] == dump(full, "Dip_Player")["Dip_Player"][:8]
    # The database goes on counting after what came in.
    play_game(registered(other, heading(name="next")), PLANNED, result())
    assert len(dump(other, "SAGA_Game")["SAGA_Game"]) == 9


def test_a_series_is_imported_once(
    tmp_path: Path, opened: Callable[[str], ResultsDatabase], full: ResultsDatabase
) -> None:
    export(full, tmp_path / "out", "saga2")
    before = dump(full, "SAGA_")
    with pytest.raises(ResultsError, match="there is a series 'first' already; nothing was imported"):
        import_saga(full, tmp_path / "out")
    assert dump(full, "SAGA_") == before


def test_nothing_is_overwritten(tmp_path: Path, full: ResultsDatabase) -> None:
    (tmp_path / "out.sqlite").write_text("precious")
    with pytest.raises(ResultsError, match=r"out\.sqlite exists already"):
        export(full, tmp_path / "out.sqlite", "saga2")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").touch()
    with pytest.raises(ResultsError, match="folder exists already"):
        export(full, tmp_path / "folder", "saga1")
    with pytest.raises(ResultsError, match="there are no results of 'third' yet"):
        export(full, tmp_path / "third", "saga1", "third")
    assert not (tmp_path / "third").exists()


def change(folder: Path, table: str, line: int, column: str, value: str) -> None:
    """Change a field of a CSV file; lines count from 0 after the names."""
    path = folder / f"{table}.csv"
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    rows[line + 1][rows[0].index(column)] = value
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.mark.parametrize(
    ("edition", "table", "column", "value", "message"),
    [
        ("saga2", "SAGA_Game", "Winners", "two", r"SAGA_Game\.csv, line 2: Winners can't be 'two'"),
        ("saga2", "SAGA_Game", "Finished", "yesterday", "Finished can't be 'yesterday'"),
        ("saga2", "SAGA_Game", "PlayTime", "nan", "PlayTime can't be 'nan'"),
        ("saga2", "SAGA_Game", "SeriesId", "77", "SAGA_Game 1: there is no SeriesId 77"),
        ("saga2", "SAGA_Game", "Termination", "9", "breaks a rule of SAGA, .*Termination_1_to_6"),
        ("saga2", "SAGA_Game", "Years", "", r"breaks a rule of SAGA, .*SAGA_Game\.Years"),
        ("saga2", "SAGA_Player", "Winner", "2", "breaks a rule of SAGA, .*Winner_is_a_truth"),
        ("saga2", "SAGA_Setting", "AOA", "perhaps", "AOA can't be 'perhaps'"),
        (
            "saga2",
            "SAGA_Client",
            "ClientId",
            "",
            r"Client\.csv, line 2: ClientId can't be None: a key is never empty",
        ),
        ("saga2", "SAGA_Game", "SeriesId", "9" * 20, "SeriesId can't be 9{20}: a whole number has 32 bits"),
        (
            "saga2",
            "SAGA_Series",
            "GameLim",
            "-2147483649",
            "GameLim can't be -2147483649: a whole number has",
        ),
        ("saga2", "SAGA_Game", "Years", "1_0", "Years can't be '1_0': it must be a whole number; correct it"),
        ("saga2", "SAGA_Game", "PlayTime", "1_0", "PlayTime can't be '1_0': it must be a finite number"),
        ("saga2", "SAGA_Game", "PlayTime", "9e999", "PlayTime can't be inf: it must be a finite number"),
        (
            "saga2",
            "SAGA_Game",
            "Finished",
            "0001-01-01T00:00:00+02:00",
            r"Finished can't be '0001-01-01T00:00:00\+02:00': it must be a time in ISO 8601",
        ),
        ("saga1", "Dip_Game", "Variant", "9", "Dip_Game 1: there is no Dip_Variant 9"),
        ("saga1", "Dip_Player", "Game", "999", "Dip_Player 999, 1: there is no Dip_Game 999"),
        ("saga1", "Dip_Game", "Winners", "2", "Dip_Game 1 has 2 winners, but by centres and years"),
    ],
)
def test_a_row_that_breaks_a_rule_of_saga_is_not_imported(
    tmp_path: Path,
    other: ResultsDatabase,
    full: ResultsDatabase,
    edition: Edition,
    table: str,
    column: str,
    value: str,
    message: str,
) -> None:
    export(full, tmp_path / "out", edition)
    change(tmp_path / "out", table, 0, column, value)
    with pytest.raises(ResultsError, match=message):
        import_saga(other, tmp_path / "out")
    assert not any(dump(other, "SAGA_").values())


@pytest.mark.parametrize(
    ("edition", "table", "key"),
    [
        ("saga2", "SAGA_Game", "1"),
        ("saga2", "SAGA_Contestant", "1"),
        ("saga2", "SAGA_Variant", "1"),
        ("saga2", "SAGA_Player", "1, 1"),
        ("saga1", "Dip_Game", "1"),
        ("saga1", "Dip_Bot", "1"),
        ("saga1", "Dip_Player", "1, 1"),
    ],
)
def test_a_row_that_is_there_twice_is_named(
    tmp_path: Path,
    other: ResultsDatabase,
    full: ResultsDatabase,
    edition: Edition,
    table: str,
    key: str,
) -> None:
    export(full, tmp_path / "out", edition)
    path = tmp_path / "out" / f"{table}.csv"
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*rows, rows[1]])
    with pytest.raises(ResultsError, match=f"out: {table} {key} is there twice; remove one of the rows"):
        import_saga(other, tmp_path / "out")
    assert not any(dump(other, "SAGA_").values())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,1,0,surplus", "line 2: there are more fields than the 3 columns"),
        ('1,1,"0"surplus', "after line 1: .* expected .*; correct it there"),
    ],
    ids=["too many fields", "broken after the last line that was read"],
)
def test_a_line_of_csv_that_cannot_be_read_is_named(
    tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase, line: str, message: str
) -> None:
    export(full, tmp_path / "out", "saga2")
    with (tmp_path / "out" / "SAGA_ClientVariant.csv").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ResultsError, match=rf"ClientVariant\.csv, {message}"):
        import_saga(other, tmp_path / "out")


def finished(database: ResultsDatabase, game: int) -> str:
    """When a game ended, as it is stored."""
    return str(
        next(row["Finished"] for row in dump(database, "SAGA_Game")["SAGA_Game"] if row["GameId"] == game)
    )


@pytest.mark.parametrize("target", ["out.sqlite", "out"])
@pytest.mark.parametrize(
    ("time", "stored"),
    [
        ("2001-09-09T03:46:43.750000+02:00", "2001-09-09 01:46:43.750000"),
        ("2001-09-09T01:46:43Z", "2001-09-09 01:46:43.000000"),
        ("2001-09-09T01:46:43", "2001-09-09 01:46:43.000000"),
    ],
)
def test_a_time_with_an_offset_is_stored_in_utc(
    tmp_path: Path,
    other: ResultsDatabase,
    full: ResultsDatabase,
    target: str,
    time: str,
    stored: str,
) -> None:
    export(full, tmp_path / target, "saga2")
    if target == "out":
        change(tmp_path / "out", "SAGA_Game", 0, "Finished", time)
    else:
        with closing(sqlite3.connect(tmp_path / target)) as source, source:
            source.execute("UPDATE SAGA_Game SET Finished = ? WHERE GameId = 1", (time,))
    import_saga(other, tmp_path / target)
    assert finished(other, 1) == stored


def test_long_texts_come_in_again(tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase) -> None:
    options = "gtp_set x y#" * 12_000
    with full.transaction() as connection:
        connection.execute(update(saga.CONTESTANT).values(Options=options))
    export(full, tmp_path / "out", "saga2")
    import_saga(other, tmp_path / "out")
    assert {row["Options"] for row in dump(other, "SAGA_")["SAGA_Contestant"]} == {options}


@pytest.mark.parametrize(
    ("table", "assignment", "message"),
    [
        (
            "SAGA_Client",
            "ClientId = 2147483648",
            "table SAGA_Client, ClientId 2147483648: ClientId can't be 2147483648: a whole number has 32",
        ),
        (
            "SAGA_Client",
            "ClientId = NULL",
            "table SAGA_Client, ClientId None: ClientId can't be None: a key is never empty",
        ),
        ("SAGA_Client", "ClientId = 'x'", "ClientId can't be 'x': it must be a whole number"),
        ("SAGA_Game", "Years = 1.5", "table SAGA_Game, GameId 1: Years can't be 1.5: it must be a whole"),
        ("SAGA_Game", "Years = 9e999", "Years can't be inf: it must be a whole number"),
        ("SAGA_Game", "PlayTime = 9e999, TotalTime = 9e999", "PlayTime can't be inf: it must be a finite"),
        ("SAGA_Game", "PlayTime = 'abc'", "PlayTime can't be 'abc': it must be a finite number"),
        ("SAGA_Player", "Supplies = x'00ff'", "table SAGA_Player, GameId 1, PowerId 1: Supplies can't be"),
        ("SAGA_Variant", "Powers = 1.5", "Powers can't be 1.5: it must be a whole number"),
        ("SAGA_Variant", "Name = x'00ff'", "Name can't be b'\\x00\\xff': it must be text; correct it there"),
    ],
)
def test_values_of_a_sqlite_file_that_are_of_another_type_stay_out(
    tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase, table: str, assignment: str, message: str
) -> None:
    export(full, tmp_path / "out.sqlite", "saga2")
    with closing(sqlite3.connect(tmp_path / "out.sqlite")) as source, source:
        # SQLite keeps any value in a column whose type is not exactly INTEGER PRIMARY KEY.
        source.execute(f"CREATE TABLE loose AS SELECT * FROM {table}")
        source.execute(f"DROP TABLE {table}")
        source.execute(f"ALTER TABLE loose RENAME TO {table}")
        source.execute(f"UPDATE {table} SET {assignment} WHERE rowid = 1")
    with pytest.raises(ResultsError, match=re.escape(message)):
        import_saga(other, tmp_path / "out.sqlite")


def test_a_source_that_is_not_saga_is_refused(tmp_path: Path, other: ResultsDatabase) -> None:
    for make, message in (
        (lambda path: None, "there is no file or folder"),
        (lambda path: path.mkdir(), "has no table SAGA_Game or Dip_Game"),
        (lambda path: path.write_bytes(b"no database" * 99), "neither a SQLite database nor a folder of CSV"),
        (lambda path: (path.mkdir(), (path / "Dip_Game.csv").touch()), "has no table Dip_Bot, Dip_Player"),
    ):
        path = tmp_path / message.replace(" ", "-")
        make(path)
        with pytest.raises(ResultsError, match=message):
            import_saga(other, path)


def test_a_missing_column_is_named(tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase) -> None:
    export(full, tmp_path / "out", "saga2")
    (tmp_path / "out" / "SAGA_Power.csv").write_text("PowerId,VariantId,Code\n1,1,1\n")
    with pytest.raises(ResultsError, match=r"SAGA_Power\.csv: SAGA_Power has no column Name, Notes"):
        import_saga(other, tmp_path / "out")


def test_an_arenas_own_database_can_be_imported_whole(
    tmp_path: Path, other: ResultsDatabase, full: ResultsDatabase
) -> None:
    assert import_saga(other, tmp_path / "full.sqlite").games == 8
    with other.transaction() as connection:
        assert len(connection.execute(select(saga.PLAYER)).all()) == 16
