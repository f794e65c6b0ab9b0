"""Processes and what they start: ended with their parent, as children, or as a session."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_OPTIONS: Final = {"PR_SET_PDEATHSIG": 1, "PR_SET_CHILD_SUBREAPER": 36}
_CHILDREN_SECONDS: Final = 5.0
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def die_with_parent(how: signal.Signals, parent: int) -> None:
    """Have the kernel send this process a signal when its parent ends, however the parent ends.

    To be called in the child; `parent` is the parent's process id as the parent itself saw it, since
    it may have ended before the call. The kernel's "parent" is the thread that started the child:
    start children from a thread that lives as long as they may. See prctl(2), PR_SET_PDEATHSIG.
    """
    _prctl("PR_SET_PDEATHSIG", int(how))
    if os.getppid() != parent:
        os.kill(os.getpid(), how)


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of all descendants whose parents end. See prctl(2), PR_SET_CHILD_SUBREAPER."""
    _prctl("PR_SET_CHILD_SUBREAPER", int(adopt))


def _prctl(option: str, value: int) -> None:
    if _LIBC.prctl(_OPTIONS[option], value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def end_children(spared: Collection[int] = ()) -> None:
    """Kill this process's children but those spared, and what it adopts of theirs, until none is left.

    Gives up after some seconds: a process that hangs in the kernel dies when it leaves it, and one of another
    user may not be killed.
    """
    deadline = time.monotonic() + _CHILDREN_SECONDS
    while strays := _children() - set(spared):
        for stray in strays:
            # The code that started it may wait for it as well; and it may be another user's, as of sudo.
            with contextlib.suppress(ProcessLookupError, ChildProcessError, PermissionError):
                os.kill(stray, signal.SIGKILL)
                os.waitpid(stray, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


@contextmanager
def ending_descendants() -> Iterator[None]:
    """End at the block's end what was started in it, and what that left behind.

    For processes that adopt no orphans otherwise.
    """
    before = _children()
    adopt_orphans()
    try:
        yield
    finally:
        end_children(spared=before)
        adopt_orphans(False)


def _children() -> set[int]:
    children_found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 - after each game, so it must be quick
        # A thread may end while it is looked at.
        with contextlib.suppress(OSError), open(f"/proc/self/task/{thread}/children", "rb") as children:  # noqa: PTH123
            children_found.update(map(int, children.read().split()))
    return children_found


def kill_session(session: int) -> None:
    """Kill all processes of a session but its leader, whose number `session` is.

    The leader must not have been reaped yet, or the number may already be another session's.
    """
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != session:
            # It may end while it is looked at, and it may be another user's.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                # The fields of proc(5) after the command's name: state, parent, group, session.
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if int(fields[3]) == session:
                    os.kill(int(entry.name), signal.SIGKILL)


def signal_name(number: int) -> str:
    """A signal's name (`SIGSEGV`), or its number where it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
