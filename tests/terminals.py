"""A terminal of its own for a command under test."""

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self


class Terminal:
    """Runs a command in the foreground of a pseudo-terminal, types keys and collects what it shows."""

    def __init__(self, command: Sequence[str], width: int = 110, height: int = 40) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (height, width))
        self.modes_at_first = self.modes
        self.process = subprocess.Popen(
            # setsid(1) makes it the leader of a session that the terminal controls; where the tests run
            # under nohup(1), it is not to.
            ["env", "--default-signal=HUP", "setsid", "--ctty", "--wait", *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self._shown = bytearray()

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def close(self) -> None:
        """Close the window: what the command shows from now on goes nowhere."""
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDONLY)

    @property
    def modes(self) -> list[object]:
        """The terminal's settings now, as termios(3) has them."""
        return list(termios.tcgetattr(self._ours))

    def shown(self) -> str:
        """All that was shown so far."""
        while select.select([self._ours], [], [], 0)[0]:
            try:
                self._shown += os.read(self._ours, 65536)
            except OSError:
                break
        return self._shown.decode(errors="replace")

    def until(self, condition: Callable[[str], bool], seconds: float = 60.0) -> str:
        """Wait until what was shown fulfils a condition; return it."""
        deadline = time.monotonic() + seconds
        while not condition(self.shown()):
            assert time.monotonic() < deadline, self.shown()
            if self.process.poll() is not None:
                assert condition(self.shown()), self.shown()
            time.sleep(0.02)
        return self.shown()

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for the command's end, reading all it shows; its exit status."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            self.shown()
            assert time.monotonic() < deadline, self.shown()
            time.sleep(0.02)
        self.shown()
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
