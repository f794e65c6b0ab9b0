"""The process around a worker: nothing that the worker's players start outlives it.

A worker runs other people's code, which may hold it for ever in a call to C, or end it; and engines
may start processes that leave their group and session. So each worker is the child of a guardian,
which does nothing but wait: for the worker's end, or for the arena's. Then it kills what is left, all
of which has become its children.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from arena.players.process_tree import adopt_orphans, die_with_parent, end_children

GRACE_SECONDS: Final = 2.0
# Sent by `arena.workers.local_workers` to a worker that is known to be stuck: no time to end in peace.
AT_ONCE: Final = signal.SIGUSR1
_LONG_SECONDS: Final = 3600.0
_AWAITED: Final = (signal.SIGCHLD, signal.SIGTERM, AT_ONCE)


def guard(be_worker: Callable[[], None], descriptors: Sequence[int], parent: int) -> int:
    """Fork a worker and guard it to its end, in a process that was forked for that by `parent`.

    The worker alone keeps the descriptors. Returns the exit code of the process that it returns in, the
    worker or its guardian; where a signal has ended the worker, the guardian ends by it as well.
    """
    guardian = os.getpid()
    # What is left in the session of a guardian that was killed can be found.
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    adopt_orphans()
    die_with_parent(signal.SIGTERM, parent)
    try:
        worker = os.fork()
    except OSError as error:
        sys.stderr.write(f"arena: a worker cannot be started: {error}\n")
        return 1
    if worker == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        die_with_parent(signal.SIGKILL, guardian)
        be_worker()
        return 0
    for descriptor in descriptors:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(_guard(worker))
    end_children()
    if status < 0:
        if status != -signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(guardian, -status)
    return status


def _guard(worker: int) -> int:
    """Wait for the worker's end, bringing it about when asked; its wait status."""
    deadline: float | None = None
    while True:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            return status
        remaining = _LONG_SECONDS if deadline is None else deadline - time.monotonic()
        if remaining <= 0:
            os.kill(worker, signal.SIGKILL)
            return os.waitpid(worker, 0)[1]
        received = signal.sigtimedwait(_AWAITED, remaining)
        match received and received.si_signo:
            case signal.SIGTERM if deadline is None:
                os.kill(worker, signal.SIGTERM)
                deadline = time.monotonic() + GRACE_SECONDS
            case signal.SIGUSR1:
                deadline = time.monotonic()
