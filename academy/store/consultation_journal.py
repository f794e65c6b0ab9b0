"""What players ask in contests, until the store has it: a second, small environment in the data folder.

A commit to the disk for each question would cost more than the answer. So a question is noted in the journal,
which all server processes of the folder share, and whose commits do not wait for the disk: the operating
system has them at once, and keeps them when every process is killed. Within a second all notes become part of
the store in one commit, and leave the journal; a contest's report takes in its own at once.

If the machine itself stops, the notes of the last second are lost: the journal belongs to one start of the
machine, as its pages may reach the disk in any order.
"""

import math
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from academy.store.environment import SCHEMA_VERSION, Environment, TableName, Transaction
from academy.store.errors import StoreError, StoreFullError

FOLDER: Final = "journal"
LARGEST: Final = 256 << 20
# Seats are under `keys.in_contest`; the other keys are the store's own.
TABLES: Final = (TableName.CONTESTS, TableName.USES, TableName.CLAIMS)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")

_T = TypeVar("_T")
_Result = TypeVar("_Result", covariant=True)


class Noted(NamedTuple):
    """One entry of the journal."""

    table: TableName
    key: bytes
    value: bytes


class Note(Protocol[_Result]):
    """Something that a player did in a contest."""

    def enter(self, journal: Transaction, read_store: Callable[..., Any]) -> _Result:
        """Write it into the journal, or raise: then nothing of it is kept.

        `read_store` is `Store.read`: what it returns is no older than the journal.
        """


class ConsultationJournal:
    """The open journal of a data folder; its calls may come from any thread."""

    def __init__(self, folder: Path) -> None:
        """Open the journal of this start of the machine, and remove those of earlier ones.

        What an earlier version of the program noted since the machine started is taken over. Raises
        StoreError.
        """
        journals = folder / FOLDER
        boot = _name_boot()
        own = journals / f"{boot or 'any'}-{SCHEMA_VERSION}"
        # Where nothing names the start of the machine, each commit must reach the disk.
        # LMDB needs free pages to remove what a full one has.
        self._environment = Environment(own, largest_map=2 * LARGEST, tables=TABLES, durable=not boot)
        for other in journals.iterdir():
            if other != own:
                began, _, schema = other.name.rpartition("-")
                if began == (boot or "any") and schema.isdigit() and int(schema) < SCHEMA_VERSION:
                    self._take_over(other, int(schema))
                shutil.rmtree(other, ignore_errors=True)

    def _take_over(self, earlier: Path, schema: int) -> None:
        """Note what another journal has, whose records are alike: an upgrade may come in a contest."""
        entries: list[Noted] = []
        # Another process may have taken it over, and removed it.
        with (
            suppress(StoreError),
            Environment(earlier, read_only=True, version=schema, tables=TABLES) as environment,
            environment.reading() as noted,
        ):
            entries = [Noted(table, key, value) for table in TABLES for key, value in noted.scan(table)]

        def put(journal: Transaction) -> None:
            for table, key, value in entries:
                # What that process has noted since stays.
                if journal.get(table, key) is None:
                    journal.put(table, key, value)

        self.write(put)

    def close(self) -> None:
        """Close it. Closing twice is harmless."""
        self._environment.close()

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Do `work` in a transaction that all processes see at its end. All or nothing; raises StoreError."""

        def work_with_room(journal: Transaction) -> _T:
            if sum(map(journal.size, TABLES)) >= LARGEST:
                raise StoreFullError(
                    f"{self._environment.folder}: the journal has its {LARGEST:,} bytes of what players "
                    "asked in contests, and takes more when the store can be written again: the log says why "
                    "it cannot"
                )
            return work(journal)

        return self._environment.write(work_with_room)

    def read(self, prefix: bytes = b"", *, largest: float = math.inf) -> list[Noted]:
        """Return what is noted under keys that begin with `prefix`, up to the entry that makes it `largest`.

        `largest` is in bytes.
        """
        entries: list[Noted] = []
        size = 0
        # Without the lock for writers: the store's writer asks within its own transaction.
        with self._environment.reading() as journal:
            for table in TABLES:
                for key, value in journal.scan(table, prefix):
                    if size >= largest:
                        return entries
                    entries.append(Noted(table, key, value))
                    size += len(key) + len(value)
        return entries

    def is_empty(self) -> bool:
        """Whether nothing is noted."""
        with self._environment.reading() as journal:
            return not any(journal.count(table) for table in TABLES)

    def remove(self, kept: list[Noted]) -> None:
        """Remove what the store has now; an entry that changed since stays."""

        def work(journal: Transaction) -> None:
            for table, key, value in kept:
                if journal.get(table, key) == value:
                    journal.delete(table, key)

        if kept:
            self._environment.write(work)


def _name_boot() -> str:
    """Return what names this start of the machine, empty where nothing does."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
