"""Ctrl-C while a command loads."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ending_the_process() -> Iterator[None]:
    """Let Ctrl-C end the process without a traceback, as it ends other programs; nothing is done yet."""
    before = signal.getsignal(signal.SIGINT)
    # Who starts a command in the background may have it ignore Ctrl-C.
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
