"""A worker process: plays the games it is sent, one after another, and sends back how they went.

Run by `arena.workers.pool`, which says what the arguments are.
"""

import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from types import FrameType
from typing import Final

from arena.jobs import GameJob
from arena.match import play
from arena.players.protocols import PROTOCOLS
from arena.process_signals import die_with_parent
from arena.workers.interface import WorkerLost
from arena.workers.timed_players import timed_players
from arena.workers.waiting import WaitNote

_NO_CORE: Final = -1


def serve(connection: Connection, slot: int) -> None:
    """Play games until the other side closes the connection."""
    while True:
        try:
            job: GameJob = connection.recv()
        except EOFError:
            return
        try:
            connection.send(play(job, slot))
        except Exception as error:
            # Referees and callable players are other people's code: whatever they raise costs one game.
            sys.stderr.write(f"game {job.game_id}: {traceback.format_exc()}")
            connection.send(WorkerLost(job.game_id, f"{type(error).__name__}: {error}"))


def _stop(number: int, frame: FrameType | None) -> None:
    # Raised wherever the game stands, so that it kills its players on the way out; once is enough.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def main(arguments: list[str]) -> None:
    """Take the descriptors of connection and note, the parent's process id, slot and core (-1: any)."""
    descriptor, note, parent, slot, core = map(int, arguments)
    # The terminal's Ctrl-C is the parent's to judge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    die_with_parent(signal.SIGTERM, parent)
    if core != _NO_CORE:
        # Engines inherit it: waking a process on another core is the price of a round trip.
        os.sched_setaffinity(0, {core})
    # Here signals are ours to use, and the pool watches: elsewhere Python players only are judged late.
    PROTOCOLS["python"] = timed_players(WaitNote(note))
    connection: Connection = Connection(descriptor)
    sys.path[:] = connection.recv()
    serve(connection, slot)


if __name__ == "__main__":
    main(sys.argv[1:])
