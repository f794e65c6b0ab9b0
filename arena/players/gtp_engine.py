"""A GTP engine in a child process, for one game or for several in succession."""

import math
import string
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from arena.jobs import PlayerSetup
from arena.players.failures import IllFormed, PlayerFailure, Refused
from arena.players.gtp_channel import GtpChannel
from arena.players.gtp_parameters import GtpParameters
from arena.players.player import Cost, Seating
from arena.players.process import ProcessCost
from arena.players.program import error_log, launch, log_label

MAX_COMMENT: Final = 10_000
ACADEMY_CONTEST: Final = "academy-contest"
DESCRIBE_ENGINE: Final = "gomill-describe_engine"
CPU_TIME: Final = "gomill-cpu_time"
# What an argument may hold as it is: no blank, and no `#`, which would begin a remark.
_PLAIN: Final = string.punctuation.replace("%", "").replace("#", "")


class GtpEngine:
    """A running engine. `played` is how many games it was used for before this one.

    `name` and `description` are what it calls itself, known after `shake_hands`.
    """

    def __init__(self, seating: Seating, parameters: GtpParameters) -> None:
        """Launch the program, without waiting until it is ready. Raises CannotStart."""
        self.setup: Final[PlayerSetup] = seating.setup
        self.log_path: Final = seating.log_path
        self.name = self.description = ""
        self.played = 0
        self._log = error_log(seating)
        environment = seating.environment
        if not seating.setup.restart:
            # A ticket is for one contest only: such an engine is told of each by a command.
            environment = {name: value for name, value in environment.items() if name[:8] != "ACADEMY_"}
        self._process = launch(seating, self._log, environment)
        self._channel = GtpChannel(self._process, seating.label, parameters.aliases, seating.transcript)
        # As the channel does it.
        self.ask: Final = self._channel.ask
        self.knows: Final = self._channel.knows
        self._in_contest = False
        self._lists_contests: bool | None = None
        self._cpu_told = 0.0
        self._cpu_before = 0.0

    @property
    def process_id(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def healthy(self) -> bool:
        """Whether the process runs and its channel is in order, as far as can be seen without asking."""
        return not self._channel.broken and self._process.runs

    def ask_if_willing(self, deadline: float, command: str) -> str:
        """The answer to a command that may be refused: then it is empty."""
        try:
            return self.ask(command, seconds=max(0.0, deadline - time.monotonic()))
        except Refused:
            return ""

    def shake_hands(self, deadline: float) -> None:
        """Ask for the protocol's version and the engine's name. Raises PlayerFailure."""
        version = self.ask_if_willing(deadline, "protocol_version")
        if version and number(version) != 2.0:
            raise IllFormed(
                f"player {self._channel.label}: speaks GTP of version {version[:20]!r}; version 2 is needed"
            )
        name = self.ask_if_willing(deadline, "name")
        self.name = _short_name(name, self.ask_if_willing(deadline, "version"))
        if self.knows(DESCRIBE_ENGINE, max(0.0, deadline - time.monotonic())):
            self.description = self.ask_if_willing(deadline, DESCRIBE_ENGINE)[:MAX_COMMENT]
        self.description = self.description or self.name

    def takes_contests(self, seconds: float) -> bool:
        """Whether the engine can be told of one contest after the other. Raises PlayerFailure."""
        if self._lists_contests is None:
            self._lists_contests = self._channel.lists(ACADEMY_CONTEST, seconds)
        return self._lists_contests

    def enter_contest(self, environment: Mapping[str, str], seconds: float) -> None:
        """Tell the engine where ACADEMY is, its contest, ticket and seat. Raises PlayerFailure."""
        names = ("ACADEMY_ADDRESS", "ACADEMY_CONTEST", "ACADEMY_TOKEN", "ACADEMY_PLAYER", "ACADEMY_TLS_CA")
        words = [quote(environment[name], safe=_PLAIN) for name in names if name in environment]
        self._in_contest = True
        self.ask(ACADEMY_CONTEST, *words, seconds=seconds, secret=words[2])

    def leave_contest(self, seconds: float) -> None:
        """Tell the engine that its contest is over, so that it may propose. Raises PlayerFailure."""
        if self._in_contest:
            self._in_contest = False
            self.ask_if_willing(time.monotonic() + seconds, ACADEMY_CONTEST)

    def take_seat(self, seating: Seating) -> None:
        """Go on with another game."""
        self.played += 1
        self._channel.label, self._channel.transcript = seating.label, seating.transcript
        if self._log is not None:
            self._log.relabel(log_label(seating))
        self._cpu_before = self._process.cpu_seconds() or 0.0
        self._process.forget_memory()

    def leave_seat(self, seconds: float) -> Cost:
        """What the game cost, of an engine that is kept. Raises PlayerFailure where it fails now."""
        deadline = time.monotonic() + seconds
        self.leave_contest(seconds)
        told = self._tell_cpu(deadline)
        self._channel.transcript = None
        self._process.note_memory()
        if not self.knows(CPU_TIME, seconds):
            now = self._process.cpu_seconds()
            told = None if now is None else now - self._cpu_before
        return Cost(told, self._process.peak_memory_bytes)

    def end(self, seconds: float) -> tuple[Cost, str]:
        """Ask for the CPU time, send `quit` and end the process; what the game cost, and what went wrong."""
        deadline = time.monotonic() + (0.0 if self._channel.broken else seconds)
        polite, warning, told, claims = deadline > time.monotonic(), "", None, False
        if polite:
            try:
                claims = self.knows(CPU_TIME, deadline - time.monotonic())
                told = self._tell_cpu(deadline)
                self._process.note_memory()
                self.ask("quit", seconds=deadline - time.monotonic())
            except PlayerFailure as failure:
                warning = str(failure)
        cost: ProcessCost = self._process.end(max(0.0, deadline - time.monotonic()))
        if cost.killed and not self._channel.broken and polite:
            warning = f"player {self._channel.label} did not exit within {seconds:g} s: killed"
        used = None if cost.cpu_seconds is None else max(0.0, cost.cpu_seconds - self._cpu_before)
        return Cost(told if claims else used, cost.peak_memory_bytes), warning

    def _tell_cpu(self, deadline: float) -> float | None:
        """What the engine says of the CPU time of this game; None where it says nothing sensible."""
        if not self.knows(CPU_TIME, deadline - time.monotonic()):
            return None
        told = number(self.ask(CPU_TIME, seconds=deadline - time.monotonic()))
        if told is None or told < self._cpu_told:
            return None
        used, self._cpu_told = told - self._cpu_told, told
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
