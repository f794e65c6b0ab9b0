"""Players that are GTP engines in child processes."""

import time
from collections.abc import Mapping
from typing import Any, Final

from arena.players.failures import IllFormed, Late, MoveDisputed, PlayerFailure, Refused
from arena.players.gtp_engine import ACADEMY_CONTEST, MAX_COMMENT, GtpEngine, number
from arena.players.gtp_parameters import GtpParameters
from arena.players.kept_engines import KeptEngines
from arena.players.player import Choice, Cost, InvalidParameters, Player, Seating
from referees.api import Outcome, UnreadableMove
from referees.gtp import GtpGame

EXPECTED_VALUE: Final = "academy-expected_value"
EXPLAIN_LAST_MOVE: Final = "gomill-explain_last_move"
GENMOVE_WITH_CLAIMS: Final = "gomill-genmove_ex"


class GtpPlayer(Player):
    """A GTP engine that runs as a child process.

    Besides the standard commands it uses, where the engine has them, `time_settings`, `time_left`,
    `gomill-describe_engine`, `gomill-explain_last_move`, `gomill-genmove_ex`, `gomill-cpu_time`, and
    `academy-expected_value`: the engine's own expected value (0 to 1) for itself of the position after
    its last move, or two: of the position before the move, and after it.
    """

    def __init__(self, seating: Seating, kept: KeptEngines | None = None) -> None:
        """Take a seat; `kept` has engines of earlier games, None where each game has its own."""
        super().__init__(seating)
        self._kept = kept
        self._setup = seating.setup
        self._parameters = GtpParameters.read(seating.setup.parameters)
        words = seating.referee.dialogue("gtp")
        if words is None:
            raise InvalidParameters(f"the game {seating.referee.name!r} is not played over GTP")
        self._words: GtpGame[Any, Any] = words  # type: ignore[assignment]
        self._engine: GtpEngine | None = None
        # Asked when they are needed first, and remembered here: to look it up each time takes a while.
        self._request: tuple[str, ...] | None = None
        self._says_moves_only = False

    @property
    def record_name(self) -> str:
        """The engine's own name, where the setup wants it and the engine has one."""
        return (self._parameters.name_from_gtp and self.name) or super().record_name

    def _ask(self, *words: str, seconds: float | None = None) -> str:
        assert self._engine is not None
        return self._engine.ask(*words, seconds=self._setup.move_seconds if seconds is None else seconds)

    def _ask_by(self, deadline: float, *words: str) -> str:
        return self._ask(*words, seconds=max(0.0, deadline - time.monotonic()))

    def _knows(self, command: str) -> bool:
        assert self._engine is not None
        return self._engine.knows(command, self._setup.move_seconds)

    def start(self) -> None:
        """Take an engine that was kept, or launch the program."""
        if self._kept is not None and not self._setup.restart:
            self._engine = self._kept.take(self.seating)
        if self._engine is None:
            self._engine = GtpEngine(self.seating, self._parameters)

    def set_up(self) -> None:
        """Shake hands, send the startup commands and set up the board, within `start_seconds` in all."""
        assert self._engine is not None
        if self._engine.played:
            try:
                self._prepare()
                return
            except PlayerFailure:
                # What a kept engine has become is not its player's failure in this game.
                self._engine.end(0.0)
                self._engine = GtpEngine(self.seating, self._parameters)
        self._prepare()

    def _prepare(self) -> None:
        assert self._engine is not None
        limit = self._setup.start_seconds
        deadline = time.monotonic() + limit
        try:
            if not self._engine.played:
                self._engine.shake_hands(deadline)
            self.name, self.description = self._engine.name, self._engine.description
            self._enter_contest(deadline)
            for command in self._parameters.startup_commands:
                self._ask_by(deadline, *command)
            for line in self._words.setup():
                self._ask_by(deadline, *line.split())
            self._set_clock(deadline)
            self._place_handicap(deadline)
        except Late as failure:
            raise Late(f"{failure} (all of the start-up may take {limit:g} s)") from failure

    def _enter_contest(self, deadline: float) -> None:
        """Tell an engine that is kept of its contest at ACADEMY; others have it in their environment."""
        environment = self.seating.environment
        assert self._engine is not None
        if self._setup.restart or "ACADEMY_TOKEN" not in environment:
            return
        try:
            if self._engine.takes_contests(max(0.0, deadline - time.monotonic())):
                self._engine.enter_contest(environment, max(0.0, deadline - time.monotonic()))
                return
            why = "" if self._engine.played else self.without_academy()
        except Refused as refusal:
            why = f"{refusal}; it plays without ACADEMY"
        if why:
            self.warnings.append(why)

    def without_academy(self) -> str:
        """As of any player; to be asked after `set_up`."""
        assert self._engine is not None
        if self._setup.restart or self._engine.takes_contests(self._setup.start_seconds):
            return ""
        return (
            f"player {self.seating.label} plays without ACADEMY: with restart = false it is kept for many "
            f"contests, and its list_commands has no '{ACADEMY_CONTEST}', by which it would be told of each"
        )

    def _set_clock(self, deadline: float) -> None:
        control = self._setup.time_control
        assert self._engine is not None
        if control is None or not self._engine.knows("time_settings", max(0.0, deadline - time.monotonic())):
            return
        # Whole seconds, for GTP knows no others; increments show in time_left alone.
        byo_yomi = max(1, int(control.byo_yomi_seconds)) if control.byo_yomi_seconds else 0
        stones = control.byo_yomi_stones if byo_yomi else 0
        self._ask_by(deadline, "time_settings", str(int(control.main_seconds)), str(byo_yomi), str(stones))

    def _place_handicap(self, deadline: float) -> None:
        command = self._words.handicap()
        if command is None:
            return
        try:
            self._words.check_handicap(self._ask_by(deadline, *command.split()))
        except UnreadableMove as error:
            raise IllFormed(f"player {self.seating.label}: '{command}': {error}") from error

    def arrange(self) -> str:
        """Ask the engine for the first position."""
        return self._ask(*self._words.ask_arrangement().split(), seconds=self._setup.start_seconds)

    def arranged(self, view: Any) -> None:
        """Tell the engine of the first position."""
        self._ask(*self._words.tell_arrangement(view).split(), seconds=self._setup.start_seconds)

    def choose(self, view: Any) -> Choice:
        """Ask for a move, and what the engine thinks of it. The view is not sent: engines remember."""
        engine, clock = self._engine, self.seating.clock
        assert engine is not None
        if clock is not None and self._knows("time_left"):
            colour = self._words.colour(self.seating.seat)
            self._ask("time_left", colour, str(int(clock.seconds)), str(clock.stones))
        request = self._request or self._move_request()
        started = time.perf_counter()
        try:
            text = engine.ask(*request, seconds=self.seating.move_seconds)
        except Late as failure:
            raise Late(self.seating.late(str(failure))) from failure
        seconds = time.perf_counter() - started
        answer = text.lower()
        if answer == "resign":
            return Choice(text, True, seconds, comment=self._last_words())
        if answer == "claim" and request[0] == GENMOVE_WITH_CLAIMS:
            return Choice(text, False, seconds, comment=self._last_words(), claims=True)
        if self._says_moves_only:
            return Choice(text, False, seconds)
        value_before, value = self._expected_values()
        choice = Choice(text, False, seconds, value, self._explanation(), value_before=value_before)
        self._says_moves_only = not (self._knows(EXPECTED_VALUE) or self._knows(EXPLAIN_LAST_MOVE))
        return choice

    def _move_request(self) -> tuple[str, ...]:
        colour = self._words.colour(self.seating.seat)
        claims = self._parameters.allow_claim and self._knows(GENMOVE_WITH_CLAIMS)
        self._request = (GENMOVE_WITH_CLAIMS, colour, "claim") if claims else ("genmove", colour)
        return self._request

    def _explanation(self) -> str:
        try:
            return self._ask(EXPLAIN_LAST_MOVE)[:MAX_COMMENT] if self._knows(EXPLAIN_LAST_MOVE) else ""
        except Refused:
            return ""

    def _last_words(self) -> str:
        # It has resigned or won: whatever happens now changes nothing any more.
        try:
            return self._explanation()
        except PlayerFailure as failure:
            self.warnings.append(str(failure))
            return ""

    def _expected_values(self) -> tuple[float | None, float | None]:
        """What the engine expected before its last move, where it tells that too, and after it."""
        if not self._knows(EXPECTED_VALUE):
            return None, None
        try:
            answer = self._ask(EXPECTED_VALUE)
        except Refused:
            return None, None
        values = [number(word) for word in answer.split()]
        match values:
            case [value] if _is_value(value):
                return None, value
            case [before, value] if _is_value(before) and _is_value(value):
                return before, value
        self.warnings.append(
            f"player {self.seating.label}: '{EXPECTED_VALUE}': {answer[:80]!r} is no number from 0 to 1, "
            "nor two of them"
        )
        return None, None

    def given(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send all the moves."""
        for seat, move in moves.items():
            self._play(seat, move)

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send the others' moves. A failure that begins with `illegal move` disputes one."""
        for seat, move in moves.items():
            if seat != self.seating.seat:
                self._play(seat, move)

    def _play(self, seat: int, move: Any) -> None:
        engine, words, vertex = self._engine, self._words, self._words.vertex(move)
        assert engine is not None
        try:
            engine.ask("play", words.colour(seat), *vertex.split(), seconds=self._setup.move_seconds)
        except Refused as refusal:
            if refusal.answer.casefold().startswith("illegal move"):
                mover = self.seating.players[seat - 1] if self.seating.players else words.colour(seat)
                raise MoveDisputed(
                    f"player {self.seating.label} refuses the move {vertex} of {mover}: "
                    f'"{refusal.answer[:500]}"',
                    seat,
                ) from refusal
            raise

    def can_score(self) -> bool:
        """Whether the engine has `final_score` and is a reliable scorer."""
        return self._parameters.reliable_scorer and self._knows("final_score")

    def score(self) -> Outcome | None:
        """The engine's `final_score`, if it has one and is a reliable scorer."""
        if not self.can_score():
            return None
        try:
            return self._words.read_score(self._ask("final_score"))
        except Refused:
            return None

    def close(self, *, at_once: bool = False) -> Cost:
        """Ask for the CPU time and end or keep the process, all within `exit_seconds`."""
        engine, self._engine = self._engine, None
        if engine is None:
            return Cost()
        kept, limit = self._kept, self._setup.exit_seconds
        if kept is not None and not self._setup.restart and not at_once and not self.faulty:
            try:
                if engine.healthy:
                    cost = engine.leave_seat(limit)
                    kept.put(engine)
                    return cost
            except PlayerFailure as failure:
                self.warnings.append(str(failure))
        cost, warning = engine.end(0.0 if at_once else limit)
        if warning:
            self.warnings.append(warning)
        return cost


def _is_value(value: float | None) -> bool:
    return value is not None and 0.0 <= value <= 1.0
