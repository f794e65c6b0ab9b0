"""The LMDB folder: opening it, its map that grows by itself, transactions, and the version of its records."""

import errno
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self, TypeVar

import lmdb

from academy.store import data_copy, lock_file, page_scan
from academy.store.errors import (
    NO_ROOM,
    SchemaMismatchError,
    SchemaOutdatedError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

SCHEMA_VERSION: Final = 6
# `academy.store.maintenance.upgrade` has a step from each that is older.
_OLDEST: Final = 1


def _schema_value(version: int) -> bytes:
    """Return a version as a folder names it."""
    return b"%d" % version


def _schema_mismatch(folder: Path, stored: bytes | None) -> SchemaMismatchError:
    """Return what to raise for a folder that names this version (None: it names none) and shall be read."""
    written = "?" if stored is None else stored.decode("ascii", "replace")
    what = f"{folder}: written under schema version {written}, this program reads {SCHEMA_VERSION}"
    for version in range(_OLDEST, SCHEMA_VERSION):
        if stored == _schema_value(version):
            remedy = "serve it once, which brings it up to date, or restore it into an empty folder"
            return SchemaOutdatedError(f"{what}; {remedy}", version)
    return SchemaMismatchError(
        f"{what}; export the libraries with the program that wrote them, import them here"
    )


SMALLEST_MAP: Final = 64 << 20
LARGEST_STEP: Final = 4 << 30
LARGEST_MAP: Final = 1 << 40
# The folder, beside the data, of the service's saved pattern caches; missing ones are made again.
PATTERN_CACHES: Final = "pattern-cache"

_T = TypeVar("_T")
_SCHEMA_KEY: Final = b"schema"
_REMEDY: Final = "restore a backup into an empty folder, and keep this one for inspection"
_NO_RIGHT: Final = {errno.EACCES, errno.EPERM}
_UNSOUND: Final = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.VersionMismatchError,
    lmdb.IncompatibleError,
)
_log = logging.getLogger(__name__)


class TableName(StrEnum):
    """The named databases of the environment; `academy.store.keys` says how each is keyed."""

    META = "meta"
    GAMES = "games"
    GAME_STATE = "game_state"
    MEASURES = "measures"
    RATINGS = "ratings"
    PATTERNS = "patterns"
    OPENINGS = "openings"
    TESUJIS = "tesujis"
    EVALUATIONS = "evaluations"
    CHANGES = "changes"
    DELETED_PATTERNS = "deleted_patterns"
    REMOVALS = "removals"
    MUTED_PLAYERS = "muted_players"
    EVENTS = "events"
    EVENTS_BY_GAME = "events_by_game"
    SNAPSHOTS = "snapshots"
    CONTESTS = "contests"
    OPEN_CONTESTS = "open_contests"
    OPEN_CONTESTS_BY_AGE = "open_contests_by_age"
    USES = "uses"
    PROPOSALS = "proposals"
    PROPOSALS_BY_CONTEST = "proposals_by_contest"
    PROPOSALS_BY_PLAYER = "proposals_by_player"
    HELD_PROPOSALS = "held_proposals"
    TOKENS = "tokens"
    ARENAS = "arenas"
    CLAIMS = "claims"
    PLAYER_STATISTICS = "player_statistics"
    ANALYSES = "analyses"
    GROWTH = "growth"
    RECENT_CONTESTS = "recent_contests"
    NODE_CONTESTS = "node_contests"
    PATTERN_HISTORY = "pattern_history"


# Tables that folders of this schema made by an earlier program lack until a program opens them for writing.
_ADDED_LATER: Final = frozenset(
    {
        TableName.TESUJIS,
        TableName.EVALUATIONS,
        TableName.GROWTH,
        TableName.RECENT_CONTESTS,
        TableName.NODE_CONTESTS,
        TableName.PATTERN_HISTORY,
    }
)


@dataclass(frozen=True, slots=True)
class Room:
    """Room in bytes: what the file's pages take, what they may take at most, and what the disk has free."""

    used: int
    limit: int
    disk_free: int


NoteWrite = Callable[[TableName, bytes, bytes | None], None]


class Transaction:
    """Reads and writes of one moment. All values are copies that outlive it."""

    def __init__(
        self,
        environment: lmdb.Environment,
        transaction: "lmdb.Transaction[bytes]",
        tables: dict[TableName, lmdb._Database],
        note: NoteWrite = lambda table, key, value: None,
    ) -> None:
        """Begin; `note` is called with each record that is put, or removed (None)."""
        self._environment = environment
        self._lmdb = transaction
        self._tables = tables
        self._note = note

    @property
    def number(self) -> int:
        """The number of the last commit this transaction sees."""
        return self._lmdb.id()

    def get(self, table: TableName, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""
        if table not in self._tables:
            return None
        return self._lmdb.get(key, db=self._tables[table])

    def put(self, table: TableName, key: bytes, value: bytes = b"") -> None:
        """Set the value of a key."""
        self._lmdb.put(key, value, db=self._tables[table])
        self._note(table, key, value)

    def put_schema(self, version: int) -> None:
        """Say what version of the schema the records are of."""
        self.put(TableName.META, _SCHEMA_KEY, _schema_value(version))

    def delete(self, table: TableName, key: bytes) -> bool:
        """Remove a key; return whether it was there."""
        was_there = self._lmdb.delete(key, db=self._tables[table])
        if was_there:
            self._note(table, key, None)
        return was_there

    def pop(self, table: TableName, prefix: bytes = b"") -> list[tuple[bytes, bytes]]:
        """Remove the keys that begin with `prefix`, and return them with their values, in order."""
        removed = list(self.scan(table, prefix))
        for key, _ in removed:
            self.delete(table, key)
        return removed

    def count(self, table: TableName) -> int:
        """Return how many keys a table has, without a scan."""
        return self._lmdb.stat(self._tables[table])["entries"] if table in self._tables else 0

    def size(self, table: TableName) -> int:
        """Return how many bytes the pages of a table take, without a scan."""
        stat = self._lmdb.stat(self._tables[table])
        return (stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]) * stat["psize"]

    def scan(
        self, table: TableName, prefix: bytes = b"", *, start: bytes = b"", backwards: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys that begin with `prefix`, with their values, in order or backwards.

        `start` is the whole key to begin at (included) where it is not the first, or the last. The table
        must not be changed meanwhile.
        """
        if table not in self._tables:
            return
        with self._lmdb.cursor(db=self._tables[table]) as cursor:
            is_placed = (
                self._seek_last(cursor, prefix, start) if backwards else cursor.set_range(start or prefix)
            )
            if not is_placed:
                return
            for key, value in cursor.iterprev() if backwards else cursor.iternext():
                if not key.startswith(prefix):
                    return
                yield key, value

    def read_numbered(self, table: TableName, prefix: bytes) -> dict[int, bytes]:
        """Return all records whose keys are `prefix` and a number, by number.

        With `scan` a full game would load a fifth slower.
        """
        records = {}
        with self._lmdb.cursor(db=self._tables[table]) as cursor:
            beyond = cursor.key() if cursor.set_range(_after(prefix)) else b""
            if cursor.set_range(prefix):
                length = len(prefix)
                for key, value in cursor.iternext():
                    if key == beyond:
                        break
                    records[int.from_bytes(key[length:])] = value
        return records

    @staticmethod
    def _seek_last(cursor: "lmdb.Cursor[bytes]", prefix: bytes, start: bytes) -> bool:
        if start and cursor.set_range(start) and cursor.key() == start:
            return True
        beyond = start or _after(prefix)
        if beyond and cursor.set_range(beyond):
            return cursor.prev()
        return cursor.last()

    @contextmanager
    def begin_nested(self, note: NoteWrite = lambda table, key, value: None) -> Iterator["Transaction"]:
        """A part of this transaction: only it is undone when its block raises. `note` is its own."""
        with self._environment.begin(parent=self._lmdb, write=True) as inner:
            yield Transaction(self._environment, inner, self._tables, note)


def _after(prefix: bytes) -> bytes:
    """Return the least key greater than all keys that begin with `prefix`; empty where there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b""


class Environment:
    """An open data folder. Only one may be open on a folder in one process."""

    def __init__(
        self,
        folder: Path,
        *,
        read_only: bool = False,
        largest_map: int = LARGEST_MAP,
        version: int = SCHEMA_VERSION,
        tables: Sequence[TableName] = tuple(TableName),
        durable: bool = True,
    ) -> None:
        """Open a folder, making it where it is missing.

        `largest_map` bounds the size of the data in bytes; `version` is the schema its records must be of.
        Commits that are not `durable` do not wait for the disk: when the machine stops, the data are lost.
        Raises StoreError where the folder cannot be used, SchemaMismatchError where they are of another
        version.
        """
        self.folder = folder
        self._data = folder / "data.mdb"
        self.schema = version
        self._names = tables
        self._largest_map = largest_map
        self._gate = threading.Condition()
        self._in_use = 0
        self._resizing = False
        self._closed = False
        if not read_only:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise StoreReadOnlyError(
                    f"{folder}: the data folder cannot be made: {error.strerror}"
                ) from error
        elif not self._data.exists():
            raise StoreError(f"{folder}: holds no data of ACADEMY")
        elif not self._data.stat().st_size:
            raise StoreCorruptError(f"{folder}: data.mdb is empty; {_REMEDY}")
        lock = lock_file.reserve(folder, read_only=read_only)
        if not lock:
            _log.warning("%s: no room for its lock.mdb: read without; start no server meanwhile", folder)
        with self._translate_errors():
            self._lmdb = lmdb.open(
                str(folder),
                map_size=min(SMALLEST_MAP, largest_map),
                max_dbs=len(TableName),
                max_readers=lock_file.MAX_READERS,
                readonly=read_only,
                mode=0o600,
                create=not read_only,
                lock=lock,
                sync=durable,
            )
        try:
            self._file = self._identify_file()
            self._check_length()
            self._check_lock_is_of_file()
            self._lmdb.reader_check()
            self._tables: dict[TableName, lmdb._Database] = {}
            self._read_schema(read_only)
        except BaseException:
            # Also when interrupted: no caller has the open folder yet, to close it.
            self._lmdb.close()
            raise

    def _check_length(self) -> None:
        """Raise StoreCorruptError for a file that was cut short: reading beyond its end ends a process."""
        if page_scan.missing_pages(self.folder, self._lmdb):
            for what in page_scan.find_damage(self.folder):
                raise StoreCorruptError(f"{self.folder}: {what}; {_REMEDY}")

    def _identify_file(self) -> tuple[int, int] | None:
        """Return what tells the file of the data from others; None where there is none."""
        try:
            status = self._data.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _check_file(self) -> None:
        """Raise StoreError where the data were taken away or replaced: a write would be lost with the old."""
        if self._identify_file() != self._file:
            raise StoreError(
                f"{self.folder}: data.mdb was removed or replaced while this process used it, so nothing is "
                "written to it any more; start the process again"
            )

    def _check_lock_is_of_file(self) -> None:
        """Raise StoreError where others of the folder's users have another file open, which was here before.

        LMDB would take the last commit's number from them, and read and write at the wrong place.
        """
        with self._translate_errors():
            with self._lmdb.begin() as transaction:
                last_of_users = transaction.id()
            if last_of_users > self._lmdb.info()["last_txnid"]:
                raise StoreError(
                    f"{self.folder}: data.mdb was replaced while another process used it; stop all servers "
                    "of the folder, then try again"
                )

    def _read_schema(self, read_only: bool) -> None:
        self._open_tables([TableName.META], read_only)
        with self.reading() as transaction:
            version = transaction.get(TableName.META, _SCHEMA_KEY)
        if version is None and not read_only:
            self.write(lambda new: new.put_schema(self.schema))
        elif version != _schema_value(self.schema):
            raise _schema_mismatch(self.folder, version)
        self._open_tables(self._names, read_only)

    def _open_tables(self, tables: Sequence[TableName], read_only: bool) -> None:
        # New tables wait for the disk once, in one transaction. One that only reads would not keep them open.
        with self._translate_errors(), nullcontext() if read_only else self._lmdb.begin(write=True) as begun:
            for table in tables:
                try:
                    self._tables[table] = self._lmdb.open_db(table.encode(), txn=begun, create=not read_only)
                except lmdb.NotFoundError as error:
                    # An earlier version had fewer.
                    if table is TableName.META or (
                        self.schema == SCHEMA_VERSION and table not in _ADDED_LATER
                    ):
                        raise StoreCorruptError(f"{self.folder}: holds no data of ACADEMY") from error

    def close(self) -> None:
        """Close the folder once no transaction is running. Closing twice is harmless."""
        with self._gate:
            self._closed = True
            self._gate.wait_for(lambda: self._in_use == 0)
            self._lmdb.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def map_size(self) -> int:
        """Bytes the data may take before the map must grow again."""
        return self._lmdb.info()["map_size"]

    def room(self) -> Room:
        """How much room the data take and have. Raises StoreClosedError and StoreError."""
        with self._translate_errors(), self._hold_open():
            info, page = self._lmdb.info(), self._lmdb.stat()["psize"]
            used = (info["last_pgno"] + 1) * page
        disk = os.statvfs(self.folder)
        return Room(used, self._largest_map, disk.f_bavail * disk.f_frsize)

    @property
    def version(self) -> int:
        """The number of the last commit, of any process: while it stays, all that was read still holds.

        Raises StoreClosedError and StoreError.
        """
        # Asked several times a call, so without the machinery of `reading`: the gate keeps the map as it is.
        with self._gate:
            if not self._resizing and not self._closed:
                try:
                    with self._lmdb.begin() as transaction:
                        return transaction.id()
                except lmdb.Error:
                    # `reading` repairs or reports it.
                    pass
        with self.reading() as transaction:
            return transaction.number

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that sees the state of its beginning. Keep it short, and do not nest it."""
        with self._translate_errors(), self._begin(write=False) as transaction:
            yield transaction

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Run `work` in a write transaction and return its result once the data are on the disk.

        All or nothing: when `work` raises, nothing is kept. `work` runs again from its start when the map
        had to grow. Raises StoreFullError, StoreReadOnlyError, StoreCorruptError or StoreError, such as where
        the file was replaced.
        """
        while True:
            try:
                with self._translate_errors(), self._begin(write=True) as transaction:
                    self._check_file()
                    return work(transaction)
            except _MapFullError:
                self._grow()

    def copy(self, folder: Path) -> None:
        """Write a compact copy of one moment's data into a folder; reads and writes go on meanwhile."""
        with self._hold_open():
            pass
        with self._translate_errors():
            data_copy.copy_data(self.folder, folder)

    @contextmanager
    def _begin(self, write: bool) -> Iterator[Transaction]:
        while True:
            with self._hold_open():
                try:
                    begun = self._lmdb.begin(write=write)
                except lmdb.MapResizedError:
                    begun = None
                if begun is not None:
                    with begun:
                        yield Transaction(self._lmdb, begun, self._tables)
                    return
            # Another process made the map larger.
            self._resize(0)

    @contextmanager
    def _hold_open(self) -> Iterator[None]:
        with self._gate:
            self._gate.wait_for(lambda: not self._resizing)
            if self._closed:
                raise StoreClosedError(f"{self.folder}: was closed")
            self._in_use += 1
        try:
            yield
        finally:
            with self._gate:
                self._in_use -= 1
                self._gate.notify_all()

    def _grow(self) -> None:
        if self._lmdb.reader_check():
            # A process died while it read: the pages it held can be used again.
            return
        size = self.map_size
        larger = min(size + min(size, LARGEST_STEP), self._largest_map)
        if larger <= size:
            raise StoreFullError(
                f"{self.folder}: the data have reached the limit of {self._largest_map:,} bytes; "
                "raise the limit, or lower capacities and start from a compact copy (backup and restore)"
            )
        self._resize(larger)

    def _resize(self, size: int) -> None:
        """Set the map's size, 0 for the one another process chose. LMDB wants no transaction meanwhile."""
        with self._gate:
            self._gate.wait_for(lambda: not self._resizing)
            self._resizing = True
            try:
                self._gate.wait_for(lambda: self._in_use == 0)
                self._lmdb.set_mapsize(size)
            finally:
                self._resizing = False
                self._gate.notify_all()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except lmdb.MapFullError as error:
            raise _MapFullError(f"{self.folder}: the map is full") from error
        except _UNSOUND as error:
            raise StoreCorruptError(f"{self.folder}: {self._without_folder(error)}; {_REMEDY}") from error
        except lmdb.Error as error:
            raise self._as_store_error(error) from error

    def _as_store_error(self, error: lmdb.Error) -> StoreError:
        code = getattr(error, "code", 0)
        if isinstance(error, lmdb.DiskError) or code in NO_ROOM:
            return StoreFullError(
                f"{self.folder}: no room left on the disk or in the quota; make room, try again"
            )
        if code == errno.EROFS:
            return StoreReadOnlyError(f"{self.folder}: its file system is read-only; mount it for writing")
        if isinstance(error, lmdb.ReadonlyError) or code in _NO_RIGHT:
            return StoreReadOnlyError(f"{self.folder}: may not be written by this user; check owner and mode")
        if isinstance(error, lmdb.PanicError):
            return StoreError(f"{self.folder}: a write to the disk failed; check the disk, then start again")
        if code == errno.EIO:
            return StoreError(
                f"{self.folder}: the disk took a write only in part or not at all; check the limit on file "
                "sizes, the room left, and the disk"
            )
        return StoreError(f"{self.folder}: {self._without_folder(error)}")

    def _without_folder(self, error: lmdb.Error) -> str:
        """Return LMDB's message without the folder that it may begin with."""
        return str(error).removeprefix(f"{self.folder}: ")


class _MapFullError(StoreError):
    """The map must grow before the write can be done."""
