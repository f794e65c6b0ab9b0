"""Starts, kills and ends the server processes of one data folder, for trials."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from benchmarks.process_usage import children, own_bytes

# Longer than other work may keep the servers from the processor.
START_SECONDS: Final = 120.0
_DIED: Final = "process died; another takes its place"


class ServerProcesses:
    """One data folder and the server processes on it, each on a socket of its own."""

    def __init__(self, folder: Path, processes: int, options: Sequence[str] = ()) -> None:
        """Make the folder with its tokens and start the processes."""
        self.data = folder / "data"
        self._folder = folder
        self._options = options
        with Store(self.data) as store:
            self.arena_token = store.run(CreateToken("arena", Role.ARENA))[1]
            self.admin_token = store.run(CreateToken("admin", Role.ADMIN))[1]
        self.addresses: list[str] = []
        self.running: list[subprocess.Popen[str]] = []
        self._killed: int | None = None
        try:
            self._begin(processes)
        except BaseException:
            self.close()
            raise

    def _begin(self, processes: int) -> None:
        self.addresses = [f"unix:{self._folder / f'{number}.sock'}" for number in range(processes)]
        for number, address in enumerate(self.addresses):
            self.running.append(self._started(number, "--address", address))
        for process in self.running:
            _listening_at(process)

    def _started(self, number: int, *options: str) -> "subprocess.Popen[str]":
        with self._log(number).open("a") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "academy", "serve", "--data", str(self.data)),
                    *("--log-level", "warning"),
                    *options,
                    *self._options,
                ],
                stdout=subprocess.PIPE,
                stderr=log,
                stdin=subprocess.DEVNULL,
                text=True,
            )

    def _log(self, number: int) -> Path:
        return self._folder / f"{number}.log"

    def kill(self, chance: random.Random) -> str:
        """End one process as a loss of power would; return what it was."""
        self._killed = chance.randrange(len(self.running))
        _kill(self.running[self._killed])
        return "server"

    def restart(self) -> None:
        """Start what was killed again, unless the servers see to that themselves."""
        if self._killed is not None:
            process = self._started(self._killed, "--address", self.addresses[self._killed])
            self.running[self._killed] = process
            self._killed = None
            _listening_at(process)

    def faults(self) -> Iterator[str]:
        """Yield what ended without having been killed. Not between `kill` and `restart`."""
        for number, process in enumerate(self.running):
            if process.poll() is not None:
                yield f"server {number} ended by itself with {process.returncode}"

    def memory(self) -> int:
        """Bytes of memory that all processes have for themselves, the shared map left out."""
        return sum(own_bytes(process.pid) for process in self.running)

    def close(self) -> None:
        """End all processes."""
        for process in self.running:
            _kill(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SharedPortProcesses(ServerProcesses):
    """One `academy serve --processes`: a parent that replaces its children, and whose end is theirs."""

    def _begin(self, processes: int) -> None:
        self._orphans: list[int] = []
        self._processes = processes
        self._serve()

    def _serve(self) -> None:
        # Another port each time: the last one may be somebody else's by now.
        options = ("--address", "127.0.0.1:0", "--processes", str(self._processes))
        self.running = [self._started(0, *options)]
        address = _listening_at(self.running[0])
        # A caller stays with the process its connection has come to: several find more of them.
        self.addresses = [address] * self._processes

    def kill(self, chance: random.Random) -> str:
        """End the parent, once in three times, or one of its children."""
        children = self._children()
        if children and chance.random() < 2 / 3:
            handle = chance.choice(children)
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [])
            _close(children)
            return "child"
        # No caller may ask a stranger that gets the port next.
        self.addresses = [f"unix:{self._folder / 'nobody.sock'}"] * self._processes
        self._killed = 0
        # They drain while the next ones start.
        self._orphans += children
        _kill(self.running[0])
        return "parent"

    def restart(self) -> None:
        """Start a killed parent again; children are replaced by theirs."""
        if self._killed is not None:
            self._killed = None
            self._serve()

    def faults(self) -> Iterator[str]:
        """Yield what ended without having been killed, also a child that was replaced."""
        yield from super().faults()
        for line in self._log(0).read_text().splitlines():
            if _DIED in line and json.loads(line)["exit_code"] != -signal.SIGKILL:
                yield f"a child ended by itself: {line}"

    def close(self) -> None:
        """End all processes, also children whose parent was killed."""
        for process in self.running:
            if process.poll() is None:
                self._orphans += self._children()
        super().close()
        for orphan in self._orphans:
            # They drain when the system signals that their parent died.
            if not select.select([orphan], [], [], START_SECONDS)[0]:
                signal.pidfd_send_signal(orphan, signal.SIGKILL)
        _close(self._orphans)
        self._orphans = []

    def _children(self) -> list[int]:
        """Handles of the processes that serve now, which stay theirs when a number is given again."""
        handles = []
        for child in children(self.running[0].pid):
            try:
                # Not multiprocessing's own process, nor one that has ended.
                command = Path(f"/proc/{child}/cmdline").read_bytes()
                if command and b"resource_tracker" not in command:
                    handles.append(os.pidfd_open(child))
            except (ProcessLookupError, FileNotFoundError):
                continue
        return handles


def _listening_at(process: "subprocess.Popen[str]") -> str:
    """Wait until a server says where it listens, and return that."""
    assert process.stdout is not None
    hurry = threading.Timer(START_SECONDS, process.kill)
    hurry.start()
    line = process.stdout.readline()
    hurry.cancel()
    _, separator, rest = line.partition(" at ")
    if not separator:
        raise RuntimeError(f"a server did not start: {line!r}, exit status {process.poll()}")
    return rest.partition(";")[0]


def _kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _close(handles: list[int]) -> None:
    for handle in handles:
        os.close(handle)
