"""Python players as workers run them: with time limits, in a process that can be spared."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from arena.jobs import Fault, GameJob, GameResult, PlayerUsage
from arena.match.game import GameProgress
from arena.match.recorder import labels, record_of, replayed
from arena.match.verdicts import Loss, given_against
from arena.players.alarm import TimeIsUp, alarm
from arena.players.failures import PlayerTimeoutError
from arena.players.player import Choice
from arena.players.python_callable import PythonPlayer
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
            wait = Wait(Stage.MOVE, self.seating.seat, self.seating.move_seconds)
            try:
                return self._within(wait, partial(super().choose, view))
            except PlayerTimeoutError as failure:
                raise PlayerTimeoutError(self.seating.late(str(failure))) from failure

        def _within(self, wait: Wait, ask: Callable[[], _Answer]) -> _Answer:
            try:
                with note.waiting(wait), alarm(wait.seconds):
                    return ask()
            except TimeIsUp:
                raise PlayerTimeoutError(_late(self.seating.label, wait)) from None

    return TimedPlayer


def broken_off(
    job: GameJob, progress: Sequence[GameProgress], wait: Wait, started: float, seconds: float
) -> GameResult | WorkerLost:
    """How a game went, by what the worker told of it, that was ended since a player could not be.

    `started` is a Unix time, `seconds` how long the game took. As with other late players the game is
    void before the first move is asked for, and lost by the player from then on. What the players cost
    is not known.
    """
    name = labels([player.name for player in job.players])[wait.seat - 1]
    reason = f"{_late(name, wait)}; it could only be ended with its worker"
    if wait.stage is Stage.START:
        return WorkerLost(job.game_id, reason)
    rules = referee(job.game).from_settings(job.settings)
    forfeit = f"forfeit by {name}: {reason}"
    outcome = given_against(rules, [Loss(wait.seat, Termination.FORFEIT, forfeit)])
    moves = tuple(move for told in progress for move in told.moves)
    arrangement = progress[0].arrangement if progress else None
    first = rules.start(job.seed) if arrangement is None else rules.arrange(arrangement)
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
        record=record_of(
            job,
            rules,
            first,
            replayed(rules, first, moves),
            outcome,
            usage,
            started,
            names=[player.name for player in job.players],
            after_result=[forfeit],
        ),
        record_extension=rules.record_extension,
        started=started,
        setup_seconds=0.0,
        play_seconds=seconds,
        warnings=(forfeit,),
    )


def _late(label: str, wait: Wait) -> str:
    what = "not ready" if wait.stage is Stage.START else "no answer"
    return f"player {label}: {what} within {wait.seconds:.3g} s"
