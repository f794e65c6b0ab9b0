"""The record of a game that was played: its heading, its moves and its last words."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from arena.clock import describe_clock, overtime
from arena.jobs import GameJob, JobMove, PlayerUsage, TimeControl
from referees.api import GameRecord, Outcome, PlayedMove, Referee


def labels(names: Sequence[str]) -> list[str]:
    """The players' names, with the seat where one name sits twice."""
    return [name if names.count(name) == 1 else f"{name}#{seat}" for seat, name in enumerate(names, start=1)]


def record_of(
    job: GameJob,
    rules: Referee[Any, Any],
    first: Any,
    played: Sequence[PlayedMove],
    outcome: Outcome | None,
    usage: Sequence[PlayerUsage],
    started: float,
    *,
    names: Sequence[str],
    before_result: Sequence[str] = (),
    after_result: Sequence[str] = (),
) -> str:
    """The record in the referee's format; `outcome` is None for a void game.

    `first` is the position before the first move; `started` a Unix time; `names` are what the record
    calls the players. Lines `before_result` and `after_result` stand around the result at the end.
    """
    when = datetime.fromtimestamp(started).astimezone()
    result = "Void"
    if outcome is not None:
        result = outcome.summary + (f" ({outcome.detail})" if outcome.detail else "")
    called = labels([player.name for player in job.players])
    remarks = [f"Event: {job.event}"] if job.event else []
    remarks += [f"Game id: {job.game_id}", f"Date: {when:%Y-%m-%d %H:%M %z}", f"Result: {result}"]
    remarks += job.remarks
    remarks += _clock_remarks(job, called)
    if job.opening:
        remarks.append(" ".join(filter(None, ("Opening:", job.opening_name, f"({len(job.opening)} moves)"))))
    for label, used in zip(called, usage, strict=True):
        if used.cpu_seconds is not None:
            remarks.append(f"{label} cpu time: {used.cpu_seconds:.2f} s")
    for seat, (label, used) in enumerate(zip(called, usage, strict=True), start=1):
        remarks.append(f"{rules.seat_name(seat)}: {label}: {used.engine_description}".rstrip(": "))
    clock = _shared_clock(job)
    return rules.record(
        GameRecord(
            game_name=f"{job.event} {job.game_id}".strip(),
            event=job.event,
            date=f"{when:%Y-%m-%d}",
            players=tuple(names),
            moves=played,
            outcome=outcome,
            seed=job.seed,
            first=first if rules.arranger() is not None else None,
            remarks=tuple(remarks),
            final_remarks=(*before_result, result, *after_result),
            main_seconds=None if clock is None else clock.main_seconds,
            overtime="" if clock is None else overtime(clock),
        )
    )


def _shared_clock(job: GameJob) -> TimeControl | None:
    clocks = {player.time_control for player in job.players}
    return clocks.pop() if len(clocks) == 1 else None


def _clock_remarks(job: GameJob, called: Sequence[str]) -> list[str]:
    texts = [describe_clock(player) for player in job.players]
    if len(set(texts)) == 1:
        return [f"Clock: {texts[0]}"]
    return [f"Clock of {label}: {text}" for label, text in zip(called, texts, strict=True)]


def played_move(note: JobMove, move: Any) -> PlayedMove:
    """A recorded move with all that a record tells of it; `move` is the referee's own."""
    return PlayedMove(
        note.seat,
        move,
        note.text,
        note.seconds,
        note.values,
        note.comment,
        note.clock_seconds,
        note.clock_stones,
    )


def replayed(rules: Referee[Any, Any], first: Any, moves: Sequence[JobMove]) -> list[PlayedMove]:
    """The moves of whole turns as the referee knows them, read again from their texts."""
    played: list[PlayedMove] = []
    position = first
    waiting = list(reversed(moves))
    while waiting:
        turn = {}
        for _ in rules.to_move(position):
            told = waiting.pop()
            turn[told.seat] = move = rules.read_move(position, told.seat, told.text)
            played.append(played_move(told, move))
        position = rules.play(position, turn)
    return played
