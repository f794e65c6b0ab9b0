"""Ctrl-C, SIGTERM and the terminal's end as a wish that a run looks at when it can."""

import signal
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupted(Exception):
    """The run was ended from outside; its games in progress do not count."""


class Interruption:
    """Notes the first SIGINT, SIGTERM or SIGHUP while its `with` block lasts; a second ends the process.

    SIGHUP stays ignored where it was (nohup). To be entered in the main thread.
    """

    def __init__(self) -> None:
        self._noted = False
        self._before: dict[signal.Signals, Any] = {}

    def check(self) -> None:
        """Raise Interrupted if there was a signal."""
        if self._noted:
            raise Interrupted

    def __enter__(self) -> Self:
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = True
        self._restore()

    def _restore(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())
