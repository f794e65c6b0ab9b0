"""The schema: SAGA 2.0's tables and columns under their own names, and the rules it enforces."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, insert, inspect, text
from sqlalchemy.exc import IntegrityError

from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from arena.results.schema import METADATA

SAGA_COLUMNS = {
    "SAGA_Client": "ClientId Family Release Name Version Command WorkingDir Lazy Superseded Obsolete Notes",
    "SAGA_ClientVariant": "ClientId VariantId AutoInhibit",
    "SAGA_Contestant": "ContestantId ClientId Personality Options PlatformId FinishTime Throttle Superseded "
    "Obsolete Notes",
    "SAGA_Game": "GameId SeriesId SettingId Finished SetupTime PlayTime TotalTime Termination Years "
    "Survivors Leaders Winners MaxSupplies",
    "SAGA_Platform": "PlatformId Name Fraction Quality Notes",
    "SAGA_Player": "GameId PowerId ContestantId Supplies Elimination Disorder Problem Winner Grade Rank Cpu",
    "SAGA_Power": "PowerId VariantId Code Name Notes",
    "SAGA_Series": "SeriesId Name State Weight Pure GameLim Selector Notes",
    "SAGA_SeriesContestant": "SeriesId ContestantId Weight Notes",
    "SAGA_SeriesSetting": "SeriesId SettingId Weight Notes",
    "SAGA_Setting": "SettingId PlatformId VariantId Obsolete Level SL IL PTL MTL RTL BTL AOA PDA NPR NPB "
    "Notes",
    "SAGA_Variant": "VariantId Name Powers Supplies FirstYear FirstSeason Notes",
}

FINISHED = datetime(2011, 10, 8)
GAME = {
    "GameId": 1,
    "SeriesId": 1,
    "SettingId": 1,
    "Finished": FINISHED,
    "SetupTime": 1.0,
    "PlayTime": 2.0,
    "TotalTime": 3.0,
    "Termination": 1,
    "Years": 9,
    "Winners": 1,
}
PLAYER = {"GameId": 1, "PowerId": 1, "ContestantId": 1, "Winner": 1}


def test_all_of_saga_is_there() -> None:
    tables = {name: table for name, table in METADATA.tables.items() if name.startswith("SAGA_")}
    assert {name: " ".join(table.columns.keys()) for name, table in tables.items()} == SAGA_COLUMNS


def test_a_database_is_opened_once_another_program_has_made_it(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as maker, ThreadPoolExecutor() as pool:
        maker.execute("BEGIN IMMEDIATE")
        opening = pool.submit(ResultsDatabase.open, sqlite_url(file))
        with pytest.raises(TimeoutError):
            opening.result(timeout=0.5)
        maker.execute("COMMIT")
        opening.result().close()


def test_a_database_that_the_arena_did_not_make_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "saga.sqlite")
    engine = create_engine(url)
    saga.CLIENT.create(engine)
    with pytest.raises(ResultsError, match="has tables of our names but was not made by the arena"):
        ResultsDatabase.open(url)
    assert inspect(engine).get_table_names() == ["SAGA_Client"]
    engine.dispose()


@pytest.fixture(scope="module")
def with_a_game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ResultsDatabase]:
    """A database with a game and all that it needs."""
    database = ResultsDatabase.open(sqlite_url(tmp_path_factory.mktemp("results") / "results.sqlite"))
    with database.transaction() as connection:
        for table, row in (
            (saga.VARIANT, {"VariantId": 1, "Name": "go-9x9", "Powers": 2}),
            (saga.POWER, {"PowerId": 1, "VariantId": 1, "Code": "1", "Name": "Black"}),
            (saga.CLIENT, {"ClientId": 1, "Family": "a", "Command": "a"}),
            (saga.CONTESTANT, {"ContestantId": 1, "ClientId": 1}),
            (saga.SERIES, {"SeriesId": 1, "Name": "contest", "Selector": "all-play-all"}),
            (saga.SETTING, {"SettingId": 1, "VariantId": 1}),
            (saga.GAME, GAME),
            (saga.PLAYER, PLAYER),
        ):
            connection.execute(insert(table).values(row))
    yield database
    database.close()


@pytest.fixture
def connection(with_a_game: ResultsDatabase) -> Iterator[Connection]:
    """A connection whose changes are undone."""
    with with_a_game.engine.connect() as connection:
        yield connection


@pytest.mark.parametrize(
    ("table", "row"),
    [
        (saga.GAME, {**GAME, "GameId": 2, "Termination": 0}),
        (saga.GAME, {**GAME, "GameId": 2, "Termination": 7}),
        (saga.GAME, {**GAME, "GameId": 2, "Termination": None}),
        (saga.GAME, {**GAME, "GameId": 2, "Winners": 0}),
        (saga.GAME, {**GAME, "GameId": 2, "Winners": 2}),
        (saga.GAME, {**GAME, "GameId": 2, "TotalTime": 2.9}),
        (saga.GAME, {**GAME, "GameId": 2, "SetupTime": -1.0}),
        (saga.GAME, {**GAME, "GameId": 2, "Years": -1}),
        (saga.GAME, {**GAME, "GameId": 2, "Leaders": 0}),
        (saga.GAME, {**GAME, "GameId": 2, "SeriesId": 99}),
        (saga.GAME, {**GAME, "GameId": 2, "SettingId": 99}),
        (saga.GAME, GAME),
        (saga.PLAYER, PLAYER),
        (saga.PLAYER, {**PLAYER, "PowerId": 99}),
        (saga.PLAYER, {**PLAYER, "ContestantId": 99}),
        (saga.SERIES, {"SeriesId": 2, "Name": "contest", "Selector": "x"}),
        (saga.SERIES, {"SeriesId": 2, "Name": "other", "Selector": "x", "Weight": -1.0}),
        (saga.SERIES_CONTESTANT, {"SeriesId": 1, "ContestantId": 99}),
        (saga.SERIES_SETTING, {"SeriesId": 99, "SettingId": 1}),
        (saga.CLIENT, {"Family": "", "Command": "x"}),
        (saga.CLIENT_VARIANT, {"ClientId": 1, "VariantId": 99}),
        (saga.CONTESTANT, {"ClientId": 99}),
        (saga.PLATFORM, {"Name": "p", "Quality": 4}),
        (saga.PLATFORM, {"Name": "p", "Fraction": 1.5}),
        (saga.VARIANT, {"Name": "v", "Powers": 0}),
        (saga.VARIANT, {"Name": "go-9x9", "Powers": 2}),
        (saga.POWER, {"VariantId": 1, "Code": "1", "Name": "Black again"}),
        (saga.POWER, {"VariantId": 99, "Code": "1", "Name": "Black"}),
        (saga.SETTING, {"VariantId": 1, "MTL": -1}),
        (own.OUTBOX, {"SeriesId": 1, "ContestId": "c", "Report": b"", "State": "lost", "Changed": FINISHED}),
        (own.OUTBOX, {"SeriesId": 1, "ContestId": "c", "State": "waiting", "Changed": FINISHED}),
        (
            own.VOID,
            {"SeriesId": 1, "Name": "AvB_0", "Attempt": 1, "Cause": "void", "Reason": "", "Seconds": 0.0,
             "Ended": FINISHED},
        ),
    ],
)  # fmt: skip
def test_rows_that_break_a_rule_are_refused(connection: Connection, table: Any, row: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(insert(table).values(row))


@pytest.mark.parametrize(
    "changes",
    [
        {"Problem": 3},
        {"Winner": 2},
        {"Rank": 0},
        {"Cpu": -0.1},
        {"Disorder": -1, "Problem": 1},
        {"Disorder": 1},
        {"Disorder": 1, "Problem": 0},
        {"Elimination": -1},
    ],
)
def test_players_that_break_a_rule_are_refused(connection: Connection, changes: dict[str, Any]) -> None:
    connection.execute(saga.PLAYER.delete())
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(insert(saga.PLAYER).values({**PLAYER, **changes}))


def test_sqlite_is_set_up_to_lose_nothing(connection: Connection) -> None:
    def pragma(name: str) -> Any:
        return connection.execute(text(f"PRAGMA {name}")).scalar()

    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2
    assert pragma("foreign_keys") == 1
    assert pragma("busy_timeout") == 30_000


def test_numbers_of_deleted_games_are_not_used_again(connection: Connection) -> None:
    connection.execute(saga.PLAYER.delete())
    connection.execute(saga.GAME.delete())
    again = {name: value for name, value in GAME.items() if name != "GameId"}
    assert connection.execute(insert(saga.GAME).values(again)).inserted_primary_key == (2,)


def test_databases_that_are_not_ours_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="there are no results in"):
        ResultsDatabase.open(sqlite_url(tmp_path / "empty.sqlite"), create=False)

    (tmp_path / "junk.sqlite").write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(ResultsError, match=r"can't open .*junk\.sqlite: file is not a database"):
        ResultsDatabase.open(sqlite_url(tmp_path / "junk.sqlite"))

    url = sqlite_url(tmp_path / "future.sqlite")
    database = ResultsDatabase.open(url)
    with database.transaction() as connection:
        connection.execute(own.META.update().values(Value="99"))
    database.close()
    with pytest.raises(
        ResultsError, match=f"schema version 99, this program reads versions 3 to {own.SCHEMA_VERSION}"
    ):
        ResultsDatabase.open(url)


def test_only_quick_transactions_do_not_wait_for_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with closing(ResultsDatabase.open(sqlite_url(path))) as database:
        # 2 is FULL, 1 is NORMAL: https://sqlite.org/pragma.html#pragma_synchronous
        with database.transaction() as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
        with database.quick_transaction() as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 1
            connection.execute(insert(saga.CLIENT).values(Family="a", Command="a"))
        # It is there for everybody, at once.
        with closing(ResultsDatabase.open(sqlite_url(path))) as other, other.transaction() as connection:
            assert connection.execute(text('SELECT COUNT(*) FROM "SAGA_Client"')).scalar() == 1
