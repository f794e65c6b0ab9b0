"""One game: who sits where, the referee, the players, the clock, the record and the verdict."""

import contextlib
import functools
import json
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.jobs import Fault, GameJob, GameResult, JobMove
from arena.match.game_seeds import seat_seed
from arena.match.live_game import LiveFile, LiveHeading
from arena.match.recorder import GameRecorder, labels
from arena.match.verdicts import Adjudicator, Departures, Loss, agreed_score, is_witnessed, move_limit_hit
from arena.players.clock import Clock
from arena.players.logs import Transcript
from arena.players.player import (
    Choice,
    Cost,
    InvalidPlayerParametersError,
    LobbyGoneError,
    MoveDisputedError,
    Player,
    PlayerError,
    Seating,
)
from arena.players.protocols import player_for
from referees.api import (
    IllegalMoveError,
    Outcome,
    Referee,
    Termination,
    UnreadableMoveError,
    referee,
)
from referees.legible_text import legible


def seatings(
    job: GameJob, rules: Referee[Any, Any], first: Any, slot: int | None, transcript: Transcript | None
) -> list[Seating]:
    """The seats of a game that begins with the position `first`; players see the `slot` as GOMILL_SLOT."""
    called = labels([player.name for player in job.players])
    return [
        Seating(
            setup=setup,
            seat=seat,
            label=label,
            referee=rules,
            game_id=job.game_id,
            seed=job.seat_seeds[seat - 1] if job.seat_seeds else seat_seed(job.seed, seat),
            environment=_environment(job, rules, seat, slot),
            log_path=job.log_path,
            transcript=transcript,
            clock=None if setup.time_control is None else Clock(setup.time_control),
            settings=job.settings,
            players=tuple(called),
            first_view=rules.view(first, seat),
        )
        for seat, (setup, label) in enumerate(zip(job.players, called, strict=True), start=1)
    ]


def _environment(job: GameJob, rules: Referee[Any, Any], seat: int, slot: int | None) -> dict[str, str]:
    environment = {"GOMILL_GAME_ID": job.game_id}
    if slot is not None:
        environment["GOMILL_SLOT"] = str(slot)
    if job.academy is not None:
        environment["ACADEMY_ADDRESS"] = job.academy.address
        environment["ACADEMY_CONTEST"] = job.academy.contest_id
        environment["ACADEMY_GAME"] = job.academy.game_id or rules.spec().game_id
        environment["ACADEMY_PLAYER"] = str(seat)
        environment["ACADEMY_TOKEN"] = job.academy.tickets[seat - 1]
        if job.academy.tls_ca is not None:
            environment["ACADEMY_TLS_CA"] = job.academy.tls_ca
    return environment


_RULES: Final = {
    "scorer": ("internal", "players"),
    "failures": ("forfeit", "void"),
}
# What Gomill's ringmaster makes a game void for, however far it has come.
_VOIDING = (Fault.DISCONNECTED, Fault.PROTOCOL)


class InvalidJobError(ValueError):
    """A job that cannot be played by anybody: a wrong number of players, an unknown scorer."""


class _GameVoidError(RuntimeError):
    """The game cannot go on, and has no result; the message says why."""


@dataclass(frozen=True)
class GameProgress:
    """Moves that were played since the last time; `arrangement` is the first position's, if there is one.

    `gone` are the seats whose players have left so far.
    """

    game_id: str
    moves: tuple[JobMove, ...]
    arrangement: str | None
    gone: frozenset[int] = frozenset()


def play(
    job: GameJob, slot: int | None = None, on_progress: Callable[[GameProgress], None] | None = None
) -> GameResult:
    """Play one game to its end, and leave nothing of its players behind.

    `slot` distinguishes games that run at the same time; players see it as GOMILL_SLOT. `on_progress`
    is called with the new moves before each request for a move.

    What goes wrong before the first move is asked for makes the game void: no player has moved, and
    the setup is at fault more often than the player. From then on a player that crashes, hangs,
    breaks its protocol or moves illegally forfeits. (Gomill's ringmaster, whose rules these are
    otherwise, makes games void for a crash and for ill-formed responses at any time and has no time
    limits; but then a player could undo each lost game by crashing. A job whose `failures` are `void`
    asks for that rule.)  What goes wrong after the game is decided is a warning.

    The referee's verdict on a move stands: a player that refuses a move of another as illegal forfeits. (By
    the ringmaster's rule, which a job asks for with `ringmaster_rules`, the mover does.) A result that
    a player's word alone has made is `unproven`.

    A game of more than two goes on where its referee has moves for a seat whose player forfeits or
    resigns, as long as somebody is left to play it. A game whose players have all left, some of them by
    being lost (disconnected or late), is void: one player alone cannot undo a game.

    Raises InvalidJobError, and the referee's UnknownRefereeError and InvalidSettingError.
    """
    # Looking through all installed packages, and describing a game, takes longer than a short game.
    rules = _referee(job.game, pickle.dumps(dict(job.settings)))
    if len(job.players) != rules.seats:
        raise InvalidJobError(
            f"game {job.game_id}: {len(job.players)} players for {rules.seats} seats of {job.game}"
        )
    for name, known in _RULES.items():
        if (given := getattr(job, name)) not in known:
            raise InvalidJobError(f"game {job.game_id}: {name} {given!r} is not one of {', '.join(known)}")
    with Transcript(job.transcript) if job.transcript else contextlib.nullcontext() as transcript:
        return _Match(job, rules, slot, transcript, on_progress).play()


@functools.lru_cache(maxsize=64)
def _referee(name: str, settings: bytes) -> Referee[Any, Any]:
    return referee(name).from_settings(pickle.loads(settings))


class _Answer(NamedTuple):
    """A legal move, with everything in its player's answer; no move where the player claims the game."""

    seat: int
    move: Any
    choice: Choice


class _Match:
    def __init__(
        self,
        job: GameJob,
        rules: Referee[Any, Any],
        slot: int | None,
        transcript: Transcript | None,
        on_progress: Callable[[GameProgress], None] | None,
    ) -> None:
        self._job = job
        self._rules = rules
        first = rules.start(job.seed)
        self._seatings = seatings(job, rules, first, slot, transcript)
        self._players: list[Player] = []
        self._sheet = GameRecorder(job, rules, self._seatings, first)
        self._position = self._sheet.first
        self._adjudicator = None if job.adjudication is None else Adjudicator(job.adjudication, rules)
        self._arrangement: str | None = None
        self._on_progress = on_progress
        self._moves_reported = 0
        self._live: LiveFile | None = None
        self._gone = Departures(rules, self._seatings, self._sheet)
        self._absent: int | None = None
        self._unproven = ""
        # Whether a player has lost by refusing a move of the opening.
        self._decided = False
        self._started = time.time()

    def play(self) -> GameResult:
        started, clock = self._started, time.perf_counter()
        costs: list[Cost] = []
        outcome: Outcome | None = None
        completed = False
        try:
            setup_seconds = 0.0
            try:
                void_reason = self._set_up()
                setup_seconds = time.perf_counter() - clock
                if not void_reason:
                    outcome = self._possible(self._play_out())
            except _GameVoidError as void:
                void_reason = str(void)
            play_seconds = time.perf_counter() - clock - setup_seconds
            completed = True
            for player in self._players:
                with contextlib.suppress(PlayerError):
                    player.ended(outcome, void_reason)
        finally:
            with contextlib.ExitStack() as closing:
                if self._live is not None:
                    closing.callback(self._live.close)
                for player in reversed(self._players):
                    closing.callback(self._close, player, costs, at_once=not completed)
        sheet = self._sheet
        if self._unproven and self._job.academy is not None:
            sheet.warnings.append(f"ACADEMY counts the game as void: {self._unproven}")
        usage = sheet.usage(self._players, costs)
        sheet.add_odd_values()
        for player in self._players:
            sheet.warnings += player.warnings
        return GameResult(
            game_id=self._job.game_id,
            outcome=outcome,
            void_reason=void_reason,
            moves=tuple(sheet.moves),
            start_board=self._rules.board(sheet.first, 1).letters,
            usage=usage,
            record=sheet.record(outcome, void_reason, self._players, usage, started),
            record_extension=self._rules.record_extension,
            started=started,
            setup_seconds=setup_seconds,
            play_seconds=play_seconds,
            warnings=tuple(map(legible, sheet.warnings)),
            absent=self._absent,
            unproven=self._unproven,
            arrangement=self._arrangement,
            attempt=self._job.attempt,
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
                except InvalidPlayerParametersError as error:
                    return self._note_fault(seating.seat, Fault.PROTOCOL, f"player {seating.label}: {error}")
                except PlayerError as failure:
                    return self._unready(seating.seat, failure)
        return self._arrange() or self._open()

    def _arrange(self) -> str:
        """Have a seat arrange the first position, if one does. Returns why the game is void, or nothing."""
        arranger = self._rules.arranger()
        if arranger is None:
            return ""
        # Whose player is at fault if a call fails.
        called = arranger
        try:
            self._arrangement = self._players[arranger - 1].arrange()
            if self._arrangement is not None:
                self._sheet.first = self._position = self._rules.arrange(self._arrangement)
            for seat, player in enumerate(self._players, start=1):
                if seat != arranger or self._arrangement is None:
                    called = seat
                    player.arranged(self._rules.view(self._position, seat))
        except UnreadableMoveError as error:
            label = self._seatings[called - 1].label
            return self._note_fault(called, Fault.PROTOCOL, f"player {label}: {error}")
        except PlayerError as failure:
            return self._unready(called, failure)
        return ""

    def _open(self) -> str:
        """Make the opening's moves. Returns why the game is void, or nothing."""
        rules = self._rules
        waiting = list(reversed(self._job.opening))
        while waiting:
            before, moves = self._position, {}
            number = len(self._sheet.moves) + 1
            seats = rules.to_move(before)
            if not seats or len(waiting) < len(seats):
                why = "moves of some seats are missing" if seats else "the game is over"
                return f"opening {self._job.opening_name!r}: move {number}: {why}"
            try:
                for seat in seats:
                    moves[seat] = rules.read_move(before, seat, waiting.pop())
                    rules.check(before, seat, moves[seat])
                self._position = rules.play(before, moves)
            except (UnreadableMoveError, IllegalMoveError) as error:
                return f"opening {self._job.opening_name!r}: move {number}: {error}"
            for seat, player in enumerate(self._players, start=1):
                try:
                    player.take_opening(moves, rules.view(self._position, seat))
                except MoveDisputedError as dispute:
                    if self._job.ringmaster_rules:
                        return self._unready(seat, dispute)
                    self._decided |= not self._gone.note_loss(self._dispute(seat, dispute), self._position)
                except PlayerError as failure:
                    return self._unready(seat, failure)
            choices = {seat: (move, Choice(rules.move_text(move))) for seat, move in moves.items()}
            self._sheet.turn(choices, before, self._position, opening=True)
            if self._decided:
                break
        return ""

    def _close(self, player: Player, costs: list[Cost], *, at_once: bool) -> None:
        costs.append(player.close(at_once=at_once))

    def _unready(self, seat: int, failure: PlayerError) -> str:
        """A player failed before the game. Returns why the game is void."""
        if failure.fault in (Fault.LATE, Fault.DISCONNECTED) and not failure.passing:
            self._absent = seat
        return self._note_fault(seat, failure.fault, str(failure))

    def _note_fault(self, seat: int, fault: Fault, reason: str) -> str:
        """Note what a seat's player, if it could be made, did wrong. Returns the reason, made legible."""
        reason = legible(reason)
        self._sheet.fault(seat, fault, reason)
        if seat <= len(self._players):
            self._players[seat - 1].faulty = True
        return reason

    def _play_out(self) -> Outcome:
        if self._decided:
            return self._end_without_players()
        while seats := self._rules.to_move(self._position):
            if self._gone.all_left(self._position):
                return self._end_without_players()
            if (decided := self._adjudicate()) is not None:
                return decided
            self._report_progress()
            answers = [self._answer(seat) for seat in seats]
            for answer in answers:
                if isinstance(answer, _Answer) and answer.choice.claims:
                    self._unproven = "claimed by the winner"
                    return self._rules.won_by(answer.seat, Termination.CLAIM, "claim")
            moves = [answer for answer in answers if isinstance(answer, _Answer)]
            if len(moves) < len(answers) or self._make(moves):
                return self._end_without_players()
        return self._count()

    def _possible(self, outcome: Outcome) -> Outcome:
        """The outcome, which may be of other people's code; where it cannot be, the game is void."""
        if what := outcome.contradiction(self._rules.seats):
            raise _GameVoidError(f"the referee of {self._job.game!r} gives an outcome that cannot be: {what}")
        return outcome

    def _adjudicate(self) -> Outcome | None:
        """The outcome by the move limit or by the adjudicator, or None while the game goes on."""
        plies = len(self._sheet.moves)
        if plies >= self._job.move_limit:
            return move_limit_hit(self._job.move_limit)
        return self._adjudicator.verdict(self._position, plies) if self._adjudicator is not None else None

    def _end_without_players(self) -> Outcome:
        """The outcome of a game that cannot go on without those that left; it is void when all left."""
        if why := self._gone.breakdown(self._position):
            raise _GameVoidError(f"nobody plays any more: {why}")
        return self._gone.outcome(self._position)

    def _answer(self, seat: int) -> _Answer | Loss:
        """What the seat's player answers, or the referee for it where it is gone."""
        if seat not in self._gone:
            answer = self._choose(seat)
            if not isinstance(answer, Loss):
                return answer
            goes_on = self._gone.note_loss(answer, self._position)
            # The next to be asked may hang until the worker is ended.
            self._report_progress()
            if not goes_on:
                return answer
        move = self._rules.stand_in_move(self._position, seat)
        if move is None:
            return self._gone.loss_of(seat)
        return _Answer(seat, move, Choice(self._rules.move_text(move)))

    def _report_progress(self) -> None:
        new = tuple(self._sheet.moves[self._moves_reported :])
        self._moves_reported += len(new)
        if self._on_progress is not None:
            self._on_progress(GameProgress(self._job.game_id, new, self._arrangement, self._gone.seats))
        if self._job.live_path is not None:
            self._grow_live_file(self._job.live_path, new)

    def _grow_live_file(self, path: str, moves: Sequence[JobMove]) -> None:
        """Append a turn to the file that watchers read; the first call makes it."""
        if self._live is None:
            names = tuple(player.name for player in self._job.players)
            settings = json.dumps(dict(self._job.settings), default=str)
            heading = LiveHeading(
                self._job.game_id, names, self._started, self._arrangement, self._rules.hides, settings
            )
            self._live = LiveFile(Path(path), heading)
        self._live.add(moves)

    def _choose(self, seat: int) -> _Answer | Loss:
        rules, position, player = self._rules, self._position, self._players[seat - 1]
        started = time.perf_counter()
        try:
            choice = player.choose(rules.view(position, seat))
        except PlayerError as failure:
            self._sheet.add_thinking_time(seat, time.perf_counter() - started)
            return self._fail(seat, failure)
        self._sheet.add_thinking_time(seat, choice.seconds)
        clock = self._seatings[seat - 1].clock
        if clock is not None and not clock.spend(choice.seconds):
            reason = f"took {choice.seconds:.3g} s for a move ({clock.description})"
            return self._forfeit(seat, Fault.LATE, reason)
        if choice.claims:
            self._sheet.last_comment(seat, choice.comment)
            return _Answer(seat, None, choice)
        if choice.resigns:
            self._sheet.last_comment(seat, choice.comment)
            return Loss(seat, Termination.RESIGNATION)
        text = choice.text[:80]
        try:
            move = rules.read_move(position, seat, choice.text)
            rules.check(position, seat, move)
        except UnreadableMoveError as error:
            reason = f"attempted ill-formed move {text!r}: {error}"
        except IllegalMoveError as error:
            reason = f"attempted illegal move {text}: {error}"
        else:
            return _Answer(seat, move, choice)
        self._sheet.last_comment(seat, choice.comment)
        return self._forfeit(seat, Fault.ILLEGAL_MOVE, reason)

    def _make(self, answers: Sequence[_Answer]) -> list[Loss]:
        """Play the moves, show them to the players and record them; a believed dispute undoes the move."""
        rules, before = self._rules, self._position
        moves = {answer.seat: answer.move for answer in answers}
        stand_ins = self._gone.seats
        self._position = rules.play(before, moves)
        losses = [loss for loss in self._show_moves(moves) if not self._gone.note_loss(loss, self._position)]
        if not self._unproven:
            choices = {answer.seat: (answer.move, answer.choice) for answer in answers}
            self._sheet.turn(choices, before, self._position, stand_ins=stand_ins)
            if self._adjudicator is not None:
                for answer in answers:
                    self._adjudicator.note(answer.seat, answer.choice.value)
        return losses

    def _show_moves(self, moves: dict[int, Any]) -> list[Loss]:
        """Show the moves to the players, a single move to the others only. Returns who loses by that."""
        losses: list[Loss] = []
        alone = next(iter(moves)) if len(moves) == 1 else None
        for seat, player in enumerate(self._players, start=1):
            if seat == alone or seat in self._gone:
                continue
            try:
                player.take_moves(moves, self._rules.view(self._position, seat))
            except PlayerError as failure:
                if not self._rules.to_move(self._position):
                    self._sheet.warnings.append(str(failure))
                elif isinstance(failure, MoveDisputedError):
                    losses.append(self._dispute(seat, failure))
                else:
                    losses.append(self._fail(seat, failure))
        return losses

    def _dispute(self, seat: int, dispute: MoveDisputedError) -> Loss:
        """Judge a player that refuses a move which the referee has accepted."""
        if self._job.ringmaster_rules:
            self._unproven = "disputed move"
            reason = f"{dispute}; it is believed, as Gomill's ringmaster does"
            return self._forfeit(dispute.mover, Fault.ILLEGAL_MOVE, reason)
        return self._forfeit(seat, dispute.fault, f"{dispute}, but the referee has accepted it")

    def _fail(self, seat: int, failure: PlayerError) -> Loss:
        """Judge a player that failed during the game; nobody loses by the arena's own fault."""
        if isinstance(failure, LobbyGoneError):
            raise _GameVoidError(legible(str(failure)))
        return self._forfeit(seat, failure.fault, str(failure))

    def _forfeit(self, seat: int, fault: Fault, reason: str) -> Loss:
        reason = self._note_fault(seat, fault, reason)
        if self._job.failures == "void" and fault in _VOIDING:
            raise _GameVoidError(reason)
        reason = f"forfeit by {self._seatings[seat - 1].label}: {reason}"
        self._sheet.warnings.append(reason)
        return Loss(seat, Termination.FORFEIT, reason, fault)

    def _count(self) -> Outcome:
        rules, position = self._rules, self._position
        outcome = rules.outcome(position) or rules.adjudicate(position)
        if outcome is None:
            return Outcome((), Termination.UNKNOWN, "?", detail="the referee has no verdict")
        self._possible(outcome)
        if self._job.scorer == "internal" or outcome.termination is not Termination.SCORE:
            return outcome
        scores: dict[int, Outcome] = {}
        for seat, player in enumerate(self._players, start=1):
            if seat in self._gone:
                continue
            try:
                score = player.score()
            except PlayerError as failure:
                self._sheet.warnings.append(str(failure))
                continue
            if score is not None:
                scores[seat] = score
        agreed = agreed_score(rules, scores)
        self._sheet.scores(scores, agreed)
        if agreed.winners and agreed.winners != outcome.winners and not is_witnessed(agreed, scores):
            self._unproven = "counted by the winner alone"
        return agreed
