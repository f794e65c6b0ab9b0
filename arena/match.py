"""One game: a referee, its players, the clock, the record and the verdict."""

import contextlib
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena.jobs import Fault, GameJob, GameResult, JobMove, PlayerUsage
from arena.players.failures import MoveDisputed, PlayerFailure
from arena.players.player import Choice, Cost, InvalidParameters, Player, Seating
from arena.players.protocols import player_for
from arena.players.transcript import Transcript
from arena.verdicts import Loss, agreed_score, given_against, move_limit_hit
from referees.api import (
    GameRecord,
    IllegalMove,
    Outcome,
    PlayedMove,
    Referee,
    Termination,
    UnreadableMove,
    referee,
)

SCORERS = ("internal", "players")


class InvalidJob(ValueError):
    """A job that cannot be played by anybody: a wrong number of players, an unknown scorer."""


def play(job: GameJob, slot: int | None = None) -> GameResult:
    """Play one game to its end, and leave nothing of its players behind.

    `slot` tells games that run at the same time from each other; players see it as GOMILL_SLOT.

    What goes wrong before the first move is asked for makes the game void: nobody has played, and
    the setup is at fault more often than the player. From then on a player that crashes, hangs,
    breaks its protocol or moves illegally forfeits. (Gomill's ringmaster, whose rules these are
    otherwise, makes games void for a crash and for ill-formed responses at any time and has no time
    limits; but then a player could undo each lost game by crashing.)  What goes wrong after the
    game is decided is a warning.

    Raises InvalidJob, and the referee's UnknownGame and InvalidSetting.
    """
    rules = _referee(job.game, _Settings(job.settings))
    if len(job.players) != rules.seats:
        raise InvalidJob(
            f"game {job.game_id}: {len(job.players)} players for {rules.seats} seats of {job.game}"
        )
    if job.scorer not in SCORERS:
        raise InvalidJob(f"game {job.game_id}: scorer {job.scorer!r} is none of {', '.join(SCORERS)}")
    with Transcript(job.transcript) if job.transcript else contextlib.nullcontext() as transcript:
        return _Match(job, rules, slot, transcript).play()


class _Settings:
    """Settings that can be looked up by."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._text = repr(sorted(values.items()))

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Settings) and other._text == self._text


@functools.lru_cache(maxsize=64)
def _referee(name: str, settings: _Settings) -> Referee[Any, Any]:
    # Looking through all installed packages, and describing a game, takes longer than a short game.
    return referee(name).from_settings(settings.values)


@dataclass(frozen=True)
class _Answer:
    """A legal move, with all that its player said."""

    seat: int
    move: Any
    choice: Choice


class _Match:
    def __init__(
        self, job: GameJob, rules: Referee[Any, Any], slot: int | None, transcript: Transcript | None
    ) -> None:
        self._job = job
        self._rules = rules
        self._labels = _labels([player.name for player in job.players])
        self._seatings = [
            Seating(
                setup=setup,
                seat=seat,
                label=self._labels[seat - 1],
                referee=rules,
                game_id=job.game_id,
                seed=job.seed,
                environment=_environment(job, seat, slot),
                log_path=job.log_path,
                transcript=transcript,
                settings=job.settings,
                players=tuple(self._labels),
            )
            for seat, setup in enumerate(job.players, start=1)
        ]
        self._players: list[Player] = []
        self._position = rules.start(job.seed)
        self._moves: list[JobMove] = []
        self._played: list[PlayedMove] = []
        self._faults: dict[int, tuple[Fault, str]] = {}
        self._thought = [0.0] * rules.seats
        self._warnings: list[str] = []
        self._final_remarks: list[str] = []

    def play(self) -> GameResult:
        started, clock = time.time(), time.perf_counter()
        start_board = self._rules.board(self._position, 1).letters
        costs: list[Cost] = []
        outcome: Outcome | None = None
        completed = False
        try:
            void_reason = self._set_up()
            setup_seconds = time.perf_counter() - clock
            if not void_reason:
                outcome = self._play_out()
            play_seconds = time.perf_counter() - clock - setup_seconds
            completed = True
        finally:
            with contextlib.ExitStack() as closing:
                for player in reversed(self._players):
                    closing.callback(self._close, player, costs, at_once=not completed)
        usage = self._usage(costs)
        for player in self._players:
            self._warnings += player.warnings
        return GameResult(
            game_id=self._job.game_id,
            outcome=outcome,
            void_reason=void_reason,
            moves=tuple(self._moves),
            start_board=start_board,
            usage=usage,
            record=self._record(outcome, started, usage) if outcome is not None else "",
            record_extension=self._rules.record_extension,
            started=started,
            setup_seconds=setup_seconds,
            play_seconds=play_seconds,
            warnings=tuple(self._warnings),
        )

    def _set_up(self) -> str:
        """Bring all players to the first position. Returns why the game is void, or nothing."""
        steps: tuple[Callable[[Seating], None], ...] = (
            lambda seating: self._players.append(player_for(seating)),
            # All are launched before one is waited for: slow starters start side by side.
            lambda seating: self._players[seating.seat - 1].start(),
            lambda seating: self._players[seating.seat - 1].set_up(),
        )
        for step in steps:
            for seating in self._seatings:
                try:
                    step(seating)
                except InvalidParameters as error:
                    return self._void(seating.seat, Fault.PROTOCOL, f"player {seating.label}: {error}")
                except PlayerFailure as failure:
                    return self._void(seating.seat, failure.fault, str(failure))
        return ""

    def _close(self, player: Player, costs: list[Cost], *, at_once: bool) -> None:
        costs.append(player.close(at_once=at_once))

    def _void(self, seat: int, fault: Fault, reason: str) -> str:
        self._faults[seat] = (fault, reason)
        return reason

    def _play_out(self) -> Outcome:
        while seats := self._rules.to_move(self._position):
            if len(self._moves) >= self._job.move_limit:
                return move_limit_hit(self._job.move_limit)
            answers = [self._choose(seat) for seat in seats]
            losses = [answer for answer in answers if isinstance(answer, Loss)]
            if not losses:
                losses = self._make([answer for answer in answers if isinstance(answer, _Answer)])
            if losses:
                return given_against(self._rules, losses)
        return self._count()

    def _choose(self, seat: int) -> _Answer | Loss:
        rules, position, player = self._rules, self._position, self._players[seat - 1]
        try:
            choice = player.choose(rules.view(position, seat))
        except PlayerFailure as failure:
            return self._forfeit(seat, failure.fault, str(failure))
        self._thought[seat - 1] += choice.seconds
        if choice.resigns:
            self._note_last_comment(seat, choice.comment)
            return Loss(seat, Termination.RESIGNATION)
        text = choice.text[:80]
        try:
            move = rules.read_move(position, seat, choice.text)
            rules.check(position, seat, move)
        except UnreadableMove as error:
            reason = f"attempted ill-formed move {text!r}: {error}"
        except IllegalMove as error:
            reason = f"attempted illegal move {text}: {error}"
        else:
            return _Answer(seat, move, choice)
        self._note_last_comment(seat, choice.comment)
        return self._forfeit(seat, Fault.ILLEGAL_MOVE, reason)

    def _make(self, answers: Sequence[_Answer]) -> list[Loss]:
        """Play the moves, tell the players and record them; a move that is disputed is not recorded."""
        rules, before = self._rules, self._position
        moves = {answer.seat: answer.move for answer in answers}
        self._position = rules.play(before, moves)
        losses = self._tell(moves)
        if not any(loss.seat in moves for loss in losses):
            interaction = bool(rules.interaction(self._position))
            for answer in answers:
                self._note(answer, before, interaction)
        return losses

    def _tell(self, moves: dict[int, Any]) -> list[Loss]:
        decided = not self._rules.to_move(self._position)
        losses = []
        for seat, player in enumerate(self._players, start=1):
            if set(moves) == {seat}:
                continue
            try:
                player.told(moves, self._rules.view(self._position, seat))
            except PlayerFailure as failure:
                if decided:
                    self._warnings.append(str(failure))
                else:
                    at_fault = failure.mover if isinstance(failure, MoveDisputed) else seat
                    losses.append(self._forfeit(at_fault, failure.fault, str(failure)))
        return losses

    def _note(self, answer: _Answer, before: Any, interaction: bool) -> None:
        rules, seat, choice = self._rules, answer.seat, answer.choice
        legal = rules.legal_moves(before, seat)
        text = rules.move_text(answer.move)
        values = {} if choice.value is None else {seat: choice.value}
        self._moves.append(
            JobMove(
                seat=seat,
                text=text,
                board=rules.board(self._position, seat).letters,
                legal_moves=0 if legal is None else len(legal),
                interaction=interaction,
                seconds=choice.seconds,
                values=values,
                comment=choice.comment,
            )
        )
        self._played.append(PlayedMove(seat, answer.move, text, choice.seconds, values, choice.comment))

    def _forfeit(self, seat: int, fault: Fault, reason: str) -> Loss:
        self._faults[seat] = (fault, reason)
        reason = f"forfeit by {self._labels[seat - 1]}: {reason}"
        self._warnings.append(reason)
        return Loss(seat, Termination.FORFEIT, reason)

    def _note_last_comment(self, seat: int, comment: str) -> None:
        if comment:
            self._final_remarks.append(f"last comment of {self._labels[seat - 1]}: {comment}")

    def _count(self) -> Outcome:
        rules, position = self._rules, self._position
        outcome = rules.outcome(position) or rules.adjudicate(position)
        if outcome is None:
            return Outcome((), Termination.UNKNOWN, "?", detail="the referee has no verdict")
        if self._job.scorer == "internal" or outcome.termination is not Termination.SCORE:
            return outcome
        told: dict[int, Outcome] = {}
        for seat, player in enumerate(self._players, start=1):
            try:
                score = player.score()
            except PlayerFailure as failure:
                self._warnings.append(str(failure))
                continue
            if score is not None:
                told[seat] = score
        outcome = agreed_score(rules, told)
        self._final_remarks += [
            f"score of {self._labels[seat - 1]}: {score.summary}"
            for seat, score in told.items()
            if score.summary != outcome.summary
        ]
        return outcome

    def _usage(self, costs: Sequence[Cost]) -> tuple[PlayerUsage, ...]:
        usage = []
        for index in range(self._rules.seats):
            # A player that could not even be made has neither name nor cost.
            known = index < len(self._players)
            cost = costs[index] if known else Cost()
            fault, remark = self._faults.get(index + 1, (Fault.NONE, ""))
            usage.append(
                PlayerUsage(
                    cpu_seconds=cost.cpu_seconds,
                    wall_seconds=self._thought[index],
                    peak_memory_bytes=cost.peak_memory_bytes,
                    engine_name=self._players[index].name if known else "",
                    engine_description=self._players[index].description if known else "",
                    fault=fault,
                    remark=remark,
                )
            )
        return tuple(usage)

    def _record(self, outcome: Outcome, started: float, usage: Sequence[PlayerUsage]) -> str:
        job, rules = self._job, self._rules
        when = datetime.fromtimestamp(started).astimezone()
        result = outcome.summary + (f" ({outcome.detail})" if outcome.detail else "")
        remarks = [f"Event: {job.event}"] if job.event else []
        remarks += [f"Game id: {job.game_id}", f"Date: {when:%Y-%m-%d %H:%M %z}", f"Result: {result}"]
        for label, used in zip(self._labels, usage, strict=True):
            if used.cpu_seconds is not None:
                remarks.append(f"{label} cpu time: {used.cpu_seconds:.2f} s")
        for seat, (label, used) in enumerate(zip(self._labels, usage, strict=True), start=1):
            remarks.append(f"{rules.seat_name(seat)}: {label}: {used.engine_description}".rstrip(": "))
        return rules.record(
            GameRecord(
                game_name=f"{job.event} {job.game_id}".strip(),
                event=job.event,
                date=f"{when:%Y-%m-%d}",
                players=tuple(player.name for player in job.players),
                moves=self._played,
                outcome=outcome,
                seed=job.seed,
                remarks=tuple(remarks),
                final_remarks=(*self._final_remarks, result, *self._warnings),
            )
        )


def _labels(names: Sequence[str]) -> list[str]:
    """The players' names, with the seat where one name sits twice."""
    return [name if names.count(name) == 1 else f"{name}#{seat}" for seat, name in enumerate(names, start=1)]


def _environment(job: GameJob, seat: int, slot: int | None) -> dict[str, str]:
    environment = {"GOMILL_GAME_ID": job.game_id}
    if slot is not None:
        environment["GOMILL_SLOT"] = str(slot)
    if job.academy is not None:
        environment["ACADEMY_ADDRESS"] = job.academy.address
        environment["ACADEMY_CONTEST"] = job.academy.contest_id
        environment["ACADEMY_TOKEN"] = job.academy.tickets[seat - 1]
        if job.academy.tls_ca is not None:
            environment["ACADEMY_TLS_CA"] = job.academy.tls_ca
    return environment
