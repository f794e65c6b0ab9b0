"""How the server's process begins and ends: with its parent, and with a file for its parent's eyes only."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(parent: int | None = None) -> None:
    """Have SIGTERM sent to this process when the one that started it dies (on Linux; elsewhere nothing).

    Who knows the parent's number gives it: the parent may have died before this is called.
    """
    if not sys.platform.startswith("linux"):
        return
    parent = parent or os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The parent may have died before the signal was asked for.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def signals(*numbers: signal.Signals) -> Iterator[int]:
    """Yield a file from which a byte can be read for every such signal, which ends the process no more.

    For the main thread. In force from the first line to the last, it leaves no moment at which a signal would
    cut short what has begun.
    """
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    # Written by the interpreter itself, so also while the main thread waits for something else.
    file_before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield reads
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(file_before)
        os.close(reads)
        os.close(writes)


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read; a reader sees all of it or nothing.

    A pipe or device cannot be replaced: it is written straight into, and as private as it was made.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
