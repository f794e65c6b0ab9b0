"""What is written down of a game while it is played, and the record made of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from arena.jobs import Fault, GameJob, JobMove, PlayerUsage, TimeControl
from arena.players.clock import describe_clock, overtime
from arena.players.player import Choice, Cost, Player, Seating, WarningList
from referees.api import GameRecord, Outcome, PlayedMove, Referee, Termination
from referees.legible_text import indented, legible


def labels(names: Sequence[str]) -> list[str]:
    """The players' names, with the seat where one name sits twice."""
    return [name if names.count(name) == 1 else f"{name}#{seat}" for seat, name in enumerate(names, start=1)]


@dataclass(frozen=True)
class PlayedGame:
    """What was played: the position before the first move, the moves, the end, and the start's Unix time.

    `outcome` is None for a void game.
    """

    first: Any
    moves: Sequence[PlayedMove]
    outcome: Outcome | None
    usage: Sequence[PlayerUsage]
    started: float


def write_record(
    job: GameJob,
    rules: Referee[Any, Any],
    game: PlayedGame,
    names: Sequence[str],
    before_result: Sequence[str] = (),
    after_result: Sequence[str] = (),
) -> str:
    """The record in the referee's format, in which the players have these `names`.

    The lines `before_result` and `after_result` stand around the result at the end.
    """
    when = datetime.fromtimestamp(game.started).astimezone()
    result = "Void"
    if game.outcome is not None:
        result = game.outcome.summary + (f" ({game.outcome.detail})" if game.outcome.detail else "")
    called = labels([player.name for player in job.players])
    remarks = [f"Event: {job.event}"] if job.event else []
    remarks += [f"Game id: {job.game_id}", f"Date: {when:%Y-%m-%d %H:%M %z}", f"Result: {result}"]
    remarks += job.remarks
    remarks += _clock_remarks(job, called)
    if job.opening:
        remarks.append(" ".join(filter(None, ("Opening:", job.opening_name, f"({len(job.opening)} moves)"))))
    for label, used in zip(called, game.usage, strict=True):
        if used.cpu_seconds is not None:
            remarks.append(f"{label} cpu time: {used.cpu_seconds:.2f} s")
    for seat, (label, used) in enumerate(zip(called, game.usage, strict=True), start=1):
        remarks.append(f"{rules.seat_name(seat)}: {label}: {indented(used.engine_description)}".rstrip(": "))
    clock = _shared_clock(job)
    record = rules.record(
        GameRecord(
            game_name=f"{job.event} {job.game_id}".strip(),
            event=job.event,
            date=f"{when:%Y-%m-%d}",
            players=tuple(names),
            moves=game.moves,
            outcome=_outcome_of_record(job, game.outcome),
            seed=job.seed,
            first=game.first if rules.arranger() is not None else None,
            remarks=tuple(remarks),
            final_remarks=(*before_result, result, *after_result),
            main_seconds=None if clock is None else clock.main_seconds,
            overtime="" if clock is None else overtime(clock),
        )
    )
    # Referees are other people's code.
    if not isinstance(record, str):
        raise TypeError(f"the record of the referee {rules.name!r} is not text: {type(record).__name__}")
    try:
        record.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the record of the referee {rules.name!r} cannot be UTF-8: {error}") from None
    return record


def _outcome_of_record(job: GameJob, outcome: Outcome | None) -> Outcome | None:
    if job.ringmaster_rules and outcome is not None and outcome.termination is Termination.MOVE_LIMIT:
        return replace(outcome, summary="Void")
    return outcome


def _shared_clock(job: GameJob) -> TimeControl | None:
    clocks = {player.time_control for player in job.players}
    return clocks.pop() if len(clocks) == 1 else None


def _clock_remarks(job: GameJob, called: Sequence[str]) -> list[str]:
    texts = [describe_clock(player) for player in job.players]
    if len(set(texts)) == 1:
        return [f"Clock: {texts[0]}"]
    return [f"Clock of {label}: {text}" for label, text in zip(called, texts, strict=True)]


def to_played_move(note: JobMove, move: Any) -> PlayedMove:
    """Make a recorded move with everything that a record has of it; `move` is the referee's own."""
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


def replay_moves(
    rules: Referee[Any, Any], first: Any, moves: Sequence[JobMove]
) -> tuple[list[PlayedMove], Any]:
    """Return the moves of whole turns as the referee knows them, and the position after them."""
    played: list[PlayedMove] = []
    position = first
    waiting = list(reversed(moves))
    while waiting:
        turn = {}
        for _ in rules.to_move(position):
            recorded = waiting.pop()
            turn[recorded.seat] = move = rules.read_move(position, recorded.seat, recorded.text)
            played.append(to_played_move(recorded, move))
        position = rules.play(position, turn)
    return played, position


def described(rules: Referee[Any, Any], note: JobMove, move: Any, before: Any, after: Any) -> JobMove:
    """A move with what ACADEMY learns from besides: the board after it, and the mover's number of moves."""
    legal = rules.legal_moves(before, note.seat)
    known_as = rules.opening_move(before, note.seat, move)
    return note._replace(
        board=rules.board(after, note.seat).letters,
        legal_moves=0 if legal is None else len(legal),
        opening_move="" if known_as == note.text else known_as,
    )


_NO_VALUES: Final[Mapping[int, float]] = {}


class GameRecorder:
    """The moves of a game, what went wrong, and what the players wrote at the end.

    `first` is the position before the first move. `remarks` and `warnings` go into the game's record,
    warnings into its result as well. What players say is made legible here, where it enters the results.
    """

    def __init__(
        self, job: GameJob, rules: Referee[Any, Any], seatings: Sequence[Seating], first: Any
    ) -> None:
        self._job = job
        self._rules = rules
        self._seatings = seatings
        self._played: list[PlayedMove] = []
        self._thought = [0.0] * rules.seats
        self._own_moves = [0] * rules.seats
        self._faults: dict[int, tuple[Fault, str, int | None]] = {}
        self._turns: int | None = 0 if rules.spec().simultaneous else None
        self.first: Any = first
        self.moves: list[JobMove] = []
        self.remarks: list[str] = []
        self.warnings: list[str] = []
        # By seat; a player may send one with each move.
        self._odd_values = [WarningList() for _ in range(rules.seats)]

    def add_thinking_time(self, seat: int, seconds: float) -> None:
        """Add the time that a seat took for a move, recorded or not."""
        self._thought[seat - 1] += seconds
        self._own_moves[seat - 1] += 1

    def fault(self, seat: int, fault: Fault, reason: str) -> None:
        """Note what a player did wrong."""
        self._faults[seat] = (fault, legible(reason), self._turns)

    def last_comment(self, seat: int, comment: str) -> None:
        """Note a player's comment on an answer that is not a recorded move."""
        if comment:
            self.remarks.append(f"last comment of {self._seatings[seat - 1].label}: {legible(comment)}")

    def scores(self, counts: Mapping[int, Outcome], outcome: Outcome) -> None:
        """Note the players' counts that differ from the result."""
        self.remarks += [
            f"score of {self._seatings[seat - 1].label}: {score.summary}"
            for seat, score in counts.items()
            if score.summary != outcome.summary
        ]

    def turn(
        self,
        choices: Mapping[int, tuple[Any, Choice]],
        before: Any,
        after: Any,
        *,
        opening: bool = False,
        stand_ins: Collection[int] = (),
    ) -> None:
        """Note the moves, by seat, that led from one position to the next.

        `stand_ins` are the seats whose players are gone: the referee moved for them, and for those that
        missed the turn.
        """
        if self._turns is not None:
            self._turns += 1
        describes = self._job.describe_positions
        interaction = bool(self._rules.interaction(after)) if describes else None
        for seat, (move, choice) in choices.items():
            text = self._rules.move_text(move)
            value = self._share(seat, choice.value, "value")
            values = _NO_VALUES if value is None else {seat: value}
            comment = legible(choice.comment)
            note = JobMove(seat, text, None, None, interaction, choice.seconds, values, comment)
            clock = self._seatings[seat - 1].clock
            if clock is not None:
                note = note._replace(clock_seconds=clock.seconds, clock_stones=clock.stones)
            if value is not None:
                before_it = self._share(seat, choice.value_before, "value before its move")
                note = note._replace(value_before=before_it)
            if opening or seat in stand_ins or choice.missed is not None:
                note = note._replace(opening=opening, stand_in=not opening)
            if describes:
                note = described(self._rules, note, move, before, after)
            self.moves.append(note)
            self._played.append(to_played_move(note, move))

    def _share(self, seat: int, value: float | None, what: str) -> float | None:
        """Return a share of the win that a player states; None, with a warning, where it can be none."""
        if value is None or 0.0 <= value <= 1.0:
            return value
        self._odd_values[seat - 1].add(f"the {what}, {value!r}, is not from 0 to 1")
        return None

    def add_odd_values(self) -> None:
        """Add the warnings of values that are not shares of the win; call it once, at the end."""
        for seating, odd in zip(self._seatings, self._odd_values, strict=True):
            self.warnings += [f"player {seating.label}: {warning}" for warning in odd.lines()]

    def usage(self, players: Sequence[Player], costs: Sequence[Cost]) -> tuple[PlayerUsage, ...]:
        """What each seat used and did wrong; of a player that could not even be made nothing is known."""
        usage = []
        for index in range(self._rules.seats):
            known = index < len(players)
            cost = costs[index] if known else Cost()
            fault, remark, turns = self._faults.get(index + 1, (Fault.NONE, "", None))
            first = players[index].disorder if known else None
            if first is not None:
                turns = first.turns
                if fault is Fault.NONE:
                    fault, remark = first.cause.fault, legible(str(first.cause))
            usage.append(
                PlayerUsage(
                    cpu_seconds=cost.cpu_seconds,
                    wall_seconds=self._thought[index],
                    peak_memory_bytes=cost.peak_memory_bytes,
                    engine_name=legible(" ".join(players[index].name.split())) if known else "",
                    engine_description=legible(players[index].description) if known else "",
                    fault=fault,
                    remark=remark,
                    turns=turns,
                    own_moves=self._own_moves[index],
                )
            )
        return tuple(usage)

    def record(
        self,
        outcome: Outcome | None,
        void_reason: str,
        players: Sequence[Player],
        usage: Sequence[PlayerUsage],
        started: float,
    ) -> str:
        """The game's record; empty for a void game without a move."""
        if outcome is None and all(move.opening for move in self.moves):
            return ""
        return write_record(
            self._job,
            self._rules,
            PlayedGame(self.first, self._played, outcome, usage, started),
            names=[legible(player.record_name) for player in players],
            before_result=self.remarks,
            after_result=[*([void_reason] if void_reason else []), *map(legible, self.warnings)],
        )
