"""The ways in which a run is stopped from outside: Ctrl-X, `arena stop`, and signals."""

import signal
from types import FrameType
from typing import Any, Self

from arena.runner.files import CompetitionFiles
from arena.runner.halt_key import HaltKey


class RunInterruptedError(Exception):
    """The run was ended from outside; its games in progress do not count."""


def interrupting() -> list[signal.Signals]:
    """The signals that interrupt a command; SIGHUP only where it was not ignored (nohup)."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    return numbers


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
        for number in interrupting():
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
