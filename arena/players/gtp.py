"""Players that are GTP engines in child processes."""

import math
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from arena.jobs import PlayerSetup
from arena.players.error_log import ErrorLog
from arena.players.failures import CannotStart, IllFormed, Late, MoveDisputed, PlayerFailure, Refused
from arena.players.gtp_channel import GtpChannel, InvalidWord, check_word
from arena.players.player import Choice, Cost, InvalidParameters, Player, Seating
from arena.players.process import ChildProcess
from referees.api import Outcome, UnreadableMove
from referees.gtp import GtpGame

MAX_COMMENT: Final = 10_000
EXPECTED_VALUE: Final = "academy-expected_value"
EXPLAIN_LAST_MOVE: Final = "gomill-explain_last_move"
DESCRIBE_ENGINE: Final = "gomill-describe_engine"
CPU_TIME: Final = "gomill-cpu_time"


@dataclass(frozen=True)
class GtpParameters:
    """What a GTP player's setup may say besides the command.

    `startup_commands` are sent after the handshake, `aliases` rename commands for this engine, and an
    engine that is no `reliable_scorer` is never asked for the score.
    """

    startup_commands: tuple[tuple[str, ...], ...] = ()
    aliases: Mapping[str, str] | None = None
    reliable_scorer: bool = True

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters; a command is a string or a list of words. Raises InvalidParameters."""
        unknown = set(parameters) - {"startup_commands", "aliases", "reliable_scorer"}
        if unknown:
            raise InvalidParameters(f"{sorted(unknown)[0]!r} is no parameter of a GTP player")
        commands = parameters.get("startup_commands", ())
        aliases = parameters.get("aliases", {})
        reliable = parameters.get("reliable_scorer", True)
        if isinstance(commands, str) or not isinstance(commands, Sequence):
            raise InvalidParameters(f"startup_commands: {commands!r} is not a list of commands")
        if not isinstance(aliases, Mapping):
            raise InvalidParameters(f"aliases: {aliases!r} does not map commands to commands")
        if not isinstance(reliable, bool):
            raise InvalidParameters(f"reliable_scorer: {reliable!r} is neither true nor false")
        split = tuple(tuple(line.split() if isinstance(line, str) else line) for line in commands)
        try:
            for word in (*(word for line in split for word in line), *aliases, *aliases.values()):
                check_word(word)
        except (InvalidWord, AttributeError) as error:
            raise InvalidParameters(f"startup_commands and aliases: {error}") from error
        if not all(split):
            raise InvalidParameters("startup_commands: a command is empty")
        return cls(split, dict(aliases), reliable)


class GtpPlayer(Player):
    """A GTP engine that runs as a child process for one game.

    Besides the standard commands it uses, where the engine has them, `gomill-describe_engine`,
    `gomill-explain_last_move`, `gomill-cpu_time`, and `academy-expected_value`: the engine's own
    expected value (0 to 1) for itself of the position after its last move.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._parameters = GtpParameters.read(seating.setup.parameters)
        words = seating.referee.dialogue("gtp")
        if words is None:
            raise InvalidParameters(f"the game {seating.referee.name!r} is not played over GTP")
        self._words: GtpGame[Any] = words  # type: ignore[assignment]
        self._process: ChildProcess | None = None
        self._channel: GtpChannel | None = None

    @property
    def _setup(self) -> PlayerSetup:
        return self.seating.setup

    def _ask(self, *words: str, seconds: float | None = None) -> str:
        assert self._channel is not None
        return self._channel.ask(*words, seconds=self._setup.move_seconds if seconds is None else seconds)

    def _knows(self, command: str, seconds: float | None = None) -> bool:
        assert self._channel is not None
        return self._channel.knows(command, self._setup.move_seconds if seconds is None else seconds)

    def start(self) -> None:
        """Launch the engine's program."""
        seating, setup = self.seating, self._setup
        try:
            self._process = ChildProcess(
                seating.command,
                environment={**seating.environment, **setup.environment},
                working_directory=setup.working_directory,
                stderr=_errors_of(seating),
                memory_bytes=setup.memory_bytes,
            )
        except CannotStart as failure:
            raise CannotStart(f"player {seating.label}: {failure}") from failure
        self._channel = GtpChannel(self._process, seating.label, self._parameters.aliases, seating.transcript)

    def set_up(self) -> None:
        """Shake hands, send the startup commands and set up the board, within `start_seconds` in all."""
        limit = self._setup.start_seconds
        deadline = time.monotonic() + limit
        try:
            self._shake_hands(deadline)
            for command in self._parameters.startup_commands:
                self._ask_by(deadline, *command)
            for line in self._words.setup():
                self._ask_by(deadline, *line.split())
            self._place_handicap(deadline)
        except Late as failure:
            raise Late(f"{failure} (all of the start-up may take {limit:g} s)") from failure

    def _ask_by(self, deadline: float, *words: str) -> str:
        return self._ask(*words, seconds=max(0.0, deadline - time.monotonic()))

    def _ask_if_willing(self, deadline: float, command: str) -> str:
        try:
            return self._ask_by(deadline, command)
        except Refused:
            return ""

    def _place_handicap(self, deadline: float) -> None:
        command = self._words.handicap()
        if command is None:
            return
        try:
            self._words.check_handicap(self._ask_by(deadline, *command.split()))
        except UnreadableMove as error:
            raise IllFormed(f"player {self.seating.label}: '{command}': {error}") from error

    def _shake_hands(self, deadline: float) -> None:
        version = self._ask_if_willing(deadline, "protocol_version")
        if version and _number(version) != 2.0:
            raise IllFormed(
                f"player {self.seating.label}: speaks GTP of version {version[:20]!r}; version 2 is needed"
            )
        name = self._ask_if_willing(deadline, "name")
        self.name = _short_name(name, self._ask_if_willing(deadline, "version"))
        if self._knows(DESCRIBE_ENGINE, max(0.0, deadline - time.monotonic())):
            self.description = self._ask_if_willing(deadline, DESCRIBE_ENGINE)[:MAX_COMMENT]
        self.description = self.description or self.name

    def choose(self, view: Any) -> Choice:
        """Ask for a move, and what the engine thinks of it. The view is not sent: engines remember."""
        started = time.perf_counter()
        text = self._ask("genmove", self._words.colour(self.seating.seat))
        seconds = time.perf_counter() - started
        if text.lower() == "resign":
            return Choice(text, True, seconds, comment=self._last_words())
        return Choice(text, False, seconds, self._expected_value(), self._explanation())

    def _explanation(self) -> str:
        try:
            return self._ask(EXPLAIN_LAST_MOVE)[:MAX_COMMENT] if self._knows(EXPLAIN_LAST_MOVE) else ""
        except Refused:
            return ""

    def _last_words(self) -> str:
        # It has resigned: whatever happens now changes nothing any more.
        try:
            return self._explanation()
        except PlayerFailure as failure:
            self.warnings.append(str(failure))
            return ""

    def _expected_value(self) -> float | None:
        if not self._knows(EXPECTED_VALUE):
            return None
        try:
            answer = self._ask(EXPECTED_VALUE)
        except Refused:
            return None
        value = _number(answer)
        if value is not None and 0.0 <= value <= 1.0:
            return value
        self.warnings.append(
            f"player {self.seating.label}: '{EXPECTED_VALUE}': {answer[:80]!r} is no number from 0 to 1"
        )
        return None

    def told(self, moves: Mapping[int, Any], view: Any) -> None:
        """Send the others' moves. The exact failure `illegal move` disputes one."""
        for seat, move in moves.items():
            if seat == self.seating.seat:
                continue
            vertex = self._words.vertex(move)
            try:
                self._ask("play", self._words.colour(seat), vertex)
            except Refused as refusal:
                if refusal.answer == "illegal move":
                    raise MoveDisputed(
                        f"player {self.seating.label} says that the move {vertex} is illegal", seat
                    ) from refusal
                raise

    def score(self) -> Outcome | None:
        """The engine's `final_score`, if it has one and is a reliable scorer."""
        if not self._parameters.reliable_scorer or not self._knows("final_score"):
            return None
        try:
            return self._words.read_score(self._ask("final_score"))
        except Refused:
            return None

    def close(self, *, at_once: bool = False) -> Cost:
        """Ask for the CPU time, send `quit` and end the process, all within `exit_seconds`."""
        if self._process is None or self._channel is None:
            return Cost()
        deadline = time.monotonic() + (0.0 if at_once or self._channel.broken else self._setup.exit_seconds)
        told, claims = self._say_goodbye(deadline) if deadline > time.monotonic() else (None, False)
        cost = self._process.end(max(0.0, deadline - time.monotonic()))
        if cost.killed and not (at_once or self._channel.broken):
            self.warnings.append(
                f"player {self.seating.label} did not exit within {self._setup.exit_seconds:g} s: killed"
            )
        self._process = None
        return Cost(told if claims else cost.cpu_seconds, cost.peak_memory_bytes)

    def _say_goodbye(self, deadline: float) -> tuple[float | None, bool]:
        """The CPU time the engine tells, and whether it claims to tell it at all."""
        assert self._process is not None
        told, claims = None, False
        try:
            claims = self._knows(CPU_TIME, deadline - time.monotonic())
            if claims:
                told = _number(self._ask(CPU_TIME, seconds=deadline - time.monotonic()))
                told = told if told is not None and told >= 0.0 else None
            self._process.note_memory()
            self._ask("quit", seconds=deadline - time.monotonic())
        except PlayerFailure as failure:
            self.warnings.append(str(failure))
        return told, claims


def _errors_of(seating: Seating) -> ErrorLog | int | None:
    if seating.setup.discard_stderr:
        return subprocess.DEVNULL
    if seating.log_path is None:
        return None
    try:
        return ErrorLog(seating.log_path, f"{seating.game_id} {seating.label}")
    except OSError as error:
        raise CannotStart(f"player {seating.label}: its log cannot be written: {error}") from error


def _number(text: str) -> float | None:
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
