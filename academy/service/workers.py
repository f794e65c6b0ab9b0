"""Server processes on one port: started together, replaced when one dies or hangs, ended together and with
their parent.

A process whose event loop stands still keeps its connections and gets new ones. So each sends heartbeats over
a pipe (`HeartbeatSender`), and the parent kills one that is silent for too long (`Watchdog`).
"""

import asyncio
import ctypes
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final, Protocol

import structlog

from academy.wire.addresses import LARGEST_PORT, InvalidAddressError, ServerAddress

# Of the silence that is allowed, so many beats fit in: a busy machine may be late with most of them.
_BEATS: Final = 10
_AT_ONCE: Final = 4_096


class HeartbeatSender:
    """The end of the process that serves. Its beats begin once it does."""

    def __init__(self, pipe: Connection, allowed: float) -> None:
        """Beat often enough for so many seconds of silence to be allowed; 0: only once."""
        self._pipe = pipe
        self._between = allowed / _BEATS

    def begin(self) -> None:
        """Beat, now and then whenever the running event loop has come round to it."""
        os.set_blocking(self._pipe.fileno(), False)
        self._beat()

    def _beat(self) -> None:
        # Where nobody reads, enough is there to be read; who has gone needs none.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe.fileno(), b".")
        if self._between:
            asyncio.get_running_loop().call_later(self._between, self._beat)


class HeartbeatReceiver:
    """The end of the process that watches; `pipe` can be waited for."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.felt = False
        self.silent = 0.0

    def feel(self) -> bool:
        """Take the beats that are there, at least one; return False where the other end is closed."""
        if not os.read(self.pipe.fileno(), _AT_ONCE):
            return False
        self.felt, self.silent = True, 0.0
        return True


class Watchdog:
    """How long each of several has been silent, in seconds in which this process was awake.

    A machine that sleeps, or a container that is frozen, stops them all, and this process may be the first to
    go on. So of the time between two looks only the part counts in which it should have looked anyway.
    """

    def __init__(self, allowed: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow so many seconds of silence, by this clock; 0: any."""
        self._allowed = allowed
        self._clock = clock
        self._looked = clock()

    @property
    def between_looks(self) -> float | None:
        """The most seconds that may pass from one look to the next; None: any."""
        return self._allowed / _BEATS or None

    def too_silent(self, pulses: list[HeartbeatReceiver]) -> list[HeartbeatReceiver]:
        """Look once more: return those that have beaten, and then were silent for longer than is allowed."""
        now = self._clock()
        passed, self._looked = now - self._looked, now
        if self.between_looks is None:
            return []
        for pulse in pulses:
            pulse.silent += min(passed, self.between_looks)
        return [pulse for pulse in pulses if pulse.felt and pulse.silent > self._allowed]


_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(parent: int | None = None) -> None:
    """Have SIGTERM sent to this process when the one that started it dies (on Linux; elsewhere nothing).

    Who knows the parent's number gives it: the parent may have died before this is called.
    """
    if not sys.platform.startswith("linux"):
        return
    parent = parent or os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have died before the signal was asked for.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def signals(*numbers: signal.Signals) -> Iterator[int]:
    """Yield a file from which a byte can be read for every such signal, which ends the process no more.

    For the main thread. In force from the first line to the last, it leaves no moment at which a signal would
    cut short what has begun.
    """
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    # Written by the interpreter itself, so also while the main thread waits for something else.
    file_before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield reads
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(file_before)
        os.close(reads)
        os.close(writes)


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read; a reader sees all of it or nothing.

    A pipe or device cannot be replaced: it is written straight into, and as private as it was made.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


# One that dies at once is not started again and again without a pause.
_SECONDS_BETWEEN_STARTS: Final = 1.0
# LMDB trusts its pages: it stops the process, or goes astray in memory.
_OF_DAMAGE: Final = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS}
_log = structlog.get_logger()


class ServerProcessError(RuntimeError):
    """A server process ended before all of them served."""


class DataDamagedError(RuntimeError):
    """A server process died of the data it read: another one would die too."""


class ServerMain(Protocol):
    """What a process does: serve until SIGTERM, and call `ready` once it listens. Must be picklable.

    `ready` is called in an event loop, which from then on must not stand still.
    """

    def __call__(self, number: int, ready: Callable[[], None]) -> None:
        """Serve as the process of this number, from 0."""


@contextmanager
def shared_port(address: ServerAddress) -> Iterator[ServerAddress]:
    """Keep a port for processes that listen on it together; yields the address with the port's number.

    Raises InvalidAddressError where another server has it, or nobody can.
    """
    if address.path:
        raise InvalidAddressError(f"{address}: processes share a port, not a Unix socket; give host:port")
    try:
        with socket.socket(_resolved(address)[0], socket.SOCK_STREAM) as kept:
            # Bound but not listening, it is given no connections.
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            # Not shared at first: a stranger's server is not to be joined by chance. Nobody has port 0.
            kept.bind(_listened_on(address)[1] if address.port else _resolved(address)[1])
            yield address.with_port(kept.getsockname()[1])
    except OSError as error:
        raise InvalidAddressError(
            f"{address}: cannot listen there; another server may, or it is not this machine's address"
        ) from error


def own_ports(first: ServerAddress, count: int) -> list[ServerAddress]:
    """The addresses of so many processes, the first one's port and those after it (0: any for each).

    Raises InvalidAddressError where one of them cannot be listened on now.
    """
    if first.path:
        raise InvalidAddressError(
            f"{first}: processes need ports of their own, not a Unix socket; give host:port"
        )
    if first.port + count - 1 > LARGEST_PORT:
        raise InvalidAddressError(
            f"{first}: {count} processes need the ports up to {first.port + count - 1}, the last one is "
            f"{LARGEST_PORT}; give a smaller one"
        )
    addresses = [first.with_port(first.port and first.port + number) for number in range(count)]
    for number, address in enumerate(addresses):
        try:
            _listened_on(address)
        except OSError as error:
            raise InvalidAddressError(
                f"{address}: the metrics of process {number} cannot be served there ({error.strerror}); "
                f"give the first of {count} free ports"
            ) from error
    return addresses


def _listened_on(address: ServerAddress) -> tuple[socket.AddressFamily, Any]:
    """Listen on an address alone, for a moment; return the socket's family and name. Raises OSError."""
    family, name = _resolved(address)
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(name)
        alone.listen()
        return family, alone.getsockname()


def _resolved(address: ServerAddress) -> tuple[socket.AddressFamily, Any]:
    family, _, _, _, name = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return family, name


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start Python processes that import nothing from the current folder: spawning has no option for it."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@dataclass(slots=True)
class _Running:
    process: SpawnProcess
    pulse: HeartbeatReceiver
    started: float


class ServerProcesses:
    """Runs a number of processes until it is told to end; a second time is passed on to hurry them."""

    def __init__(
        self, work: ServerMain, count: int, damage: Callable[[], str] = lambda: "", hang_seconds: float = 0.0
    ) -> None:
        """Run `work`; `damage` says what is wrong with the data, once a process died as LMDB's do of that.

        One whose event loop has not turned for `hang_seconds` (0: any time) is killed and replaced.
        """
        self._damage = damage
        self._hang_seconds = hang_seconds
        self._watch = Watchdog(hang_seconds)
        self._work = work
        self._count = count
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[int, _Running] = {}
        self._due: dict[int, float] = {}
        self._served: set[int] = set()
        self._stopping = False

    def run(self, when_ready: Callable[[], None], told: int) -> None:
        """Start them all, call `when_ready` once they listen, and return when they have ended.

        A byte for each signal comes from the file `told` (`lifetime.signals`). Raises ServerProcessError
        where one ends before it listens, DataDamagedError where one dies of its data.
        """
        for number in range(self._count):
            self._start(number)
        try:
            while self._running or (self._due and not self._stopping):
                self._look(told, when_ready)
        finally:
            for each in self._running.values():
                each.process.terminate()
            for each in self._running.values():
                each.process.join()

    def _look(self, told: int, when_ready: Callable[[], None]) -> None:
        """Wait for whatever happens next, and see to it."""
        now = time.monotonic()
        waited_for: list[Any] = [told, *(each.process.sentinel for each in self._running.values())]
        waited_for += [each.pulse.pipe for each in self._running.values()]
        moments = [due - now for due in self._due.values()]
        if self._running and self._watch.between_looks is not None:
            moments.append(self._watch.between_looks)
        happened = wait(waited_for, max(0.0, min(moments)) if moments else None)
        if told in happened:
            self._stop(len(os.read(told, 64)))
        for number, each in list(self._running.items()):
            if each.pulse.pipe in happened:
                self._hear(number, each, when_ready)
            if each.process.sentinel in happened:
                self._bury(number, each)
        self._kill_hanging()
        for number, due in list(self._due.items()):
            if not self._stopping and due <= time.monotonic():
                del self._due[number]
                self._start(number)

    def _start(self, number: int) -> None:
        hears, says = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_work,
            args=(self._work, number, HeartbeatSender(says, self._hang_seconds)),
            name=f"academy server {number}",
        )
        with _safe_path():
            process.start()
        says.close()
        self._running[number] = _Running(process, HeartbeatReceiver(hears), time.monotonic())

    def _hear(self, number: int, each: _Running, when_ready: Callable[[], None]) -> None:
        if not each.pulse.feel():
            # It is dying; its end is told by itself.
            each.process.join()
        elif number not in self._served:
            self._served.add(number)
            if len(self._served) == self._count:
                when_ready()

    def _kill_hanging(self) -> None:
        silent = self._watch.too_silent([each.pulse for each in self._running.values()])
        for number, each in self._running.items():
            if each.pulse in silent:
                _log.error("process hangs and is killed", process=number, seconds=round(each.pulse.silent))
                # All that was acknowledged is on the disk. It would not hear of anything less.
                each.process.kill()
                # One that waits for a disk dies only then.
                each.pulse.silent = 0.0

    def _bury(self, number: int, each: _Running) -> None:
        each.process.join()
        each.pulse.pipe.close()
        del self._running[number]
        code = each.process.exitcode
        if self._stopping:
            # One that was not yet ready to end well is ended by the signal itself.
            if code not in (0, -signal.SIGTERM):
                _log.warning("process failed to end well", process=number, exit_code=code)
            return
        damage = self._damage() if code in _OF_DAMAGE else ""
        if damage:
            for other in self._running.values():
                # What it reads may lead it anywhere; all that was acknowledged is on the disk.
                other.process.kill()
            raise DataDamagedError(f"server process {number} ended with {code}: {damage}")
        if number not in self._served:
            raise ServerProcessError(f"server process {number} ended with {code} before it served")
        _log.error("process died; another takes its place", process=number, exit_code=code)
        self._due[number] = each.started + _SECONDS_BETWEEN_STARTS

    def _stop(self, signals: int) -> None:
        self._stopping = True
        for _ in range(signals):
            for each in self._running.values():
                each.process.terminate()


def _work(work: ServerMain, number: int, heart: HeartbeatSender) -> None:
    # A terminal's Ctrl-C reaches every process; the first one passes it on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    end_with_parent(parent.pid if parent else None)
    structlog.contextvars.bind_contextvars(process=number)
    work(number, heart.begin)
