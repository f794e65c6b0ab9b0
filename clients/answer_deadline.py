"""A limit on how long each answer of a stream is waited for, where gRPC knows limits of whole calls only."""

import threading
import time
from collections.abc import Callable
from types import TracebackType


class AnswerDeadline:
    """Calls `expire` from a thread of its own when a `with` block takes more than `seconds`.

    It serves one block after another until one was late (`expired`) or it is closed. A block costs no
    more than two assignments: the thread wakes once in `seconds` and looks.
    """

    def __init__(self, seconds: float, expire: Callable[[], object]) -> None:
        self.seconds = seconds
        self.expired = False
        self._expire = expire
        self._entered: float | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="answer-deadline", daemon=True).start()

    def __enter__(self) -> None:
        self._entered = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = None

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _watch(self) -> None:
        rest = self.seconds
        while not self._closed.wait(rest):
            entered = self._entered
            # A block entered while this slept is not late yet, however long the sleep was.
            rest = self.seconds if entered is None else entered + self.seconds - time.monotonic()
            if rest <= 0:
                self.expired = True
                self._expire()
                return
