"""The process around a worker: nothing that the worker's players start outlives it.

A worker runs other people's code, which may hold it for ever in a call to C, or end it; and engines
may start processes that leave their group and session. So each worker is the child of a guardian,
which does nothing but wait: for the worker's end, or for the arena's. Then it kills what is left, all
of which has become its children.

Run by `arena.workers.local_workers`, with the same arguments as `arena.workers.worker`.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Final

from arena.players.process_tree import adopt_orphans, die_with_parent, end_children

GRACE_SECONDS: Final = 2.0
# Sent by `arena.workers.local_workers` to a worker that is known to be stuck: no time to end in peace.
AT_ONCE: Final = signal.SIGUSR1
_LONG_SECONDS: Final = 3600.0
_AWAITED: Final = (signal.SIGCHLD, signal.SIGTERM, AT_ONCE)


def main(arguments: Sequence[str]) -> None:
    """Start the worker and guard it to its end; then end in the same way as it did."""
    descriptors, parent = map(int, arguments[:2]), int(arguments[2])
    guardian = os.getpid()
    # The terminal's Ctrl-C is the arena's to judge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    adopt_orphans()
    die_with_parent(signal.SIGTERM, parent)
    worker = os.fork()
    if worker == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
        die_with_parent(signal.SIGKILL, guardian)
        # Only the worker needs what this loads; and forks are for processes without threads.
        from arena.workers.worker import main as work

        work(arguments)
        return
    for descriptor in descriptors:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(_guard(worker))
    end_children()
    if status < 0:
        if status != -signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(guardian, -status)
    sys.exit(status)


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


if __name__ == "__main__":
    main(sys.argv[1:])
