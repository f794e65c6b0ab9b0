"""Competitions that run: each in a child process, so that none can hurt another or the service.

They outlive a service that is killed; their locks show whether they run, not this module.
"""

import asyncio
import fcntl
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from arena.lobby.errors import LobbyClosingError, TooManyError
from arena.runner.exit_status import ExitStatus
from arena.runner.files import CompetitionFiles
from arena.runner.remote_players import LOBBY_VARIABLE
from arena.service.errors import AlreadyRunningError

MAX_RUNS: Final = 32
_LAST_WORDS: Final = 2_000
# How long the output of a run becomes, in bytes, and how often it is looked at.
_MOST_OUTPUT: Final = 1 << 20
_TRIM_SECONDS: Final = 60.0


@dataclass
class _Run:
    process: asyncio.subprocess.Process
    output: IO[bytes]
    waiting: asyncio.Task[None]
    interrupted: bool = False


@dataclass(frozen=True)
class LastRun:
    """How a run ended: its exit status, and its last output."""

    status: int
    words: str


class Runs:
    """The child processes of one service. Use it within one event loop."""

    def __init__(self, lobby: Path) -> None:
        """Remote players of the competitions are found in the lobby of this socket."""
        self._lobby = str(lobby)
        self._runs: dict[Path, _Run] = {}
        self._ended: dict[Path, LastRun] = {}
        self._starting: set[Path] = set()
        self._is_closing = False
        # All that have ended, by exit status.
        self.ended: Counter[int] = Counter()

    def running(self, control: Path) -> bool:
        """Whether a child of this service runs the competition."""
        return control in self._runs or control in self._starting

    def __len__(self) -> int:
        """How many run."""
        return len(self._runs)

    def last(self, control: Path) -> LastRun | None:
        """How the competition's last run ended, None where this service has run none."""
        return self._ended.get(control)

    def forget(self, control: Path) -> None:
        """Forget how the competition's last run ended."""
        self._ended.pop(control, None)

    async def start(self, control: Path, options: Mapping[str, int], withheld: Collection[str] = ()) -> None:
        """Start a run, with options of `arena run` and without the `withheld` variables.

        Raises AlreadyRunningError, TooManyError, LobbyClosingError and OSError.
        """
        # A caller was let in earlier, and may have waited for files.
        self._refuse_if_closing()
        if self.running(control):
            raise AlreadyRunningError(f"the competition {control.stem} is already running")
        if len(self._runs) + len(self._starting) >= MAX_RUNS:
            raise TooManyError(f"{MAX_RUNS} competitions are running already", competitions=MAX_RUNS)
        # Others may ask for the same while the process is made.
        self._starting.add(control)
        try:
            await self._begin(control, options, withheld)
        finally:
            self._starting.discard(control)

    async def _begin(self, control: Path, options: Mapping[str, int], withheld: Collection[str]) -> None:
        # The run itself would be too late: somebody may ask it to stop while it is loading.
        CompetitionFiles(control).forget_stop()
        words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
        # No pipe, which would end with the service.
        output = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed when the run has ended
        # The run writes on at the end, wherever this process reads.
        fcntl.fcntl(output, fcntl.F_SETFL, os.O_APPEND)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "arena.cli", "run", "--quiet", *words, str(control)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={name: value for name, value in os.environ.items() if name not in withheld}
            | {LOBBY_VARIABLE: self._lobby},
            start_new_session=True,
        )
        self._ended.pop(control, None)
        waiting = asyncio.create_task(self._await_end(control))
        self._runs[control] = _Run(process, output, waiting)
        if self._is_closing:
            # It was being made when the others were interrupted.
            await self.interrupt(control)
            self._refuse_if_closing()

    def _refuse_if_closing(self) -> None:
        if self._is_closing:
            raise LobbyClosingError("the service is closing")

    async def _await_end(self, control: Path) -> None:
        run = self._runs[control]
        status: int | None = None
        while status is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_TRIM_SECONDS):
                    status = await run.process.wait()
            if os.fstat(run.output.fileno()).st_size > _MOST_OUTPUT:
                # Where the disk is full this is tried again: nobody else waits for the end of the run.
                with suppress(OSError):
                    _trim(run.output)
        with run.output as output:
            words = _end_of(output).decode(errors="replace").strip()
        if run.interrupted and status == -signal.SIGTERM:
            # It had not come so far that it could end as interrupted by itself.
            status = int(ExitStatus.INTERRUPTED)
        self._ended[control] = LastRun(status, words)
        self.ended[status] += 1
        del self._runs[control]

    async def interrupt(self, control: Path) -> bool:
        """Interrupt a run and wait for its end; False where this service does not run it."""
        run = self._runs.get(control)
        if run is None:
            return False
        _interrupt(run)
        await asyncio.shield(run.waiting)
        return True

    async def close(self) -> None:
        """Begin no more runs, interrupt all, which can go on later, and wait for their ends."""
        self._is_closing = True
        runs = list(self._runs.values())
        for run in runs:
            _interrupt(run)
        await asyncio.gather(*(run.waiting for run in runs))


def _end_of(output: IO[bytes]) -> bytes:
    output.seek(max(0, output.seek(0, os.SEEK_END) - _LAST_WORDS))
    return output.read()


def _trim(output: IO[bytes]) -> None:
    """Keep the end of a run's output alone: one that goes on for weeks would fill the disk.

    What the run writes between the reading and the cut is lost.
    """
    end = _end_of(output)
    output.truncate(0)
    output.write(end)


def _interrupt(run: _Run) -> None:
    run.interrupted = True
    # It may have ended this moment, before `_await_end` has noticed.
    with suppress(ProcessLookupError):
        run.process.send_signal(signal.SIGTERM)
