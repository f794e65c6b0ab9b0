"""Ctrl-X, by which who sits at a run's terminal stops it when its games in progress are over."""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

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
