"""Players that are GTP engines in child processes, for one game or kept for several in succession."""

import math
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, Final, Self
from urllib.parse import quote

from arena.players.gtp_channel import GtpChannel, InvalidGtpWordError, check_word
from arena.players.player import (
    Choice,
    Cost,
    IllFormedAnswerError,
    InvalidPlayerParametersError,
    MoveDisputedError,
    MoveRefusedError,
    Player,
    PlayerError,
    PlayerTimeoutError,
    Seating,
    WarningList,
    check_known,
)
from arena.players.process import seconds_until
from arena.players.program import KeptPrograms, PlayerProgram
from referees.api import Outcome, Referee, UnreadableMoveError
from referees.dialogues import GtpGame


@dataclass(frozen=True)
class GtpParameters:
    """The parameters of a GTP player.

    `startup_commands` are sent before each game, `aliases` rename commands for this engine. An engine
    that is no `reliable_scorer` is never asked for the score; one that may `allow_claim` can claim the
    game with its move. With `name_from_gtp` records call it what it calls itself, if it does.
    """

    startup_commands: tuple[tuple[str, ...], ...] = ()
    aliases: Mapping[str, str] | None = None
    reliable_scorer: bool = True
    allow_claim: bool = False
    name_from_gtp: bool = True

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters, whose commands are lines. Raises InvalidPlayerParametersError."""
        check_known(parameters, [field.name for field in fields(cls)], "a GTP player")
        commands = tuple(tuple(line.split()) for line in parameters.get("startup_commands", ()))
        aliases = parameters.get("aliases", {})
        try:
            for word in (*chain(*commands), *aliases, *aliases.values()):
                check_word(word)
        except InvalidGtpWordError as error:
            raise InvalidPlayerParametersError(f"startup_commands and aliases: {error}") from error
        if not all(commands):
            raise InvalidPlayerParametersError("startup_commands: a command is empty")
        return cls(**{**parameters, "startup_commands": commands})


MAX_COMMENT: Final = 10_000
ACADEMY_CONTEST: Final = "academy-contest"
DESCRIBE_ENGINE: Final = "gomill-describe_engine"
CPU_TIME: Final = "gomill-cpu_time"
# What an argument may hold as it is: no blank, and no `#`, which would begin a remark.
_PLAIN: Final = string.punctuation.replace("%", "").replace("#", "")


class GtpEngine(PlayerProgram):
    """A running engine.

    `name` and `description` are what it calls itself, known after `shake_hands`.
    """

    def __init__(self, seating: Seating, parameters: GtpParameters) -> None:
        """Launch the program, without waiting until it is ready. Raises PlayerStartError."""
        super().__init__(seating)
        self.name = self.description = ""
        self._aliases = parameters.aliases or {}
        self._channel = GtpChannel(self._process, seating.label, self._aliases, seating.transcript)
        # As the channel does it.
        self.ask: Final = self._channel.ask
        self.knows: Final = self._channel.knows
        self._in_contest = False
        self._takes_contests: bool | None = None
        self._cpu_reported = 0.0

    @property
    def healthy(self) -> bool:
        """Whether the process runs and its channel is in order, as far as can be seen without asking."""
        return not self._channel.broken and self._process.runs

    def ask_if_willing(self, deadline: float, command: str) -> str:
        """The answer to a command that may be refused: then it is empty."""
        try:
            return self.ask(command, seconds=seconds_until(deadline))
        except MoveRefusedError:
            return ""

    def shake_hands(self, deadline: float) -> None:
        """Ask for the protocol's version and the engine's name. Raises PlayerError."""
        version = self.ask_if_willing(deadline, "protocol_version")
        if version and number(version) != 2.0:
            raise IllFormedAnswerError(
                f"player {self._channel.label}: speaks GTP of version {version[:20]!r}; version 2 is needed"
            )
        name = self.ask_if_willing(deadline, "name")
        self.name = _short_name(name, self.ask_if_willing(deadline, "version"))
        if self.knows(DESCRIBE_ENGINE, seconds_until(deadline)):
            self.description = self.ask_if_willing(deadline, DESCRIBE_ENGINE)[:MAX_COMMENT]
        self.description = self.description or self.name

    def takes_contests(self, seconds: float) -> bool:
        """Whether the engine has the command that names its next contest. Raises PlayerError."""
        if self._takes_contests is None:
            # Also if only `list_commands` has it.
            self._takes_contests = self.knows(ACADEMY_CONTEST, seconds) or (
                self._aliases.get(ACADEMY_CONTEST, ACADEMY_CONTEST)
                in self.ask_if_willing(time.monotonic() + seconds, "list_commands").split()
            )
        return self._takes_contests

    def enter_contest(self, environment: Mapping[str, str], seconds: float) -> None:
        """Send the engine ACADEMY's address, its contest, ticket and seat. Raises PlayerError."""
        names = ("ACADEMY_ADDRESS", "ACADEMY_CONTEST", "ACADEMY_TOKEN", "ACADEMY_PLAYER", "ACADEMY_TLS_CA")
        words = {name: quote(environment[name], safe=_PLAIN) for name in names if name in environment}
        self._in_contest = True
        self.ask(ACADEMY_CONTEST, *words.values(), seconds=seconds, secret=words["ACADEMY_TOKEN"])

    def leave_contest(self, seconds: float) -> None:
        """Announce the end of its contest, so that the engine may propose. Raises PlayerError."""
        if self._in_contest:
            self._in_contest = False
            self.ask_if_willing(time.monotonic() + seconds, ACADEMY_CONTEST)

    def take_seat(self, seating: Seating) -> None:
        """Go on with another game."""
        super().take_seat(seating)
        self._channel.label, self._channel.transcript = seating.label, seating.transcript

    def leave_seat(self, seconds: float) -> Cost:
        """End the game of a kept engine and return its cost. Raises PlayerError where the engine fails."""
        deadline = time.monotonic() + seconds
        self.leave_contest(seconds)
        reported = self._ask_cpu_seconds(deadline)
        self._channel.transcript = None
        cost = self._process.cost()
        return replace(cost, cpu_seconds=reported) if self.knows(CPU_TIME, seconds) else cost

    def end(self, seconds: float) -> tuple[Cost, str]:
        """Ask for the CPU time, send `quit` and end the process; what the game cost, and what went wrong."""
        deadline = time.monotonic() + (0.0 if self._channel.broken else seconds)
        polite, warning, reported = deadline > time.monotonic(), "", None
        reports_cpu = False
        if polite:
            try:
                reports_cpu = self.knows(CPU_TIME, deadline - time.monotonic())
                reported = self._ask_cpu_seconds(deadline)
                self._process.note_memory()
                self.ask("quit", seconds=deadline - time.monotonic())
            except PlayerError as failure:
                warning = str(failure)
        cost = self._process.end(seconds_until(deadline))
        if cost.killed and not self._channel.broken and polite:
            warning = f"player {self._channel.label} did not exit within {seconds:g} s: killed"
        return replace(cost, cpu_seconds=reported) if reports_cpu else cost, warning

    def _ask_cpu_seconds(self, deadline: float) -> float | None:
        """Ask for the CPU time of this game. Returns None where the engine has no sensible answer."""
        if not self.knows(CPU_TIME, deadline - time.monotonic()):
            return None
        reported = number(self.ask_if_willing(deadline, CPU_TIME))
        if reported is None or reported < self._cpu_reported:
            return None
        used, self._cpu_reported = reported - self._cpu_reported, reported
        return used


def number(text: str) -> float | None:
    """A finite number in an answer, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _short_name(name: str, version: str) -> str:
    """`name:version`, as far as they are short enough to be names."""
    name = " ".join(name.split())[:64]
    version = " ".join(version.split())
    version = version.removeprefix(name).strip() if name else version
    return f"{name}:{version}" if version and len(version) <= 32 else name


def _other_protocols(referee: Referee[Any, Any]) -> str:
    """What to write for a player of a game that is not played over GTP."""
    if referee.dialogue("lines") is not None:
        return 'write protocol = "python", or "lines" for a program'
    return (
        'write protocol = "python"; programs can play it once its referee has dialogue("gtp") '
        "(docs/reference/referee.md)"
    )


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

    def __init__(self, seating: Seating, kept: KeptPrograms[GtpEngine] | None = None) -> None:
        """Take a seat; `kept` has engines of earlier games, None where each game has its own."""
        super().__init__(seating)
        self._kept = kept
        self._setup = seating.setup
        self._parameters = GtpParameters.read(seating.setup.parameters)
        words = seating.referee.dialogue("gtp")
        if words is None:
            raise InvalidPlayerParametersError(
                f"the game {seating.referee.name!r} is not played over GTP, the protocol of players that "
                f"name none: {_other_protocols(seating.referee)}"
            )
        self._words: GtpGame[Any, Any] = words  # type: ignore[assignment]
        self._running: GtpEngine | None = None
        self._odd_values = WarningList()
        # The seconds since its last move in which it could think, for its clock.
        self._unbooked = 0.0

    @property
    def record_name(self) -> str:
        """The engine's own name, where the setup wants it and the engine has one."""
        return (self._parameters.name_from_gtp and self.name) or super().record_name

    @property
    def _engine(self) -> GtpEngine:
        assert self._running is not None
        return self._running

    def _ask(self, *words: str, seconds: float | None = None) -> str:
        return self._engine.ask(*words, seconds=self._setup.move_seconds if seconds is None else seconds)

    def _ask_by(self, deadline: float, *words: str) -> str:
        return self._ask(*words, seconds=seconds_until(deadline))

    def _ask_if_willing(self, command: str) -> str | None:
        """The answer to a command, None where the engine does not have it or refuses."""
        try:
            return self._ask(command) if self._knows(command) else None
        except MoveRefusedError:
            return None

    def _knows(self, command: str) -> bool:
        return self._engine.knows(command, self._setup.move_seconds)

    def rehearse(self, position: Any, view: Any) -> None:
        """Ask for a first move, which must be legal. Raises PlayerError."""
        choice = self.choose(view)
        if not (choice.resigns or choice.claims):
            self._check_first_move(position, choice)

    def start(self) -> None:
        """Take an engine that was kept, or launch the program."""
        if self._kept is not None and not self._setup.restart:
            self._running = self._kept.take(self.seating)
        if self._running is None:
            self._running = GtpEngine(self.seating, self._parameters)

    def set_up(self) -> None:
        """Shake hands, send the startup commands and set up the board, within `start_seconds` in all."""
        if self._engine.played:
            try:
                self._prepare()
                return
            except PlayerError:
                # What a kept engine has become is not its player's failure in this game.
                self._engine.end(0.0)
                self._running = None
                self._running = GtpEngine(self.seating, self._parameters)
        self._prepare()

    def _prepare(self) -> None:
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
        except PlayerTimeoutError as failure:
            raise PlayerTimeoutError(f"{failure} (all of the start-up may take {limit:g} s)") from failure

    def _enter_contest(self, deadline: float) -> None:
        """Send an engine that is kept its contest at ACADEMY; others have it in their environment."""
        environment = self.seating.environment
        if self._setup.restart or "ACADEMY_TOKEN" not in environment:
            return
        try:
            if self._engine.takes_contests(seconds_until(deadline)):
                self._engine.enter_contest(environment, seconds_until(deadline))
                return
            why = "" if self._engine.played else self.without_academy()
        except MoveRefusedError as refusal:
            why = f"{refusal}; it plays without ACADEMY"
        if why:
            self.warnings.append(why)

    def without_academy(self) -> str:
        """As of any player; to be asked after `set_up`."""
        if self._setup.restart or self._engine.takes_contests(self._setup.start_seconds):
            return ""
        return (
            f"player {self.seating.label} plays without ACADEMY: with restart = false it is kept for many "
            f"contests, and its list_commands has no '{ACADEMY_CONTEST}', which would announce each of them"
        )

    def _set_clock(self, deadline: float) -> None:
        control = self._setup.time_control
        if control is None or not self._engine.knows("time_settings", seconds_until(deadline)):
            return
        # Whole seconds, for GTP knows no others; increments show in time_left alone.
        main = int(control.main_seconds)
        byo_yomi = max(1, int(control.byo_yomi_seconds)) if control.byo_yomi_seconds else 0
        stones = control.byo_yomi_stones if byo_yomi else 0
        if main or byo_yomi:
            self._ask_by(deadline, "time_settings", str(main), str(byo_yomi), str(stones))

    def _place_handicap(self, deadline: float) -> None:
        command = self._words.handicap()
        if command is None:
            return
        try:
            self._words.check_handicap(self._ask_by(deadline, *command.split()))
        except UnreadableMoveError as error:
            raise IllFormedAnswerError(f"player {self.seating.label}: '{command}': {error}") from error

    def arrange(self) -> str:
        """Ask the engine for the first position."""
        return self._ask(*self._words.ask_arrangement().split(), seconds=self._setup.start_seconds)

    def arranged(self, view: Any) -> None:
        """Send the engine the first position."""
        self._ask(*self._words.tell_arrangement(view).split(), seconds=self._setup.start_seconds)

    def choose(self, view: Any) -> Choice:
        """Ask for a move, and what the engine thinks of it. The view is not sent: engines remember."""
        text, seconds = self._ask_for_move()
        moved = time.perf_counter()
        answer = text.lower()
        if answer == "resign":
            return Choice(text, True, seconds, comment=self._last_words())
        if answer == "claim" and self._may_claim:
            return Choice(text, False, seconds, comment=self._last_words(), claims=True)
        value_before, value = self._expected_values()
        choice = Choice(text, False, seconds, value, self._explanation(), value_before=value_before)
        self._unbooked = time.perf_counter() - moved
        return choice

    def _ask_for_move(self) -> tuple[str, float]:
        """The answer and the seconds it took; by a clock with those of other commands since its last move."""
        colour = self._words.colour(self.seating.seat)
        request = (GENMOVE_WITH_CLAIMS, colour, "claim") if self._may_claim else ("genmove", colour)
        clock, used = self.seating.clock, 0.0 if self.seating.clock is None else self._unbooked
        self._unbooked = 0.0
        limit, started = self.seating.move_seconds, time.perf_counter() - used
        try:
            if clock is not None and self._engine.knows("time_left", seconds := max(0.0, limit - used)):
                left = str(max(0, int(clock.seconds - used)))
                self._ask("time_left", colour, left, str(clock.stones), seconds=seconds)
            seconds = max(0.0, limit - (time.perf_counter() - started))
            text = self._ask(*request, seconds=seconds)
        except PlayerTimeoutError as failure:
            raise PlayerTimeoutError(self.seating.late(str(failure))) from failure
        return text, time.perf_counter() - started

    @property
    def _may_claim(self) -> bool:
        return self._parameters.allow_claim and self._knows(GENMOVE_WITH_CLAIMS)

    def _explanation(self) -> str:
        return (self._ask_if_willing(EXPLAIN_LAST_MOVE) or "")[:MAX_COMMENT]

    def _last_words(self) -> str:
        # It has resigned or won: nothing that happens now changes the result.
        try:
            return self._explanation()
        except PlayerError as failure:
            self.warnings.append(str(failure))
            return ""

    def _expected_values(self) -> tuple[float | None, float | None]:
        """What the engine expected before its last move, if it gives that too, and after it."""
        answer = self._ask_if_willing(EXPECTED_VALUE)
        if answer is None:
            return None, None
        values = [number(word) for word in answer.split()]
        match values:
            case [value] if _is_value(value):
                return None, value
            case [before, value] if _is_value(before) and _is_value(value):
                return before, value
        self._odd_values.add(
            f"'{EXPECTED_VALUE}': {answer[:80]!r} is not a number from 0 to 1, nor two of them"
        )
        return None, None

    def take_opening(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send all the moves."""
        for seat, move in moves.items():
            self._play(seat, move)

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send the others' moves. A failure that begins with `illegal move` disputes one."""
        began = time.perf_counter()
        for seat, move in moves.items():
            if seat != self.seating.seat:
                self._play(seat, move)
        self._unbooked += time.perf_counter() - began

    def _play(self, seat: int, move: Any) -> None:
        words, vertex = self._words, self._words.vertex(move)
        try:
            self._ask("play", words.colour(seat), *vertex.split())
        except MoveRefusedError as refusal:
            if refusal.answer.casefold().startswith("illegal move"):
                mover = self.seating.players[seat - 1] if self.seating.players else words.colour(seat)
                raise MoveDisputedError(
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
        answer = self._ask_if_willing("final_score") if self._parameters.reliable_scorer else None
        return None if answer is None else self._words.read_score(answer)

    def close(self, *, at_once: bool = False) -> Cost:
        """Ask for the CPU time and end or keep the process, all within `exit_seconds`."""
        engine, self._running = self._running, None
        if engine is None:
            return Cost()
        self.warnings += [f"player {self.seating.label}: {warning}" for warning in self._odd_values.lines()]
        kept, limit = self._kept, self._setup.exit_seconds
        if kept is not None and not self._setup.restart and not at_once and not self.faulty:
            try:
                if engine.healthy:
                    cost = engine.leave_seat(limit)
                    kept.put(engine)
                    return cost
            except PlayerError as failure:
                self.warnings.append(str(failure))
        cost, warning = engine.end(0.0 if at_once else limit)
        if warning:
            self.warnings.append(warning)
        return cost


def _is_value(value: float | None) -> bool:
    return value is not None and 0.0 <= value <= 1.0
