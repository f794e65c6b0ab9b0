"""The nursery, as a run sees it: a process that workers are forked from, which has loaded what they need.

A worker that loads it for itself takes a seventh of a second of processor time more, and its guardian a third
of that.
"""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Final, Self, TypeAlias

# What Python, and the loader of its libraries, read when a process starts.
_READ_AT_A_START: Final = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "HOME", "PATH", "VIRTUAL_ENV")
# What guardians end with where the nursery has ended, which knew how they did.
NURSERY_LOST: Final = -signal.SIGTERM
# A worker to fork: its path for modules, its environment, its slot and its core. Its two descriptors follow,
# of its connection and of its note.
Hiring: TypeAlias = tuple[Sequence[str], Mapping[bytes, bytes], int, int | None]


class WorkerProcess:
    """A worker's guardian, which leads the worker's session and ends as the worker does."""

    def __init__(self, pid: int, program: "_Program") -> None:
        """Raises OSError."""
        self.pid: Final = pid
        self._program = program
        self._pidfd = os.pidfd_open(pid)
        self._exit_code: int | None = None

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, where it has not ended."""
        if self._exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)

    def ends_within(self, seconds: float | None) -> bool:
        """Whether it ends within some seconds (None: all that it takes)."""
        gone = select.poll()
        gone.register(self._pidfd, select.POLLIN)
        return bool(gone.poll(None if seconds is None else seconds * 1000))

    def reap(self) -> int:
        """Wait for its end and return its exit code; from then on its number may be another process's."""
        if self._exit_code is None:
            self._exit_code = self._program.reap(self.pid)
            os.close(self._pidfd)
        return self._exit_code


class _Program:
    """The nursery's process, and the connection to it."""

    def __init__(self) -> None:
        """Start it. Raises OSError."""
        # A control file may name variables that workers are not to have; so most are sent with each worker.
        self._variables = {
            name: value for name, value in os.environ.items() if name.startswith(_READ_AT_A_START)
        }
        with contextlib.ExitStack() as undo:
            self.socket, theirs = map(undo.enter_context, socket.socketpair())
            self.connection: Connection = undo.enter_context(Connection(os.dup(self.socket.fileno())))
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "arena.workers.forking"),
                    *map(str, (theirs.fileno(), os.getpid())),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=self._variables,
                start_new_session=True,
            )
            undo.pop_all()
            theirs.close()
        with contextlib.suppress(OSError):
            self.connection.send(sys.path)

    @property
    def outdated(self) -> bool:
        """Whether workers would have a variable at their start that this process has no longer."""
        return not self._variables.keys() <= os.environ.keys()

    def fork(self, hiring: Hiring, descriptors: Sequence[int]) -> int:
        """Have a worker forked; its guardian's process id. Raises OSError."""
        try:
            self.connection.send(hiring)
            socket.send_fds(self.socket, [b"\n"], descriptors)
            answer: int | OSError = self.connection.recv()
        except (EOFError, ConnectionError):
            raise ConnectionError("the process that forks them has ended") from None
        if isinstance(answer, OSError):
            raise answer
        return answer

    def reap(self, pid: int) -> int:
        """Wait for the end of a process that it has forked, and return its exit code."""
        try:
            self.connection.send(pid)
            code: int = self.connection.recv()
        except (EOFError, OSError):
            return NURSERY_LOST
        return code

    def end(self) -> None:
        self.connection.close()
        self.socket.close()
        self._process.kill()
        self._process.wait()


class Nursery:
    """Forks workers until it is closed; they end with it. One that is killed is replaced.

    While it loads what workers need, this process can load what it needs itself.
    """

    def __init__(self) -> None:
        """Start it in a thread that lives as long as workers are needed, and hires and reaps all of them."""
        self._program: _Program | None = None
        # Where no process can be started now, `hire` tries again, and says why if it fails.
        with contextlib.suppress(OSError):
            self._program = _Program()

    def hire(self, slot: int, core: int | None, *descriptors: int) -> WorkerProcess:
        """Have a worker forked that gets descriptors, of its connection and its note. Raises OSError."""
        hiring: Hiring = (sys.path, dict(os.environb), slot, core)
        if self._program is not None and self._program.outdated:
            self.close()
        try:
            return self._fork(hiring, descriptors)
        except ConnectionError:
            self.close()
            return self._fork(hiring, descriptors)

    def _fork(self, hiring: Hiring, descriptors: Sequence[int]) -> WorkerProcess:
        program = self._program = self._program or _Program()
        pid = program.fork(hiring, descriptors)
        try:
            return WorkerProcess(pid, program)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            program.reap(pid)
            raise

    def close(self) -> None:
        """End it."""
        program, self._program = self._program, None
        if program is not None:
            program.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
