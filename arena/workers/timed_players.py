"""Python players as workers run them: with time limits, in a process that can be spared."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from arena.alarm import TimeIsUp, alarm
from arena.jobs import Fault, GameJob, GameResult, PlayerUsage
from arena.players.failures import Late
from arena.players.player import Choice
from arena.players.python_callable import PythonPlayer
from arena.verdicts import Loss, given_against
from arena.workers.interface import WorkerLost
from arena.workers.waiting import Stage, Wait, WaitNote
from referees.api import Termination, referee

_Answer = TypeVar("_Answer")


def timed_players(note: WaitNote) -> type[PythonPlayer]:
    """The Python players of a worker, who are broken off when they are late.

    Those that cannot be broken off (stuck in C code, or catching whatever is raised) stay on the
    note, for the pool to end the worker.
    """

    class TimedPlayer(PythonPlayer):
        def start(self) -> None:
            wait = Wait(Stage.START, self.seating.seat, self.seating.setup.start_seconds)
            self._within(wait, super().start)

        def choose(self, view: Any) -> Choice:
            wait = Wait(Stage.MOVE, self.seating.seat, self.seating.setup.move_seconds)
            return self._within(wait, partial(super().choose, view))

        def _within(self, wait: Wait, ask: Callable[[], _Answer]) -> _Answer:
            try:
                with note.waiting(wait), alarm(wait.seconds):
                    return ask()
            except TimeIsUp:
                raise Late(_late(self.seating.label, wait)) from None

    return TimedPlayer


def broken_off(job: GameJob, wait: Wait, started: float, seconds: float) -> GameResult | WorkerLost:
    """How a game went whose worker was ended since a player could not be broken off.

    `started` is a Unix time, `seconds` how long the game took. As with other late players the game is
    void before the first move is asked for, and lost by the player from then on. The moves are gone
    with the worker.
    """
    name = job.players[wait.seat - 1].name
    reason = f"{_late(name, wait)}; it could only be ended with its worker"
    if wait.stage is Stage.START:
        return WorkerLost(job.game_id, reason)
    rules = referee(job.game).from_settings(job.settings)
    forfeit = f"forfeit by {name}: {reason}"
    return GameResult(
        game_id=job.game_id,
        outcome=given_against(rules, [Loss(wait.seat, Termination.FORFEIT, forfeit)]),
        void_reason="",
        moves=(),
        start_board=rules.board(rules.start(job.seed), 1).letters,
        usage=tuple(
            PlayerUsage(fault=Fault.LATE, remark=reason) if seat == wait.seat else PlayerUsage()
            for seat in range(1, rules.seats + 1)
        ),
        record="",
        record_extension=rules.record_extension,
        started=started,
        setup_seconds=0.0,
        play_seconds=seconds,
        warnings=(f"{forfeit}: the game's moves are lost",),
    )


def _late(label: str, wait: Wait) -> str:
    what = "not ready" if wait.stage is Stage.START else "no answer"
    return f"player {label}: {what} within {wait.seconds:.3g} s"
