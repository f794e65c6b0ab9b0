"""A worker process: it plays the games that it gets one after another, and sends back how they went.

Forked by `arena.workers.forking`, with a guardian. Python players have time limits here, in a process that
can be spared: the worker notes what it waits for in memory that the run reads, because a worker that is
stuck in a player's code answers nothing.
"""

import gc
import mmap
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, Final, Self, TypeVar

from arena.jobs import Fault, GameJob, GameResult, PlayerUsage
from arena.match.game import GameProgress, play
from arena.match.recorder import PlayedGame, labels, replay_moves, write_record
from arena.match.verdicts import Loss, decide_against
from arena.players.clock import TimeIsUpError, WorkerStoppedError, alarm
from arena.players.gtp import GtpEngine, GtpPlayer
from arena.players.player import Choice, PlayerTimeoutError
from arena.players.policy import PolicyPlayer, PolicyProcess
from arena.players.process_tree import adopt_orphans, end_children
from arena.players.program import KeptPrograms
from arena.players.protocols import PROTOCOLS
from arena.players.python_callable import PythonPlayer
from arena.workers.interface import WorkerLost
from referees.api import Referee, Termination, referee
from referees.legible_text import legible

# The deadline (on the system's monotonic clock, 0: none), and what it is for: stage, seat, seconds.
_DEADLINE: Final = struct.Struct("d")
_WHAT: Final = struct.Struct("iid")
_SIZE: Final = _DEADLINE.size + _WHAT.size


class Stage(IntEnum):
    """What a player is given time for."""

    START = 1
    MOVE = 2


@dataclass(frozen=True)
class Wait:
    """A wait for the player of a seat, which has `seconds` seconds."""

    stage: Stage
    seat: int
    seconds: float


class WaitNote:
    """The note of one worker."""

    def __init__(self, descriptor: int) -> None:
        """Open the note that lies in a file of memory."""
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)

    @classmethod
    def new(cls) -> Self:
        """A note in memory of its own. Raises OSError."""
        descriptor = os.memfd_create("wait")
        try:
            os.ftruncate(descriptor, _SIZE)
            return cls(descriptor)
        except OSError:
            os.close(descriptor)
            raise

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()
        os.close(self.descriptor)

    @contextmanager
    def waiting(self, wait: Wait) -> Iterator[None]:
        """Note that a wait goes on while the block does."""
        _WHAT.pack_into(self._memory, _DEADLINE.size, wait.stage, wait.seat, wait.seconds)
        _DEADLINE.pack_into(self._memory, 0, time.monotonic() + wait.seconds)
        try:
            yield
        finally:
            _DEADLINE.pack_into(self._memory, 0, 0.0)

    def overdue(self, seconds: float) -> Wait | None:
        """The wait that should have been over `seconds` seconds ago, if there is one."""
        (deadline,) = _DEADLINE.unpack_from(self._memory, 0)
        if not 0.0 < deadline < time.monotonic() - seconds:
            return None
        stage, seat, limit = _WHAT.unpack_from(self._memory, _DEADLINE.size)
        return Wait(Stage(stage), seat, limit)


_Answer = TypeVar("_Answer")


def timed_players(note: WaitNote) -> type[PythonPlayer]:
    """The Python players of a worker, who are interrupted when they are late.

    Those that cannot be interrupted (stuck in C code, or catching every exception) stay on the
    note, for the run to end the worker.
    """

    class TimedPlayer(PythonPlayer):
        def start(self) -> None:
            wait = Wait(Stage.START, self.seating.seat, self.seating.setup.start_seconds)
            self._within(wait, super().start)

        def choose(self, view: Any) -> Choice:
            wait = Wait(Stage.MOVE, self.seating.seat, self.seating.move_seconds)
            try:
                return self._within(wait, partial(super().choose, view))
            except PlayerTimeoutError as failure:
                raise PlayerTimeoutError(self.seating.late(str(failure))) from failure

        def _within(self, wait: Wait, ask: Callable[[], _Answer]) -> _Answer:
            try:
                with note.waiting(wait), alarm(wait.seconds):
                    return ask()
            except TimeIsUpError:
                raise PlayerTimeoutError(_late(self.seating.label, wait)) from None

    return TimedPlayer


def make_interrupted_result(
    job: GameJob, progress: Sequence[GameProgress], wait: Wait, started: float, seconds: float
) -> GameResult:
    """Make the result of a game whose worker was ended as a player could not be, by the moves it reported.

    `started` is a Unix time, `seconds` how long the game took. As with other late players the game is
    void before the first move is asked for, and lost by the player from then on. What the players cost
    is not known.
    """
    name = labels([player.name for player in job.players])[wait.seat - 1]
    reason = f"{_late(name, wait)}; it could only be ended with its worker"
    rules = referee(job.game).from_settings(job.settings)
    if wait.stage is Stage.START:
        return _void(job, rules, wait.seat, reason, started, seconds)
    moves = tuple(move for part in progress for move in part.moves)
    arrangement = progress[0].arrangement if progress else None
    first = rules.start(job.seed) if arrangement is None else rules.arrange(arrangement)
    played, position = replay_moves(rules, first, moves)
    forfeit = f"forfeit by {name}: {reason}"
    gone = (progress[-1].gone if progress else frozenset()) - {wait.seat}
    losses = [Loss(wait.seat, Termination.FORFEIT, forfeit)]
    losses += [Loss(seat, Termination.FORFEIT) for seat in sorted(gone)]
    standing = rules.adjudicate(position) if rules.seats > 2 else None
    outcome = decide_against(rules, losses, standing)
    usage = tuple(
        PlayerUsage(
            wall_seconds=sum(move.seconds for move in own) + (wait.seconds if late else 0.0),
            fault=Fault.LATE if late else Fault.NONE,
            remark=reason if late else "",
            own_moves=len(own) + late,
        )
        for late, own in (
            (
                seat == wait.seat,
                [move for move in moves if move.seat == seat and not move.opening and not move.stand_in],
            )
            for seat in range(1, rules.seats + 1)
        )
    )
    return GameResult(
        game_id=job.game_id,
        outcome=outcome,
        void_reason="",
        moves=moves,
        start_board=rules.board(first, 1).letters,
        usage=usage,
        record=write_record(
            job,
            rules,
            PlayedGame(first, played, outcome, usage, started),
            names=[player.name for player in job.players],
            after_result=[forfeit],
        ),
        record_extension=rules.record_extension,
        started=started,
        setup_seconds=0.0,
        play_seconds=seconds,
        warnings=(forfeit,),
        arrangement=arrangement,
        attempt=job.attempt,
    )


def _void(
    job: GameJob, rules: Referee[Any, Any], absent: int, reason: str, started: float, seconds: float
) -> GameResult:
    """A game before whose first move the player of a seat could not be interrupted."""
    return GameResult(
        game_id=job.game_id,
        outcome=None,
        void_reason=reason,
        moves=(),
        start_board=rules.board(rules.start(job.seed), 1).letters,
        usage=tuple(
            PlayerUsage(fault=Fault.LATE, remark=reason) if seat == absent else PlayerUsage()
            for seat in range(1, rules.seats + 1)
        ),
        record="",
        record_extension=rules.record_extension,
        started=started,
        setup_seconds=seconds,
        play_seconds=0.0,
        absent=absent,
        attempt=job.attempt,
    )


def _late(label: str, wait: Wait) -> str:
    what = "not ready" if wait.stage is Stage.START else "no answer"
    return f"player {label}: {what} within {wait.seconds:.3g} s"


# Players are not to see one.
NO_SLOT: Final = -1


class _RunGoneError(ConnectionError):
    """The run that the games are played for has ended without a word."""


def _send(connection: Connection, message: GameProgress | GameResult | WorkerLost) -> None:
    try:
        connection.send(message)
    except ConnectionError as error:
        raise _RunGoneError from error


def serve(
    connection: Connection,
    slot: int,
    engines: KeptPrograms[GtpEngine],
    policies: KeptPrograms[PolicyProcess],
) -> None:
    """Play games until the other side closes the connection, or is gone.

    In games with players that could hold this process for ever, the other side gets all moves as they
    are made.
    """
    tell = partial(_send, connection)
    while True:
        try:
            job: GameJob = connection.recv()
        except (EOFError, ConnectionError):
            return
        try:
            unsafe = any(player.protocol == "python" for player in job.players)
            try:
                result = play(job, None if slot == NO_SLOT else slot, tell if unsafe else None)
            finally:
                end_children(engines.process_ids | policies.process_ids)
            tell(result)
        except _RunGoneError:
            return
        except Exception as error:
            # Referees and callable players are other people's code: any exception of theirs costs one game.
            sys.stderr.write(legible(f"game {job.game_id}: {traceback.format_exc()}"))
            with suppress(ConnectionError):
                connection.send(WorkerLost(job.game_id, f"{type(error).__name__}: {error}", job.attempt))


def _stop(number: int, frame: FrameType | None) -> None:
    # Raised wherever the game stands, so that it kills its players on the way out; once is enough.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise WorkerStoppedError(128 + number)


def work(connection: Connection, note: WaitNote, slot: int, core: int | None) -> None:
    """Be a worker until the other side closes the connection; it keeps to a core, if one is given."""
    signal.signal(signal.SIGTERM, _stop)
    # Ignored until now; but players are not to inherit that, as they would, and handlers are not inherited.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    adopt_orphans()
    if core is not None:
        # Engines inherit it: waking a process on another core is the price of a round trip.
        os.sched_setaffinity(0, {core})
    # Here signals are ours to use, and the run watches: elsewhere Python players only are judged late.
    PROTOCOLS["python"] = timed_players(note)
    engines: KeptPrograms[GtpEngine] = KeptPrograms()
    PROTOCOLS["gtp"] = partial(GtpPlayer, kept=engines)
    policies: KeptPrograms[PolicyProcess] = KeptPrograms()
    PROTOCOLS["policy"] = partial(PolicyPlayer, kept=policies)
    # What is loaded stays: it need not be looked through after each game.
    gc.freeze()
    try:
        serve(connection, slot, engines, policies)
    finally:
        engines.end()
        policies.end()
