"""Starting a player's program as its seat wants it: environment, limits, and a log of its errors."""

import subprocess
from collections.abc import Mapping

from arena.players.error_log import ErrorLog
from arena.players.failures import CannotStart
from arena.players.player import Seating
from arena.players.process import ChildProcess


def log_label(seating: Seating) -> str:
    """What the lines of a program's standard error stand under in the log."""
    return f"{seating.game_id} {seating.label}"


def error_log(seating: Seating) -> ErrorLog | None:
    """The log for a program's standard error; None where it goes elsewhere. Raises CannotStart."""
    if seating.setup.discard_stderr or seating.log_path is None:
        return None
    try:
        return ErrorLog(seating.log_path, log_label(seating))
    except OSError as error:
        raise CannotStart(f"player {seating.label}: its log cannot be written: {error}") from error


def launch(seating: Seating, log: ErrorLog | None, environment: Mapping[str, str]) -> ChildProcess:
    """Start the program, without waiting until it is ready. Raises CannotStart."""
    try:
        return ChildProcess(
            seating.command,
            environment={**environment, **seating.setup.environment},
            working_directory=seating.setup.working_directory,
            stderr=subprocess.DEVNULL if seating.setup.discard_stderr else log,
            memory_bytes=seating.setup.memory_bytes,
        )
    except CannotStart as failure:
        raise CannotStart(f"player {seating.label}: {failure}") from failure
