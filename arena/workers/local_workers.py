"""Playing games in worker processes on this machine, as many at a time as there are workers."""

import contextlib
import select
import signal
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Final

from academy.wire.open_files import allow_open_files
from arena.jobs import GameJob, GameResult
from arena.match.game import GameProgress
from arena.players.process_tree import kill_session, signal_name
from arena.workers.cores import Core
from arena.workers.guardian import AT_ONCE
from arena.workers.interface import WorkerLost, Workers, WorkersError
from arena.workers.nursery import Nursery, WorkerProcess
from arena.workers.worker import WaitNote, make_interrupted_result

STOP_SECONDS: Final = 5.0
# How much later than its time limit a player may be interrupted by the worker itself.
GRACE_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5
# How long a machine that can start no process now is given.
_HIRE_SECONDS: Final = 5.0


# Its connection, its note (two), its process and its core.
_FILES_OF_A_WORKER: Final = 5
# The results, the logs and what a run needs besides.
_FILES_OF_A_RUN: Final = 64


def _make_room(size: int) -> None:
    """Raise this process's limit where that many workers need it. Raises WorkersError."""
    needed = size * _FILES_OF_A_WORKER + _FILES_OF_A_RUN
    # Players that dial in have connections as well. It is no larger, as players inherit it.
    files = allow_open_files(2 * needed)
    if files < needed:
        raise WorkersError(
            f"{size} games at a time need about {needed} open files, and this process may have {files}: "
            f"raise its limit (`ulimit -n {needed}`), or play fewer games at a time (--parallel)"
        )


@dataclass
class _Worker:
    process: WorkerProcess
    connection: Connection
    slot: int
    note: WaitNote
    core: Core | None
    job: GameJob | None = None
    started: float = 0.0
    progress: list[GameProgress] = field(default_factory=list)

    def end(self, seconds: float) -> int:
        """Wait for the process to end, kill it and what it leaves if need be; return its exit code."""
        if self.connection.closed:
            return self.process.reap()
        if not self.process.ends_within(seconds):
            self.process.send_signal(signal.SIGKILL)
            self.process.ends_within(None)
        # First, as the next step opens files itself, of which this process may have no others left.
        self.connection.close()
        self.note.close()
        if self.core is not None:
            self.core.close()
        kill_session(self.process.pid)
        return self.process.reap()


class LocalWorkers(Workers):
    """`size` worker processes on this machine; each plays one game at a time with the engines beside it.

    With `pin`, each worker and its engines keep to one core, the least taken one: 10 to 20 times the
    speed for fast single-threaded engines, the wrong thing for engines with threads of their own.

    A worker's end costs only the game it played, and the worker is replaced. A worker whose player
    cannot be interrupted is ended; the player loses the game. Workers end when the
    thread that started them ends, in any way, and kill their engines. Each leads a session, in
    which its engines stay, so that what a killed worker leaves behind can be found and killed.
    """

    def __init__(
        self, size: int, *, pin: bool = False, first_slot: int = 0, nursery: Nursery | None = None
    ) -> None:
        """Players see the number of their worker, from `first_slot`, as GOMILL_SLOT; those of a single worker
        see none with NO_SLOT. Workers are forked from a `nursery` of the caller's, which began to load
        before, or from their own.

        Raises WorkersError where this machine cannot start that many processes.
        """
        if size < 1:
            raise ValueError(f"{size} workers: there must be at least one")
        _make_room(size)
        self._first_slot = first_slot
        self._pin = pin
        self._waiting: deque[GameJob] = deque()
        self._lost: deque[GameResult | WorkerLost] = deque()
        self._workers: list[_Worker] = []
        # Those that play, by the descriptors of their connections, which are waited for.
        self._busy: dict[int, _Worker] = {}
        self._answers = select.poll()
        self._own = contextlib.ExitStack()
        self._nursery = nursery or self._own.enter_context(Nursery())
        try:
            for slot in range(size):
                self._workers.append(self._hire(slot))
        except WorkersError:
            self.stop()
            raise

    @property
    def size(self) -> int:
        """How many games can be in progress at a time."""
        return len(self._workers)

    def submit(self, job: GameJob) -> None:
        """Hand in a game. It waits its turn where all workers are busy."""
        self._waiting.append(job)
        self._assign()

    def next_result(self, timeout: float) -> GameResult | WorkerLost | None:
        """The next finished game, in the order in which they finish.

        None when there is none after `timeout` seconds, or none in hand.
        """
        deadline = time.monotonic() + timeout
        while not self._lost and self._busy:
            remaining = max(0.0, deadline - time.monotonic())
            ready = self._answers.poll(1000 * min(remaining, _LOOK_SECONDS))
            if not ready:
                for worker in self._busy.values():
                    if worker.note.overdue(GRACE_SECONDS):
                        worker.process.send_signal(AT_ONCE)
                if time.monotonic() >= deadline:
                    return None
                continue
            worker = self._busy[ready[0][0]]
            try:
                received: GameResult | WorkerLost | GameProgress = worker.connection.recv()
            except (EOFError, OSError):
                self._replace(worker.slot)
                self._assign()
                continue
            if isinstance(received, GameProgress):
                worker.progress.append(received)
                continue
            self._release(worker)
            self._assign()
            return received
        return self._lost.popleft() if self._lost else None

    def stop(self) -> None:
        """Interrupt all games at once; workers that don't end within STOP_SECONDS are killed."""
        self._waiting.clear()
        self._lost.clear()
        for worker in self._workers:
            worker.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for worker in self._workers:
            worker.end(max(0.0, deadline - time.monotonic()))
        self._workers.clear()
        self._busy.clear()
        self._own.close()

    def _hire(self, slot: int) -> _Worker:
        """Start a worker. Raises WorkersError."""
        deadline = time.monotonic() + _HIRE_SECONDS
        while True:
            try:
                return self._start(slot)
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise WorkersError(
                        f"no process can be started to play games in ({error}): allow more processes and "
                        "open files (`ulimit -u`, `ulimit -n`), free memory, or play fewer games at a time "
                        "(--parallel); the same command goes on"
                    ) from error
                time.sleep(_LOOK_SECONDS)

    def _start(self, slot: int) -> _Worker:
        with contextlib.ExitStack() as undo:
            note = WaitNote.new()
            undo.callback(note.close)
            core = Core() if self._pin else None
            if core is not None:
                undo.callback(core.close)
            ours, theirs = socket.socketpair()
            connection: Connection = Connection(ours.detach())
            undo.callback(connection.close)
            with theirs:
                number = None if core is None else core.number
                process = self._nursery.hire(
                    self._first_slot + slot, number, theirs.fileno(), note.descriptor
                )
            undo.pop_all()
            return _Worker(process, connection, slot, note, core)

    def _assign(self) -> None:
        for slot, worker in enumerate(self._workers):
            if worker.job is None and self._waiting:
                job = self._waiting.popleft()
                # Its end may not have been noticed while it was idle: then the game goes to the next.
                if not self._hand_over(worker, job) and not self._hand_over(self._replace(slot), job):
                    self._lost.append(WorkerLost(job.game_id, "no worker can be started", job.attempt))

    def _replace(self, slot: int) -> _Worker:
        """Put a new worker in the place of one that has ended; what it played is lost."""
        worker = self._workers[slot]
        # It has ended before where no other could be started in its place.
        overdue = None if worker.connection.closed else worker.note.overdue(GRACE_SECONDS)
        job = worker.job
        if job is not None:
            self._release(worker)
        code = worker.end(STOP_SECONDS)
        if job is not None and overdue is not None:
            seconds = time.monotonic() - worker.started
            try:
                self._lost.append(
                    make_interrupted_result(job, worker.progress, overdue, time.time() - seconds, seconds)
                )
            except Exception as error:
                # Referees are other people's code: any exception of theirs costs one game, here, too.
                self._lost.append(WorkerLost(job.game_id, f"{type(error).__name__}: {error}", job.attempt))
        elif job is not None:
            how = f"exited with status {code}" if code >= 0 else f"was killed by {signal_name(-code)}"
            self._lost.append(WorkerLost(job.game_id, f"the worker that played it {how}", job.attempt))
        self._workers[slot] = self._hire(slot)
        return self._workers[slot]

    def _hand_over(self, worker: _Worker, job: GameJob) -> bool:
        try:
            worker.connection.send(job)
        except OSError:
            return False
        worker.job, worker.started, worker.progress = job, time.monotonic(), []
        self._busy[worker.connection.fileno()] = worker
        self._answers.register(worker.connection.fileno(), select.POLLIN)
        return True

    def _release(self, worker: _Worker) -> None:
        worker.job = None
        del self._busy[worker.connection.fileno()]
        self._answers.unregister(worker.connection.fileno())
