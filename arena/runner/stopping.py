"""The ways in which a run is stopped from outside: Ctrl-X, `arena stop`, and signals."""

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Self

from arena.runner.files import CompetitionFiles

_CTRL_X: Final = b"\x18"
_LOCAL_MODES: Final = 3
_CHARACTERS: Final = 6
_MOST_BYTES: Final = 4096


class HaltKey:
    """Looks for Ctrl-X among what was typed at the controlling terminal. To be used in a `with` block.

    The terminal stays as it is but for the moment of each look, so that however the process ends it is
    left in order. What else was typed meanwhile is thrown away. Without a terminal, or in the
    background, nothing is ever found; that is not an error.
    """

    def __init__(self) -> None:
        self._terminal: int | None = None

    @property
    def available(self) -> bool:
        """Whether there is a terminal, and this process is in its foreground."""
        try:
            return self._terminal is not None and os.tcgetpgrp(self._terminal) == os.getpgrp()
        except OSError:
            return False

    def pressed(self) -> bool:
        """Whether Ctrl-X was typed since the last look. Never waits."""
        if self._terminal is None or not self.available:
            return False
        try:
            with _react_at_once(self._terminal):
                return _CTRL_X in os.read(self._terminal, _MOST_BYTES)
        except (termios.error, OSError):
            # The terminal has been closed under us.
            self.__exit__()
            return False

    def __enter__(self) -> Self:
        try:
            self._terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            self._terminal = None
        return self

    def __exit__(self, *error: object) -> None:
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None


@contextmanager
def _react_at_once(terminal: int) -> Iterator[None]:
    """Have reads return what was typed, with no end of line not waiting (termios(3): MIN 0, TIME 0)."""
    before = termios.tcgetattr(terminal)
    modes = termios.tcgetattr(terminal)
    modes[_LOCAL_MODES] &= ~termios.ICANON
    modes[_CHARACTERS][termios.VMIN] = 0
    modes[_CHARACTERS][termios.VTIME] = 0
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


class RunInterruptedError(Exception):
    """The run was ended from outside; its games in progress do not count."""


class Interruption:
    """Notes the first SIGINT, SIGTERM or SIGHUP while its `with` block lasts; a second ends the process.

    SIGHUP stays ignored where it was (nohup). To be entered in the main thread.
    """

    def __init__(self) -> None:
        self._noted = False
        self._before: dict[signal.Signals, Any] = {}

    def check(self) -> None:
        """Raise RunInterruptedError if there was a signal."""
        if self._noted:
            raise RunInterruptedError

    def __enter__(self) -> Self:
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = True
        self.__exit__()

    def __exit__(self, *error: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())


class StopRequests:
    """Looks for requests while its `with` block lasts. To be entered in the main thread."""

    def __init__(self, files: CompetitionFiles) -> None:
        self._files = files
        self._key = HaltKey()
        self._interruption = Interruption()
        self._why = ""

    def look(self) -> str:
        """What asked the run to end when its games in progress are over, or nothing. Never waits.

        Raises RunInterruptedError where the run is to end at once.
        """
        self._interruption.check()
        if not self._why and self._key.pressed():
            self._why = "Ctrl-X received"
        if not self._why and self._files.stop_requested():
            self._files.forget_stop()
            self._why = "`arena stop` received"
        return self._why

    @property
    def requested(self) -> bool:
        """Whether anything asked the run to end, at once or not. Never waits."""
        try:
            return bool(self.look())
        except RunInterruptedError:
            return True

    @property
    def key_available(self) -> bool:
        """Whether Ctrl-X would be noticed."""
        return self._key.available

    def __enter__(self) -> Self:
        self._key.__enter__()
        self._interruption.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._interruption.__exit__()
        self._key.__exit__()
