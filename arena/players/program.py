"""A player's program: launched for a seat, and kept for its next games."""

import subprocess
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from arena.players.logs import ErrorLog
from arena.players.player import PlayerStartError, Seating
from arena.players.process import ChildProcess

MAX_KEPT: Final = 8
_STDERR: Final = 2


def _log_label(seating: Seating) -> str:
    """What the lines of a program's standard error stand under in the log."""
    return f"{seating.game_id} {seating.label}"


def launch(
    seating: Seating, environment: Mapping[str, str], command: Sequence[str] | None = None
) -> ChildProcess:
    """Start the seat's program, or a `command`, without waiting until it is ready. Raises PlayerStartError.

    Its standard error goes to the seating's log, line by line also where that is ours: on a terminal it could
    steer it.
    """
    setup = seating.setup
    log: ErrorLog | int = subprocess.DEVNULL
    try:
        if not setup.discard_stderr:
            log = ErrorLog(_STDERR if seating.log_path is None else seating.log_path, _log_label(seating))
    except OSError as error:
        raise PlayerStartError(f"player {seating.label}: its log cannot be written: {error}") from error
    try:
        return ChildProcess(
            seating.command if command is None else command,
            environment={**environment, **setup.environment},
            working_directory=setup.working_directory,
            stderr=log,
            memory_bytes=setup.memory_bytes,
        )
    except PlayerStartError as failure:
        raise PlayerStartError(f"player {seating.label}: {failure}") from failure


class PlayerProgram(ABC):
    """A running program of one player, which may be kept for its next games; it has `played` this number."""

    def __init__(self, seating: Seating, command: Sequence[str] | None = None) -> None:
        """Launch the program, without waiting until it is ready. Raises PlayerStartError."""
        self.setup: Final = seating.setup
        self.log_path: Final = seating.log_path
        self.played = 0
        environment = seating.environment
        if not self.setup.restart:
            # A kept program hears of each contest by a command.
            environment = {
                name: value for name, value in environment.items() if not name.startswith("ACADEMY_")
            }
        self._process = launch(seating, environment, command)
        self.process_id: Final = self._process.pid

    @property
    def healthy(self) -> bool:
        """Whether it can play another game, as far as can be seen without a question."""
        return self._process.runs

    def take_seat(self, seating: Seating) -> None:
        """Go on with another game."""
        self.played += 1
        self._process.count_from_now(_log_label(seating))

    @abstractmethod
    def end(self, seconds: float) -> object:
        """End the program, which has some seconds to exit by itself."""


Kept = TypeVar("Kept", bound=PlayerProgram)


class KeptPrograms(Generic[Kept]):
    """The idle programs of one process that plays games. Beyond `MAX_KEPT` the longest idle one is ended."""

    def __init__(self) -> None:
        self._idle: deque[Kept] = deque()

    @property
    def process_ids(self) -> set[int]:
        """The programs' processes."""
        return {program.process_id for program in self._idle}

    def take(self, seating: Seating) -> Kept | None:
        """A healthy program of this player for its next game, if one is there."""
        for program in list(self._idle):
            if program.setup == seating.setup and program.log_path == seating.log_path:
                self._idle.remove(program)
                if program.healthy:
                    program.take_seat(seating)
                    return program
                program.end(0.0)
        return None

    def put(self, program: Kept) -> None:
        """Keep a program whose game is over."""
        self._idle.append(program)
        if len(self._idle) > MAX_KEPT:
            self._idle.popleft().end(0.0)

    def end(self) -> None:
        """End all of them at once."""
        while self._idle:
            self._idle.popleft().end(0.0)
