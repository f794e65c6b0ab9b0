"""What goes wrong, as one line on standard error and an exit status; never a traceback."""

from enum import IntEnum
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from arena.competition_files import AlreadyRunning, SecretFileError
from arena.control.parameters import InvalidParameter
from arena.control.settings import MissingToken
from arena.control.table import ControlError
from arena.embedded import EmbeddedFailure
from arena.interruption import Interrupted
from arena.lobby.addresses import InvalidAddress
from arena.openings import InvalidOpenings
from arena.players.failures import PlayerFailure
from arena.players.player import InvalidParameters
from arena.results.database import ResultsError
from arena.results.failures import reason
from arena.selection.selector import ChangedCompetition
from arena.service.tokens import TokensError
from clients.connection import AcademyRefusal, AcademyUnavailable
from referees.api import UnknownGame, UnreadableRecord


class ExitStatus(IntEnum):
    """What the command tells the shell; 2, wrong usage, comes from the parsing of the command line."""

    DONE = 0
    ERROR = 1
    INTERRUPTED = 3
    HALTED = 4
    UNDELIVERED = 5
    WITHOUT_SOME = 6


EXPECTED: Final = (
    PlayerFailure,
    ControlError,
    ResultsError,
    AlreadyRunning,
    SecretFileError,
    InvalidParameters,
    MissingToken,
    ChangedCompetition,
    InvalidOpenings,
    InvalidParameter,
    InvalidAddress,
    TokensError,
    AcademyUnavailable,
    AcademyRefusal,
    EmbeddedFailure,
    UnknownGame,
    UnreadableRecord,
    SQLAlchemyError,
    OSError,
    Interrupted,
    KeyboardInterrupt,
)


def told(error: BaseException) -> tuple[str, ExitStatus]:
    """What to say of an expected error, and how to exit."""
    if isinstance(error, Interrupted | KeyboardInterrupt):
        return "interrupted; games in progress will be played again", ExitStatus.INTERRUPTED
    message = f"the database: {reason(error)}" if isinstance(error, SQLAlchemyError) else str(error)
    return "\n".join((message, *getattr(error, "__notes__", ()))), ExitStatus.ERROR
