"""The results database: opened, made where there is none, and checked to be ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.exc import DatabaseError

from arena.results.own_tables import META, SCHEMA_VERSION
from arena.results.schema import METADATA
from arena.results.views import create_views

BUSY_SECONDS: Final = 30


class ResultsError(RuntimeError):
    """Results that can't be used as asked; the message says why and what to do."""


class ResultsDatabase:
    """A results database. SQLite files are durable: no committed game is lost by any crash.

    Use `open`. Threads may share it; each `transaction` is its thread's own.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: URL | str, create: bool = True) -> Self:
        """Open a database by URL (see `sqlite_url`), making its tables where they are missing.

        Raises ResultsError for one that is not ours, damaged, or of another schema version.
        """
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _prepare_sqlite)
        try:
            with engine.begin() as connection:
                _check_or_create(connection, create)
        except DatabaseError as error:
            engine.dispose()
            raise ResultsError(f"can't open the results database {engine.url}: {error.orig}") from error
        except ResultsError:
            engine.dispose()
            raise
        return cls(engine)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All or nothing: committed at the end of the block, undone if it raises."""
        with self._engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def sqlite_url(path: Path) -> URL:
    """The URL of a database in a file."""
    return URL.create("sqlite", database=str(path))


def utc_now() -> datetime:
    """The time now in UTC, without a zone, as the database keeps times."""
    return datetime.now(UTC).replace(tzinfo=None)


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # The driver would else wrap the pragmas in a transaction, where they have no effect.
    connection.isolation_level, level = None, connection.isolation_level
    for pragma in (
        f"busy_timeout = {BUSY_SECONDS * 1000}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.isolation_level = level


def _check_or_create(connection: Connection, create: bool) -> None:
    present = set(inspect(connection).get_table_names())
    if META.name in present:
        found = connection.execute(select(META.c.Value).where(META.c.Key == "schema_version")).scalar()
        if found != str(SCHEMA_VERSION):
            raise ResultsError(
                f"the results database {connection.engine.url} has schema version {found}, this program "
                f"reads version {SCHEMA_VERSION}: use the release that wrote it, or `arena reset`"
            )
    elif present & set(METADATA.tables):
        raise ResultsError(f"{connection.engine.url} has tables of our names but was not made by the arena")
    elif not create:
        raise ResultsError(f"there are no results in {connection.engine.url}")
    else:
        METADATA.create_all(connection)
        create_views(connection)
        connection.execute(insert(META).values(Key="schema_version", Value=str(SCHEMA_VERSION)))
