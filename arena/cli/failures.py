"""What goes wrong, as one line on standard error and an exit status; never a traceback."""

from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from academy.wire.addresses import InvalidAddressError
from arena.academy.embedded import EmbeddedAcademyError
from arena.cli.replay_file import ReplayNotMadeError
from arena.cli.web_pages import PagesNotServedError
from arena.control.parameters import InvalidParameterError
from arena.control.settings import ControlError
from arena.control.tokens import MissingTokenError
from arena.match.openings import InvalidOpeningsError
from arena.players.player import InvalidPlayerParametersError, PlayerError
from arena.results.database import ResultsError, reason
from arena.runner.exit_status import INTERRUPTION, ExitStatus
from arena.runner.files import CompetitionRunningError, SecretFileError
from arena.runner.stopping import RunInterruptedError
from arena.selection.child_program import ChildProgramError
from arena.selection.selector import CompetitionChangedError
from arena.service.errors import InvalidControlFileError
from arena.service.tokens import TokensError
from arena.workers.interface import WorkersError
from clients.connection import AcademyRefusedError, AcademyUnavailableError
from referees.api import UnknownRefereeError, UnreadableRecordError

EXPECTED: Final = (
    PlayerError,
    ControlError,
    ResultsError,
    CompetitionRunningError,
    SecretFileError,
    InvalidPlayerParametersError,
    MissingTokenError,
    CompetitionChangedError,
    ChildProgramError,
    InvalidOpeningsError,
    InvalidParameterError,
    InvalidAddressError,
    TokensError,
    InvalidControlFileError,
    AcademyUnavailableError,
    AcademyRefusedError,
    EmbeddedAcademyError,
    PagesNotServedError,
    WorkersError,
    ReplayNotMadeError,
    UnknownRefereeError,
    UnreadableRecordError,
    SQLAlchemyError,
    OSError,
    UnicodeEncodeError,
    RunInterruptedError,
)


def describe_failure(error: BaseException) -> tuple[str, ExitStatus]:
    """What to say of an expected error, and how to exit."""
    if isinstance(error, RunInterruptedError):
        return INTERRUPTION, ExitStatus.INTERRUPTED
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[:80]!r} is not text: give what is not a path in UTF-8", ExitStatus.ERROR
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.filename or 'cannot go on'}: {error.strerror}"
    else:
        message = str(error)
        if isinstance(error, SQLAlchemyError) and not isinstance(error, ResultsError):
            message = f"the database: {reason(error)}"
    return "\n".join((message, *getattr(error, "__notes__", ()))), ExitStatus.ERROR
