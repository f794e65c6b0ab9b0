"""Databases of the arena: opened, created where they are missing, and checked to be ours."""

import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    Insert,
    Select,
    Table,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DatabaseError, SQLAlchemyError, StatementError
from sqlalchemy.pool import NullPool

from arena.control.database_urls import InvalidDatabaseUrlError, database_url, shown
from arena.results.migrations import FIRST_VERSION, upgrade
from arena.results.own_tables import META, SCHEMA_VERSION
from arena.results.schema import METADATA
from arena.results.views import create_views

BUSY_SECONDS: Final = 30


class ResultsError(RuntimeError):
    """Results that can't be used as asked; the message says why and what to do."""


class FileTakenError(SQLAlchemyError, ResultsError):
    """A database's file was moved, deleted or replaced under this program."""


class NoResultsYetError(ResultsError):
    """The competition has not been run."""


class Database(ABC):
    """A database of the arena's. SQLite files are durable: no committed game is lost by any crash.

    Use `open` of a subclass. Threads may share it; each `transaction` is its thread's own.
    """

    what: ClassVar[str]
    """What messages call it."""
    is_private: ClassVar[bool] = False
    """Whether a file that is made for it is this user's alone."""

    def __init__(self, engine: Engine, quick_engine: Engine | None = None) -> None:
        # What all connections come from.
        self.engine = engine
        self._quick_engine = quick_engine or engine
        # What tells the file that was opened from others; None where it is none.
        self._file: tuple[int, int] | None = None
        # The transaction that a thread has opened for several things together.
        self._common: ContextVar[Connection | None] = ContextVar("common transaction", default=None)

    @classmethod
    def open(cls, url: URL | str, create: bool = True) -> Self:
        """Open a database by URL (see `sqlite_url`), making its tables where they are missing.

        A database of an earlier schema version is brought up to date, whole or not at all. Raises
        ResultsError for a database that is not ours, is damaged or has an unknown schema version, and for
        URLs that `database_url` refuses or that no driver is installed for.
        """
        engine, quick_engine = _engine(url, cls.what), None
        if engine.dialect.name == "sqlite":
            if create and cls.is_private:
                _make_private(engine.url)
            # In write-ahead mode, its commits do not wait for the disk: https://sqlite.org/pragma.html#pragma_synchronous
            quick_engine = _engine(url, cls.what, synchronous="NORMAL")
        database = cls(engine, quick_engine)
        try:
            with database._checked(create):
                database._file = _identify_file(engine.url)
        except ResultsError:
            database.close()
            raise
        return database

    @classmethod
    def to_look_at(cls, url: URL | str) -> Self:
        """A database by URL, to read in blocks of `look`; between them no file or connection is open.

        Raises ResultsError as `open` does of URLs.
        """
        return cls(_engine(url, cls.what, poolclass=NullPool))

    @contextmanager
    def look(self) -> Iterator[None]:
        """Check the database as `open` does, and read it as `snapshot` does. Raises ResultsError."""
        with ExitStack() as looking:
            connection = looking.enter_context(self._checked(create=False))
            looking.enter_context(self._snapshot_on(connection))
            looking.enter_context(self._in_common(connection))
            yield

    @contextmanager
    def _checked(self, create: bool) -> Iterator[Connection]:
        """A connection to a database that was checked, brought up to date, or made."""
        with ExitStack() as connected:
            try:
                connection = connected.enter_context(self.engine.connect())
                with connection.begin():
                    self.check_or_create(connection, create)
            except DatabaseError as error:
                raise ResultsError(
                    f"can't open the {self.what} {shown(self.engine.url)}: {reason(error)}"
                ) from error
            yield connection

    @classmethod
    @abstractmethod
    def check_or_create(cls, connection: Connection, create: bool) -> None:
        """Check the tables, bring them up to date, or make them. Raises ResultsError."""

    def check_file(self) -> None:
        """Raise FileTakenError where its file was taken away: what is stored would go with it."""
        if _identify_file(self.engine.url) != self._file:
            raise FileTakenError(
                f"the {self.what} {shown(self.engine.url)} was moved, deleted or replaced while this "
                "program used it, so nothing more is stored; what was stored so far is in the file that it "
                "was: put that back, with its -wal file, and start again"
            )

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All or nothing: committed at the end of the block, undone if it raises.

        In a block of `together` it is a part of that.
        """
        common = self._common.get()
        if common is not None:
            yield common
            return
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of all those that the block opens: one wait for the disk.

        Nothing of them is stored before the block has ended.
        """
        with self.engine.begin() as connection, self._in_common(connection):
            yield

    @contextmanager
    def _in_common(self, connection: Connection) -> Iterator[None]:
        token = self._common.set(connection)
        try:
            yield
        finally:
            self._common.reset(token)

    @contextmanager
    def sole_transaction(self) -> Iterator[Connection]:
        """As `transaction`; another one of this kind waits until it has ended, in every process."""
        with self.engine.begin() as connection:
            lock_out_others(connection)
            self.check_file()
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """To read alone: all that the block reads is of one moment, whatever others store meanwhile.

        Of a `transaction` each query reads what is stored by then.
        """
        with self.engine.connect() as connection, self._snapshot_on(connection):
            yield connection

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Let all that the block reads be of one moment, as in a `snapshot`; it writes nothing."""
        with self.snapshot() as connection, self._in_common(connection):
            yield

    @staticmethod
    @contextmanager
    def _snapshot_on(connection: Connection) -> Iterator[None]:
        with connection.begin():
            is_sqlite = connection.dialect.name == "sqlite"
            connection.exec_driver_sql(
                "BEGIN" if is_sqlite else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
            )
            yield

    def rows(self, query: Select[Any]) -> Sequence[Any]:
        """All rows of a query, in a transaction of its own."""
        with self.transaction() as connection:
            return connection.execute(query).all()

    def value(self, query: Select[Any]) -> Any:
        """The only value that a query gives, in a transaction of its own."""
        with self.transaction() as connection:
            return connection.execute(query).scalar_one()

    @contextmanager
    def quick_transaction(self) -> Iterator[Connection]:
        """As `transaction`, without waiting for the disk.

        A crash of the machine, not of the program, may undo it, if no `transaction` has ended since.
        """
        if (common := self._common.get()) is not None:
            yield common
            return
        with self._quick_engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self._quick_engine.dispose()
        self.engine.dispose()


class ResultsDatabase(Database):
    """The results of competitions."""

    what = "results database"

    @classmethod
    def check_or_create(cls, connection: Connection, create: bool) -> None:
        """Check the tables, bring them up to date, or make them. Raises ResultsError."""
        present = set(inspect(connection).get_table_names())
        if META.name in present and _version(connection) == SCHEMA_VERSION:
            return
        if META.name not in present and not create:
            raise NoResultsYetError(f"there are no results in {shown(connection.engine.url)}")
        # Others may be about to do the same, and readers must see all of it or nothing.
        lock_out_others(connection)
        present = set(inspect(connection).get_table_names())
        if META.name in present:
            _bring_up_to_date(connection)
        elif present & set(METADATA.tables):
            url = shown(connection.engine.url)
            raise ResultsError(f"{url} has tables of our names but was not made by the arena")
        else:
            METADATA.create_all(connection, checkfirst=False)
            create_views(connection)
            connection.execute(insert(META).values(Key="schema_version", Value=str(SCHEMA_VERSION)))


def _engine(url: URL | str, what: str, synchronous: str = "FULL", **options: Any) -> Engine:
    try:
        engine = create_engine(database_url(url), **options)
    except InvalidDatabaseUrlError as error:
        raise ResultsError(f"the {what}: {error}") from None
    except ImportError as error:
        raise ResultsError(
            f"{error}: install the driver of that database (for PostgreSQL: academy-arena[postgresql])"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "do_connect", _connect_unwritten)
        event.listen(engine, "connect", partial(_prepare_sqlite, synchronous))
    remedy = "what it has stays: see that it can be used, then try again"
    event.listen(engine, "handle_error", partial(_note, f"({what} {shown(engine.url)}; {remedy})"))
    return engine


def _note(note: str, context: ExceptionContext) -> None:
    if context.sqlalchemy_exception is not None:
        context.sqlalchemy_exception.add_note(note)


def _connect_unwritten(dialect: Any, _: Any, arguments: Sequence[str], options: Mapping[str, Any]) -> Any:
    """One that only reads, where this user may not make the files that SQLite keeps beside a database.

    Where they are missing nobody has the database open, so it is not being changed.
    """
    file = Path(arguments[0])
    if not file.is_file() or os.access(file.parent, os.W_OK) or Path(f"{file}-wal").exists():
        return None
    return dialect.connect(f"{file.as_uri()}?immutable=1", **{**options, "uri": True})


def _identify_file(url: URL) -> tuple[int, int] | None:
    """What tells a database's file from others; None where there is none, or the database is not a file."""
    if url.get_backend_name() != "sqlite":
        return None
    try:
        status = Path(url.database or "").stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _make_private(url: URL) -> None:
    """Make the file where it is missing; SQLite gives the mode to those that it keeps beside it."""
    # What cannot be made here SQLite cannot make either, and says so.
    with suppress(OSError):
        os.close(os.open(url.database or "", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def sqlite_url(path: Path) -> URL:
    """The URL of a database in a file."""
    return URL.create("sqlite", database=str(path))


def utc_now() -> datetime:
    """The time now in UTC, without a zone, as the database keeps times."""
    return datetime.now(UTC).replace(tzinfo=None)


def _prepare_sqlite(synchronous: str, connection: sqlite3.Connection, _record: Any) -> None:
    # The driver would else wrap the pragmas in a transaction, where they have no effect.
    connection.isolation_level, level = None, connection.isolation_level
    connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}").close()
    _keep_a_log_of_writes(connection)
    for pragma in (f"synchronous = {synchronous}", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.isolation_level = level


def _keep_a_log_of_writes(connection: sqlite3.Connection) -> None:
    # SQLite does not wait here for another process that is making the same database.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            return
        except sqlite3.OperationalError as error:
            # The low byte is the kind of error, the others say more of it.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _bring_up_to_date(connection: Connection) -> None:
    version = _version(connection)
    if FIRST_VERSION <= version < SCHEMA_VERSION:
        upgrade(connection, version)
    elif version != SCHEMA_VERSION:
        raise ResultsError(
            f"the results database {shown(connection.engine.url)} has schema version {version}, this program "
            f"reads versions {FIRST_VERSION} to {SCHEMA_VERSION}: use the release that wrote it, or "
            "`arena reset --really`"
        )


def _version(connection: Connection) -> int:
    version = connection.execute(select(META.c.Value).where(META.c.Key == "schema_version")).scalar()
    try:
        return int(version or 0)
    except ValueError:
        return 0


# "ARENA": any number that other programs are unlikely to lock.
_LOCK: Final = 0x4152454E41


@cache
def insertion(table: Table) -> Insert:
    """The statement that adds to a table, built once: building it takes longer than running it."""
    return insert(table)


def add(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    """Add a row; return the first column of its primary key."""
    # Values beside the statement, not in it: so it is built and compiled once.
    key = connection.execute(insertion(table), values).inserted_primary_key
    assert key is not None
    return int(key[0])


def find_or_add(
    connection: Connection, table: Table, values: Mapping[str, Any], others: Mapping[str, Any] | None = None
) -> int:
    """Find the row with these values, or add it with the `others`; return the first column of its key."""
    key = next(iter(table.primary_key.columns))
    conditions = [table.c[name].is_not_distinct_from(value) for name, value in values.items()]
    query = select(key).where(*conditions)
    existing = connection.execute(query).scalar()
    if existing is None:
        # Another competition of the same database may be about to add the same.
        lock_for_changes(connection)
        existing = connection.execute(query).scalar()
    return add(connection, table, {**values, **(others or {})}) if existing is None else int(existing)


def lock_for_changes(connection: Connection) -> None:
    """Keep other transactions that call this from going on before this one has ended.

    SQLite has one writer at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def lock_out_others(connection: Connection) -> None:
    """Keep all other transactions that call this from beginning before this one has ended; call it first."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    lock_for_changes(connection)


def reason(error: SQLAlchemyError) -> str:
    """What is wrong, in one line: below it stand the query, its values and a manual."""
    cause = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    return (str(cause).splitlines() or [type(cause).__name__])[0]
