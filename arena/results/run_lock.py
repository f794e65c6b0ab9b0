"""Keeping a competition to one program at a time, also where its results are in a database of several."""

import fcntl
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Final

from sqlalchemy import URL, Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from arena.control.database_urls import shown
from arena.results.database import ResultsDatabase, ResultsError

PATIENCE_SECONDS: Final = 0.3


@contextmanager
def lock_competition(database: ResultsDatabase, name: str) -> Iterator[None]:
    """Keep other programs from running or removing the competition of this name while the block lasts.

    A server forgets the lock when this program ends, and a lock on a file (which leaves an empty
    `DATABASE.NAME.lock` behind) ends with it, too. Raises ResultsError if another program has the lock.
    """
    engine = database.engine
    locked = _lock_on_server if engine.dialect.name == "postgresql" else _lock_by_file
    with locked(engine, name) as free:
        if not free:
            raise ResultsError(
                f"the competition {name} of the database {shown(engine.url)} is already running, from "
                "another control file of this name or on another machine; wait for its end, stop it there, "
                "or call this one by another name"
            )
        yield


@contextmanager
def _lock_on_server(engine: Engine, name: str) -> Iterator[bool]:
    # A session's lock lasts as long as its connection.
    key = int.from_bytes(
        hashlib.sha256(f"arena competition {name}".encode()).digest()[:8], "big", signed=True
    )
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        free = _scalar(connection, "SELECT pg_try_advisory_lock(:key)", key)
        try:
            yield free
        finally:
            if free:
                _unlock(connection, key)


def _unlock(connection: Connection, key: int) -> None:
    try:
        _scalar(connection, "SELECT pg_advisory_unlock(:key)", key)
    except DBAPIError as error:
        # The lock went with the connection, and the block's own error says more than this one.
        if not error.connection_invalidated:
            raise


def _scalar(connection: Connection, query: str, key: int) -> bool:
    return bool(connection.execute(text(query), {"key": key}).scalar_one())


@contextmanager
def _lock_by_file(engine: Engine, name: str) -> Iterator[bool]:
    with Path(f"{engine.url.database}.{name}.lock").open("a") as lock:
        yield lock_file(lock.fileno())


def lock_file(file: int) -> bool:
    """Lock a file, waiting for a program that holds it for a moment to see whether it is locked."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (free := _try_lock(file)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return free


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def others_locked(url: URL, name: str) -> bool:
    """Whether any competition of another name is locked now in the database of a file."""
    file = Path(url.database or "")
    for path in file.parent.glob(f"{escape(file.name)}.*.lock"):
        if path.name != f"{file.name}.{name}.lock":
            with path.open("a") as lock:
                if not _try_lock(lock.fileno()):
                    return True
    return False
