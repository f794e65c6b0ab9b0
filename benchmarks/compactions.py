"""`academy compact` at random moments, of which some are killed in the middle."""

import random
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

# So few that a short loop has something to give up.
_KEPT: Final = (1, 20, 200)
# What is allowed to be in its way: it says so and is run again.
_BUSY: Final = "compact again"


class Compactions:
    """The compactions of one data folder, one after the other, each a process of its own."""

    def __init__(self, data: Path, chance: random.Random) -> None:
        """None is begun yet."""
        self.done = 0
        self.killed = 0
        self.faults: list[str] = []
        self._data = data
        self._chance = chance
        self._doomed = False
        self._running: subprocess.Popen[str] | None = None

    def begin_or_kill(self) -> None:
        """Begin one where none runs; kill the one that does, if it is one of those to be killed."""
        running = self._running
        if running is not None and running.poll() is None:
            if self._doomed and self._chance.random() < 0.5:
                running.kill()
                running.communicate()
                self.killed += 1
                self._running = None
            return
        self._see_to_ended()
        # Decided beforehand, so that most end well however many rounds they take.
        self._doomed = self._chance.random() < 0.25
        keep = str(self._chance.choice(_KEPT))
        self._running = subprocess.Popen(
            [sys.executable, "-m", "academy", "compact", "--data", str(self._data), "--keep", keep],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def _see_to_ended(self) -> None:
        """Wait for the one that runs, if any, and note what became of it."""
        if self._running is None:
            return
        _, told = self._running.communicate()
        if self._running.returncode == 0:
            self.done += 1
        elif _BUSY not in told:
            self.faults.append(f"a compaction ended with {self._running.returncode}: {told.strip()}")
        self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the last one end, or kill it where all ends with a fault."""
        if self._running is not None and fault is not None:
            self._running.kill()
            self._running.communicate()
        else:
            self._see_to_ended()
