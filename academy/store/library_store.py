"""The store as the rest of ACADEMY uses it: commands write, functions of a transaction read.

Libraries are read through `replica.Replica`, which keeps them in memory.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from academy.store.environment import LARGEST_MAP, Environment, Transaction
from academy.store.errors import SchemaOutdatedError, StoreReadOnlyError
from academy.store.maintenance.upgrade import upgrade
from academy.store.replica import Listener, Replica
from academy.store.writer import QUEUE_SIZE, Command, Writer

_P = ParamSpec("_P")
_T = TypeVar("_T")


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
    ) -> None:
        """Open a folder, making it where it is missing, and bringing it up to date unless `read_only`.

        `largest_map` bounds its size in bytes, `queue_size` the writes that may wait; `clock` gives
        seconds since 1970. Raises StoreError, SchemaMismatchError.
        """
        try:
            self.environment = Environment(folder, read_only=read_only, largest_map=largest_map)
        except SchemaOutdatedError:
            if read_only:
                raise
            upgrade(folder, largest_map)
            self.environment = Environment(folder, largest_map=largest_map)
        self.clock = clock
        self._writer = None if read_only else Writer(self.environment, queue_size=queue_size, clock=clock)

    def close(self) -> None:
        """Commit what waits, then close. Closing twice is harmless."""
        if self._writer is not None:
            self._writer.close()
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
        return await asyncio.shield(asyncio.wrap_future(self.submit(command)))

    def give_way(self, count_questions: Callable[[], float]) -> None:
        """Have writes give way to questions; `count_questions` returns how many any thread has had."""
        if self._writer is not None:
            self._writer.giving_way.to(count_questions)

    @property
    def waiting_writes(self) -> int:
        """How many commands wait for the writer."""
        return 0 if self._writer is None else self._writer.waiting

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
