"""A worker process: plays the games it is sent, one after another, and sends back how they went.

Run by `arena.workers.guardian`; `arena.workers.pool` says what the arguments are.
"""

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Final

from arena.jobs import GameJob
from arena.match.game import play
from arena.players.gtp import GtpPlayer, KeptEngines
from arena.players.policy import IdlePolicies, PolicyPlayer
from arena.players.process_signals import adopt_orphans, end_children
from arena.players.protocols import PROTOCOLS
from arena.workers.interface import WorkerLost
from arena.workers.timed_players import timed_players
from arena.workers.waiting import WaitNote

_NO_CORE: Final = -1


def serve(connection: Connection, slot: int, kept: KeptEngines, idle: IdlePolicies) -> None:
    """Play games until the other side closes the connection.

    Of games with players that could hold this process for ever, the other side is told all moves as
    they are made.
    """
    while True:
        try:
            job: GameJob = connection.recv()
        except EOFError:
            return
        try:
            unsafe = any(player.protocol == "python" for player in job.players)
            try:
                result = play(job, slot, connection.send if unsafe else None)
            finally:
                end_children(kept.process_ids | idle.process_ids)
            connection.send(result)
        except Exception as error:
            # Referees and callable players are other people's code: whatever they raise costs one game.
            sys.stderr.write(f"game {job.game_id}: {traceback.format_exc()}")
            connection.send(WorkerLost(job.game_id, f"{type(error).__name__}: {error}"))


def _stop(number: int, frame: FrameType | None) -> None:
    # Raised wherever the game stands, so that it kills its players on the way out; once is enough.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


def main(arguments: Sequence[str]) -> None:
    """Take the descriptors of connection and note, the arena's process id, slot and core (-1: any)."""
    descriptor, note, _, slot, core = map(int, arguments)
    signal.signal(signal.SIGTERM, _stop)
    # Ignored until now; but players are not to inherit that, as they would, and handlers are not inherited.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    adopt_orphans()
    if core != _NO_CORE:
        # Engines inherit it: waking a process on another core is the price of a round trip.
        os.sched_setaffinity(0, {core})
    # Here signals are ours to use, and the pool watches: elsewhere Python players only are judged late.
    PROTOCOLS["python"] = timed_players(WaitNote(note))
    kept = KeptEngines()
    PROTOCOLS["gtp"] = partial(GtpPlayer, kept=kept)
    idle = IdlePolicies()
    PROTOCOLS["policy"] = partial(PolicyPlayer, idle=idle)
    connection: Connection = Connection(descriptor)
    sys.path[:] = connection.recv()
    # What is loaded stays: it needs not be looked through after each game.
    gc.freeze()
    try:
        serve(connection, slot, kept, idle)
    finally:
        kept.end()
        idle.end()
