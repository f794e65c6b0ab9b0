"""The store as the rest of ACADEMY uses it: commands write, functions of a transaction read.

Libraries are read through `replica.Replica`, which keeps them in memory.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from academy.store.consultation_journal import ConsultationJournal, Note
from academy.store.consultation_notes import StoredNotes, StoreNotes
from academy.store.environment import LARGEST_MAP, Environment, Transaction
from academy.store.errors import LogCutError, SchemaOutdatedError, StoreError, StoreReadOnlyError
from academy.store.maintenance.upgrade import as_written, upgrade
from academy.store.replica import Listener, Replica
from academy.store.shared_log import place
from academy.store.shared_log.address import LogAddress
from academy.store.writer import QUEUE_SIZE, Command, Writer

_P = ParamSpec("_P")
_T = TypeVar("_T")
_log = logging.getLogger(__name__)


@contextmanager
def _needing_nats(log: LogAddress) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "nats":
            raise
        raise StoreError(
            f"the log at {log} needs the client of NATS: pip install 'academy-arena[nats]'"
        ) from error


def find_log(log: LogAddress) -> None:
    """Connect to a log, and make it where it is missing, before anything is written here.

    Raises StoreError, LogUnavailableError.
    """
    with _needing_nats(log):
        from academy.store.shared_log.stream import LogStream

        LogStream(log).close()


def _begin_with_snapshot(folder: Path, log: LogAddress) -> None:
    with _needing_nats(log):
        from academy.store.shared_log.snapshots import fetch

        fetch(folder, log)


def _read_address(folder: Path) -> LogAddress:
    """Return the address of the log that a folder follows."""
    with Environment(folder, read_only=True) as environment, environment.reading() as transaction:
        known = place.log_of(transaction)
    assert known is not None  # as it was opened with it just now
    return known


def _check_has_read(folder: Path, log: LogAddress | None) -> None:
    """Check, before a folder is upgraded, that the earlier program has read what it wrote to a shared log."""
    with as_written(folder) as environment, environment.reading() as transaction:
        known = place.read(transaction)
    if known is not None:
        address = log or LogAddress.parse(known.address)
        with _needing_nats(address):
            from academy.store.shared_log.shared_writer import check_has_read

            check_has_read(address, known)


class Store:
    """An open data folder. Open it once a process, after any fork; its calls may come from any thread."""

    def __init__(
        self,
        folder: Path,
        *,
        read_only: bool = False,
        largest_map: int = LARGEST_MAP,
        queue_size: int = QUEUE_SIZE,
        clock: Callable[[], float] = time.time,
        log: LogAddress | None = None,
    ) -> None:
        """Open a folder, making it where it is missing, and bringing it up to date unless `read_only`.

        `largest_map` bounds its size in bytes, `queue_size` the writes that may wait; `clock` gives
        seconds since 1970. An empty folder that is given a `log` begins with a snapshot, if there is
        one, and follows the log from now on, also when it is opened without. One that the log was cut past
        begins with a snapshot, too. Raises StoreError, SchemaMismatchError.
        """
        if log is not None and not read_only and not (folder / "data.mdb").exists():
            _begin_with_snapshot(folder, log)
        self.clock = clock
        try:
            self._open(folder, read_only, largest_map, queue_size, log)
        except LogCutError as error:
            _log.warning("%s", error)
            _begin_with_snapshot(folder, log or _read_address(folder))
            self._open(folder, read_only, largest_map, queue_size, log)

    def _open(
        self, folder: Path, read_only: bool, largest_map: int, queue_size: int, log: LogAddress | None
    ) -> None:
        try:
            self.environment = Environment(folder, read_only=read_only, largest_map=largest_map)
        except SchemaOutdatedError:
            if read_only:
                raise
            _check_has_read(folder, log)
            upgrade(folder, largest_map)
            self.environment = Environment(folder, largest_map=largest_map)
        self._writer, self._journal = None, None
        if read_only:
            return
        try:
            self._journal = ConsultationJournal(folder)
            self._writer = self._make_writer(self._journal, queue_size, log)
            # Servers that were killed may have left some.
            self.keep_notes()
        except BaseException:
            # Also when interrupted: nobody has the store yet, to close it.
            self.close()
            raise

    def _make_writer(self, journal: ConsultationJournal, queue_size: int, log: LogAddress | None) -> Writer:
        log = log or self.read(place.log_of)
        if log is None:
            return Writer(self.environment, journal, queue_size=queue_size, clock=self.clock)
        with _needing_nats(log):
            from academy.store.shared_log.shared_writer import SharedWriter
        return SharedWriter(self.environment, journal, log, queue_size=queue_size, clock=self.clock)

    def close(self) -> None:
        """Commit what waits and what is noted, then close. Closing twice is harmless.

        Of many notes the rest stays noted for the next start.
        """
        if self._writer is not None:
            with suppress(StoreError):
                self.keep_notes()
            self._writer.close()
        if self._journal is not None:
            self._journal.close()
        self.environment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Writing

    def submit(self, command: Command[_T]) -> "Future[_T]":
        """Queue a command; see `Writer.submit`.

        Raises StoreBusyError, StoreClosedError, StoreReadOnlyError.
        """
        if self._writer is None:
            raise StoreReadOnlyError(f"{self.environment.folder}: was opened for reading only")
        return self._writer.submit(command)

    def run(self, command: Command[_T]) -> _T:
        """Do a command and return its result once it is on the disk. Raises like `submit` and the command."""
        return self.submit(command).result()

    async def write(self, command: Command[_T]) -> _T:
        """Do a command from an event loop; a caller who goes away does not undo it. Raises like `run`."""
        written = asyncio.wrap_future(self.submit(command))
        # Looked at, as asyncio logs errors that nobody has seen; `shield` does so even then, from 3.14 on.
        written.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([written])
        return written.result()

    def note(self, note: Note[_T]) -> _T:
        """Note what a player does in a contest, for all processes at once; see `consultation_journal`.

        Raises like the note, and StoreError.
        """
        if self._journal is None:
            raise StoreReadOnlyError(f"{self.environment.folder}: was opened for reading only")
        return self._journal.write(lambda journal: note.enter(journal, self.read))

    def keep_notes(self) -> "Future[None] | None":
        """Make all that is noted, by any process, part of the store; None where nothing is noted.

        What is not kept because of an error stays noted. Raises like `submit`.
        """
        journal = self._journal
        if journal is None or journal.is_empty():
            return None
        done: Future[None] = Future()

        def clear(keeping: "Future[StoredNotes]") -> None:
            # In the writer's thread, after the commit.
            try:
                kept = keeping.result()
                journal.remove(kept.noted)
                if kept.are_all:
                    done.set_result(None)
                else:
                    self.submit(StoreNotes()).add_done_callback(clear)
            except Exception as error:
                done.set_exception(error)

        self.submit(StoreNotes()).add_done_callback(clear)
        return done

    def give_way(self, count_questions: Callable[[], float]) -> None:
        """Let writes give way to questions; `count_questions` returns how many any thread has had."""
        if self._writer is not None:
            self._writer.giving_way.to(count_questions)

    def schedule_snapshots(self, every: int, *, cut: bool) -> None:
        """Let new servers of a shared log begin with a snapshot, made after `every` messages (0: never).

        With `cut` the log loses the messages that all snapshots hold.
        """
        if self._writer is not None:
            self._writer.schedule_snapshots(every, cut)

    @property
    def waiting_writes(self) -> int:
        """How many commands wait for the writer."""
        return 0 if self._writer is None else self._writer.waiting

    @property
    def follows_log(self) -> bool | None:
        """Whether the log that servers share is followed now; None where the folder has a log of its own."""
        return None if self._writer is None else self._writer.follows

    def catch_up(self, seconds: float) -> None:
        """Wait for all that other servers have written to a shared log by now.

        Asks NATS. Raises LogUnavailableError where that takes longer, or cannot be known.
        """
        if self._writer is not None:
            self._writer.catch_up(seconds)

    # Reading

    def read(
        self, reader: Callable[Concatenate[Transaction, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Return what a function reads in a transaction of its own. Raises like it, and StoreError."""
        with self.environment.reading() as transaction:
            return reader(transaction, *args, **kwargs)

    def follow(self, listener: Listener | None = None) -> Replica:
        """Return a new reader of libraries that follows what is committed, for use by one thread."""
        return Replica(self.environment, listener)
