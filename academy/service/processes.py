"""Several server processes on one port: started together, replaced when one dies or hangs, ended together.

The system spreads connections over the processes (SO_REUSEPORT), not calls: a caller stays with one of them.
"""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Protocol

import structlog

from academy.service.addresses import LARGEST_PORT, Address, InvalidAddress
from academy.service.heartbeats import Heart, Pulse, Watch
from academy.service.lifetime import end_with_parent

# One that dies at once is not started again and again without a pause.
_SECONDS_BETWEEN_STARTS: Final = 1.0
# Another server looks at its port and binds it within milliseconds, on a machine that has time for it.
_SECONDS_TO_BEGIN: Final = 5.0
_SECONDS_BETWEEN_CLAIMS: Final = 0.02
# LMDB trusts its pages: it stops the process, or goes astray in memory.
_OF_DAMAGE: Final = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS}
_log = structlog.get_logger()


class ProcessFailed(RuntimeError):
    """A server process ended before all of them served."""


class DataDamaged(RuntimeError):
    """A server process died of the data it read: another one would die too."""


class Work(Protocol):
    """What a process does: serve until SIGTERM, and call `ready` once it listens. Must be picklable.

    `ready` is called in an event loop, which from then on must not stand still.
    """

    def __call__(self, number: int, ready: Callable[[], None]) -> None:
        """Serve as the process of this number, from 0."""


@contextmanager
def shared_port(address: Address) -> Iterator[Address]:
    """Keep a port for processes that listen on it together; yields the address with the port's number.

    Raises InvalidAddress where another server has it, or nobody can.
    """
    if address.path:
        raise InvalidAddress(f"{address}: processes share a port, not a Unix socket; give host:port")
    try:
        with socket.socket(_resolved(address)[0], socket.SOCK_STREAM) as kept:
            # Bound but not listening, it is given no connections.
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if address.port:
                with _claimed(address.port):
                    # Not shared at first: a stranger's server is not to be joined by chance.
                    kept.bind(_listened_on(address)[1])
            else:
                # The system chooses a port that nobody has.
                kept.bind(_resolved(address)[1])
            yield address.with_port(kept.getsockname()[1])
    except OSError as error:
        raise InvalidAddress(
            f"{address}: cannot listen there; another server may, or it is not this machine's address"
        ) from error


def own_ports(first: Address, count: int) -> list[Address]:
    """The addresses of so many processes, the first one's port and those after it (0: any for each).

    Raises InvalidAddress where one of them cannot be listened on now.
    """
    if first.path:
        raise InvalidAddress(f"{first}: processes need ports of their own, not a Unix socket; give host:port")
    if first.port + count - 1 > LARGEST_PORT:
        raise InvalidAddress(
            f"{first}: {count} processes need the ports up to {first.port + count - 1}, the last one is "
            f"{LARGEST_PORT}; give a smaller one"
        )
    addresses = [first.with_port(first.port and first.port + number) for number in range(count)]
    for number, address in enumerate(addresses):
        try:
            _listened_on(address)
        except OSError as error:
            raise InvalidAddress(
                f"{address}: the metrics of process {number} cannot be served there ({error.strerror}); "
                f"give the first of {count} free ports"
            ) from error
    return addresses


@contextmanager
def _claimed(port: int) -> Iterator[None]:
    """Let no other server begin at this port meanwhile; wait for one that does. Raises OSError after a while.

    Between the look at a port and its binding another server could look, too, whatever name it has for the
    address, or at all of the machine's. A name in Linux's abstract namespace of sockets can be had once,
    leaves no file, and goes with its process.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as claim:
        deadline = time.monotonic() + _SECONDS_TO_BEGIN
        while True:
            try:
                claim.bind(f"\0academy server begins at port {port}")
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(_SECONDS_BETWEEN_CLAIMS)
        yield


def _listened_on(address: Address) -> tuple[socket.AddressFamily, Any]:
    """Listen on an address alone, for a moment; return the socket's family and name. Raises OSError."""
    family, name = _resolved(address)
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(name)
        alone.listen()
        return family, alone.getsockname()


def _resolved(address: Address) -> tuple[socket.AddressFamily, Any]:
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
    pulse: Pulse
    started: float


class ServerProcesses:
    """Runs a number of processes until it is told to end; a second time is passed on to hurry them."""

    def __init__(
        self, work: Work, count: int, damage: Callable[[], str] = lambda: "", hang_seconds: float = 0.0
    ) -> None:
        """Run `work`; `damage` says what is wrong with the data, once a process died as LMDB's do of that.

        One whose event loop has not turned for `hang_seconds` (0: any time) is killed and replaced.
        """
        self._damage = damage
        self._hang_seconds = hang_seconds
        self._watch = Watch(hang_seconds)
        self._work = work
        self._count = count
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[int, _Running] = {}
        self._due: dict[int, float] = {}
        self._served: set[int] = set()
        self._stopping = False

    def run(self, when_ready: Callable[[], None], told: int) -> None:
        """Start them all, call `when_ready` once they listen, and return when they have ended.

        A byte for each signal comes from the file `told` (`lifetime.signals`). Raises ProcessFailed where one
        ends before it listens, DataDamaged where one dies of its data.
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
            args=(self._work, number, Heart(says, self._hang_seconds)),
            name=f"academy server {number}",
        )
        with _safe_path():
            process.start()
        says.close()
        self._running[number] = _Running(process, Pulse(hears), time.monotonic())

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
            raise DataDamaged(f"server process {number} ended with {code}: {damage}")
        if number not in self._served:
            raise ProcessFailed(f"server process {number} ended with {code} before it served")
        _log.error("process died; another takes its place", process=number, exit_code=code)
        self._due[number] = each.started + _SECONDS_BETWEEN_STARTS

    def _stop(self, signals: int) -> None:
        self._stopping = True
        for _ in range(signals):
            for each in self._running.values():
                each.process.terminate()


def _work(work: Work, number: int, heart: Heart) -> None:
    # A terminal's Ctrl-C reaches every process; the first one passes it on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    end_with_parent(parent.pid if parent else None)
    structlog.contextvars.bind_contextvars(process=number)
    work(number, heart.begin)
