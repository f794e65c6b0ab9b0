"""The writing side: one thread runs commands, several to a transaction, and gives way to questions between
their steps.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import lmdb

from academy.store.environment import Environment, Transaction
from academy.store.errors import StoreBusyError, StoreClosedError
from academy.store.loaded_games import LoadedGames, WriteContext

# As long as some answers take.
_SECONDS: Final = 0.002


class WriterYield:
    """Rests between two steps of a command where questions were asked since the last time."""

    def __init__(self, rest: Callable[[float], None] = time.sleep) -> None:
        self._rest = rest
        self._asked: Callable[[], float] | None = None
        self._seen = 0.0

    def to(self, asked: Callable[[], float]) -> None:
        """From now on give way to questions; `asked` says how many there were so far, in any thread."""
        self._asked = asked

    def __call__(self) -> None:
        """End a step."""
        if self._asked is None:
            return
        asked = self._asked()
        if asked != self._seen:
            self._seen = asked
            self._rest(_SECONDS)


QUEUE_SIZE: Final = 1_024
GROUP_SIZE: Final = 256
# While more wait, or are committed together, commands are not held up for anybody.
_FEW: Final = 4

_T = TypeVar("_T")
_Result = TypeVar("_Result", covariant=True)
_log = logging.getLogger(__name__)


class Command(Protocol[_Result]):
    """A change to the store. It may run again when its transaction has to be repeated."""

    def execute(self, work: WriteContext) -> _Result:
        """Do it, or raise: then nothing of it is kept."""


@dataclass(slots=True)
class _Queued:
    command: Command[Any]
    future: "Future[Any]"
    result: Any = None
    fault: Exception | None = None


class Writer:
    """Takes commands from any thread and commits them in the order they came."""

    def __init__(
        self,
        environment: Environment,
        *,
        queue_size: int = QUEUE_SIZE,
        group_size: int = GROUP_SIZE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.giving_way = WriterYield()
        self._environment = environment
        self._group_size = group_size
        self._clock = clock
        self._games = LoadedGames()
        self._queue: queue.Queue[_Queued | None] = queue.Queue(queue_size)
        self._closing = threading.Lock()
        self._closed = False
        self._together = 0
        self._thread = threading.Thread(target=self._run, name="academy-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many commands wait."""
        return self._queue.qsize()

    def submit(self, command: Command[_T]) -> "Future[_T]":
        """Queue a command; the future has its result once that is on the disk.

        A command that is refused sets the refusal; a failing disk sets a StoreError for all commands of the
        commit. Cancelling works until the command's turn. Raises StoreBusyError when too many wait,
        StoreClosedError.
        """
        future: Future[_T] = Future()
        with self._closing:
            if self._closed:
                raise StoreClosedError("the store was closed")
            try:
                self._queue.put_nowait(_Queued(command, future))
            except queue.Full:
                raise StoreBusyError(f"{self._queue.maxsize} writes are waiting; try again later") from None
        return future

    def close(self) -> None:
        """Commit what waits, then stop."""
        with self._closing:
            first = not self._closed
            self._closed = True
        if first:
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            group: list[_Queued] = []
            taken = self._queue.get()
            while taken is not None:
                if taken.future.set_running_or_notify_cancel():
                    group.append(taken)
                if len(group) == self._group_size:
                    break
                try:
                    taken = self._queue.get_nowait()
                except queue.Empty:
                    break
            ended = taken is None
            if group:
                self._commit(group)

    def _commit(self, group: list[_Queued]) -> None:
        touched: set[str] = set()
        try:
            self._environment.write(lambda transaction: self._execute(transaction, group, touched))
        except Exception as fault:
            # Whatever it was, the callers must hear of it and the thread must live on.
            self._forget(touched)
            if not isinstance(fault, OSError):
                _log.exception("a group of writes failed")
            for queued in group:
                queued.future.set_exception(fault)
            return
        for queued in group:
            if queued.fault is None:
                queued.future.set_result(queued.result)
            else:
                queued.future.set_exception(queued.fault)

    def _execute(self, transaction: Transaction, group: list[_Queued], touched: set[str]) -> None:
        self._together = len(group)
        # A repeated transaction must not meet what the abandoned one did in memory.
        self._forget(touched)
        for queued in group:
            queued.result = queued.fault = None
            own: set[str] = set()
            try:
                with transaction.nested() as part:
                    work = WriteContext(part, self._games, self._clock(), self._give_way)
                    own = work.touched
                    queued.result = queued.command.execute(work)
            except lmdb.Error:
                touched |= own
                raise
            except Exception as fault:
                # The command's own refusal, or a mistake in it: its caller's business either way.
                self._forget(own)
                queued.fault = fault
            touched |= own

    def _give_way(self) -> None:
        if self._together <= _FEW and self.waiting <= _FEW:
            self.giving_way()

    def _forget(self, games: set[str]) -> None:
        for game_id in games:
            self._games.forget(game_id)
        games.clear()
