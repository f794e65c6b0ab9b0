"""Server processes on one port. They start and end together; one that dies or hangs is replaced.

A process whose event loop hangs keeps its connections and gets new ones. So each sends heartbeats over
a pipe (`HeartbeatSender`), and the parent kills one that is silent for too long (`Watchdog`).
"""

import asyncio
import ctypes
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Protocol

import structlog

from academy.wire.addresses import LARGEST_PORT, InvalidAddressError, ServerAddress

# The number of beats in the allowed silence: a busy machine may be late with most of them.
_BEATS: Final = 10
_AT_ONCE: Final = 4_096


class HeartbeatSender:
    """The serving process's end of the pipe."""

    def __init__(self, pipe: Connection, allowed: float) -> None:
        """Beat often enough for `allowed` seconds of silence; 0: only once."""
        self._pipe = pipe
        self._between = allowed / _BEATS

    def begin(self) -> None:
        """Beat now, and again from the running event loop."""
        os.set_blocking(self._pipe.fileno(), False)
        self._beat()

    def _beat(self) -> None:
        # A full pipe has enough beats to read; a closed one needs none.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(self._pipe.fileno(), b".")
        if self._between:
            asyncio.get_running_loop().call_later(self._between, self._beat)


class HeartbeatReceiver:
    """The watching process's end of the pipe, for which `multiprocessing.connection.wait` can wait."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.has_beaten = False
        self.silent = 0.0

    def read(self) -> bool:
        """Read all beats, at least one; return False if the other end is closed."""
        if not os.read(self.pipe.fileno(), _AT_ONCE):
            return False
        self.has_beaten, self.silent = True, 0.0
        return True


class Watchdog:
    """Measures how long each process has been silent while this one was awake.

    A machine that sleeps, or a container that is frozen, stops all processes, and this one may be the first
    to continue. So the time between two looks counts only up to the interval between them.
    """

    def __init__(self, allowed: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow `allowed` seconds of silence, by this clock; 0: any."""
        self._allowed = allowed
        self._clock = clock
        self._looked = clock()

    @property
    def between_looks(self) -> float | None:
        """The most seconds that may pass from one look to the next; None: any."""
        return self._allowed / _BEATS or None

    def too_silent(self, heartbeats: list[HeartbeatReceiver]) -> list[HeartbeatReceiver]:
        """Look once more: return those that have beaten before, and are silent for longer than allowed."""
        now = self._clock()
        passed, self._looked = now - self._looked, now
        if self.between_looks is None:
            return []
        for heartbeat in heartbeats:
            heartbeat.silent += min(passed, self.between_looks)
        return [beat for beat in heartbeats if beat.has_beaten and beat.silent > self._allowed]


_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(parent: int | None) -> None:
    """Have SIGTERM sent to this process when its parent dies, which may have happened before this call.

    None: the parent's number is not known.
    """
    parent = parent or os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have died before the signal was asked for.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def signals(*numbers: signal.Signals) -> Iterator[int]:
    """Yield a file that gets a byte for each such signal, which then does not end the process.

    For the main thread.
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


# The pause for a process that dies at once, again and again.
_SECONDS_BETWEEN_STARTS: Final = 1.0
# LMDB trusts its pages: damaged ones abort the process, or lead it to foreign memory.
_OF_DAMAGE: Final = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS}
_log = structlog.get_logger()


class ServerProcessError(RuntimeError):
    """A server process ended before all of them served."""


class DataDamagedError(RuntimeError):
    """A server process died because of damaged data: a new one would die too."""


class ServerMain(Protocol):
    """The work of a process: serve until SIGTERM, and call `ready` once it listens. Must be picklable.

    `ready` is called in an event loop, which must not block from then on.
    """

    def __call__(self, number: int, ready: Callable[[], None]) -> None:
        """Serve as the process of this number, from 0."""


@contextmanager
def shared_port(address: ServerAddress) -> Iterator[ServerAddress]:
    """Reserve a port for processes that listen on it together; yields the address with the port's number.

    Raises InvalidAddressError if another server has it, or if it cannot be had.
    """
    if address.path:
        raise InvalidAddressError(f"{address}: processes share a port, not a Unix socket; give host:port")
    try:
        with socket.socket(_resolve(address)[0], socket.SOCK_STREAM) as kept:
            # A socket that is bound but does not listen gets no connections.
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            # Tried first without sharing: processes must not join a stranger's server by chance.
            # Port 0 is always free.
            kept.bind(_try_to_listen(address)[1] if address.port else _resolve(address)[1])
            yield address.with_port(kept.getsockname()[1])
    except OSError as error:
        raise InvalidAddressError(
            f"{address}: cannot listen there; another server may, or it is not this machine's address"
        ) from error


def own_ports(first: ServerAddress, count: int) -> list[ServerAddress]:
    """Return the addresses of `count` processes: the first port and those after it (0: any for each).

    Raises InvalidAddressError if one of them is not free now.
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
            _try_to_listen(address)
        except OSError as error:
            raise InvalidAddressError(
                f"{address}: the metrics of process {number} cannot be served there ({error.strerror}); "
                f"give the first of {count} free ports"
            ) from error
    return addresses


def _try_to_listen(address: ServerAddress) -> tuple[socket.AddressFamily, Any]:
    """Listen for a moment, without sharing; return the socket's family and name. Raises OSError."""
    family, name = _resolve(address)
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(name)
        alone.listen()
        return family, alone.getsockname()


def _resolve(address: ServerAddress) -> tuple[socket.AddressFamily, Any]:
    family, _, _, _, name = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return family, name


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start Python processes that import nothing from the current folder."""
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
    heartbeat: HeartbeatReceiver
    started: float


class ServerProcesses:
    """Runs a number of processes until a signal ends them; a second signal hurries them."""

    def __init__(
        self, work: ServerMain, count: int, damage: Callable[[], str] = lambda: "", hang_seconds: float = 0.0
    ) -> None:
        """Run `work`; `damage` describes damaged data after a process died of a signal that LMDB causes.

        A process whose event loop hangs for `hang_seconds` (0: never) is killed and replaced.
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

    def run(self, when_ready: Callable[[], None], signals: int) -> None:
        """Start all processes, call `when_ready` once they listen, and return when they have ended.

        The file `signals` gives a byte for each signal. Raises ServerProcessError if a process ends before it
        listens, DataDamagedError if one dies of damaged data.
        """
        for number in range(self._count):
            self._start(number)
        try:
            while self._running or (self._due and not self._stopping):
                self._handle_event(signals, when_ready)
        finally:
            for server in self._running.values():
                server.process.terminate()
            for server in self._running.values():
                server.process.join()

    def _handle_event(self, signals: int, when_ready: Callable[[], None]) -> None:
        """Wait for the next event and handle it."""
        now = time.monotonic()
        waited_for: list[Any] = [signals, *(server.process.sentinel for server in self._running.values())]
        waited_for += [server.heartbeat.pipe for server in self._running.values()]
        moments = [due - now for due in self._due.values()]
        if self._running and self._watch.between_looks is not None:
            moments.append(self._watch.between_looks)
        happened = wait(waited_for, max(0.0, min(moments)) if moments else None)
        if signals in happened:
            self._stop(len(os.read(signals, 64)))
        for number, server in list(self._running.items()):
            if server.heartbeat.pipe in happened:
                self._read_beats(number, server, when_ready)
            if server.process.sentinel in happened:
                self._handle_end(number, server)
        self._kill_hanging()
        for number, due in list(self._due.items()):
            if not self._stopping and due <= time.monotonic():
                del self._due[number]
                self._start(number)

    def _start(self, number: int) -> None:
        hears, says = self._context.Pipe(duplex=False)
        process = self._context.Process(
            target=_run_process,
            args=(self._work, number, HeartbeatSender(says, self._hang_seconds)),
            name=f"academy server {number}",
        )
        with _safe_path():
            process.start()
        says.close()
        self._running[number] = _Running(process, HeartbeatReceiver(hears), time.monotonic())

    def _read_beats(self, number: int, server: _Running, when_ready: Callable[[], None]) -> None:
        if not server.heartbeat.read():
            # It is dying; its sentinel reports the end.
            server.process.join()
        elif number not in self._served:
            self._served.add(number)
            if len(self._served) == self._count:
                when_ready()

    def _kill_hanging(self) -> None:
        silent = self._watch.too_silent([server.heartbeat for server in self._running.values()])
        for number, server in self._running.items():
            if server.heartbeat in silent:
                seconds = round(server.heartbeat.silent)
                _log.error("process hangs and is killed", process=number, seconds=seconds)
                # Acknowledged writes are on the disk. A hanging process would not react to SIGTERM.
                server.process.kill()
                # A process that waits for a disk dies only after that.
                server.heartbeat.silent = 0.0

    def _handle_end(self, number: int, server: _Running) -> None:
        server.process.join()
        server.heartbeat.pipe.close()
        del self._running[number]
        code = server.process.exitcode
        if self._stopping:
            # The signal itself ends a process that did not yet handle it.
            if code not in (0, -signal.SIGTERM):
                _log.warning("process failed to end well", process=number, exit_code=code)
            return
        damage = self._damage() if code in _OF_DAMAGE else ""
        if damage:
            for other in self._running.values():
                # Damaged data may mislead it; acknowledged writes are on the disk.
                other.process.kill()
            raise DataDamagedError(f"server process {number} ended with {code}: {damage}")
        if number not in self._served:
            raise ServerProcessError(f"server process {number} ended with {code} before it served")
        _log.error("process died; another takes its place", process=number, exit_code=code)
        self._due[number] = server.started + _SECONDS_BETWEEN_STARTS

    def _stop(self, signals: int) -> None:
        self._stopping = True
        for _ in range(signals):
            for server in self._running.values():
                server.process.terminate()


def _run_process(work: ServerMain, number: int, heartbeat: HeartbeatSender) -> None:
    # A terminal's Ctrl-C reaches every process; the first one passes it on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    end_with_parent(parent.pid if parent else None)
    structlog.contextvars.bind_contextvars(process=number)
    work(number, heartbeat.begin)
