"""The nursery's program: it loads what workers need, and forks workers, each with its guardian.

It runs nobody else's code and has no threads, so what is forked is like a process that was started.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection

from arena.players.process_tree import die_with_parent
from arena.workers.guardian import guard
from arena.workers.nursery import Hiring
from arena.workers.worker import WaitNote, work
from referees.api import ENTRY_POINT_GROUP
from referees.installed import list_entry_points


def _serve(connection: Connection, descriptors: socket.socket) -> None:
    """Fork workers, and reap them, until the other side closes the connection."""
    while True:
        try:
            request: Hiring | int = connection.recv()
        except EOFError:
            return
        if isinstance(request, int):
            connection.send(os.waitstatus_to_exitcode(os.waitpid(request, 0)[1]))
            continue
        _, received, _, _ = socket.recv_fds(descriptors, 1, 2, socket.MSG_CMSG_CLOEXEC)
        nursery = os.getpid()
        try:
            guardian = os.fork()
        except OSError as error:
            connection.send(error)
        else:
            if guardian == 0:
                connection.close()
                descriptors.close()
                sys.exit(_guard(request, received, nursery))
            connection.send(guardian)
        for descriptor in received:
            os.close(descriptor)


def _guard(hiring: Hiring, descriptors: Sequence[int], nursery: int) -> int:
    """Guard a worker; its exit code."""

    def be_worker() -> None:
        path, environment, slot, core = hiring
        sys.path[:] = path
        os.environb.clear()
        os.environb.update(environment)
        connection, note = descriptors
        work(Connection(connection), WaitNote(note), slot, core)

    return guard(be_worker, descriptors, nursery)


def main(arguments: Sequence[str]) -> None:
    """Take the descriptor of the connection and the arena's process id."""
    descriptor, arena = map(int, arguments)
    # The terminal's Ctrl-C is the arena's to judge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(signal.SIGKILL, arena)
    connection: Connection = Connection(os.dup(descriptor))
    sys.path[:] = connection.recv()
    # Before there is a game that waits for it.
    list_entry_points(ENTRY_POINT_GROUP)
    _serve(connection, socket.socket(fileno=descriptor))


if __name__ == "__main__":
    main(sys.argv[1:])
