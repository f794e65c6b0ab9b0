"""Refusals of the service, and from the arena's own exceptions to them: one table."""

from collections.abc import Mapping
from typing import Final

import grpc
from sqlalchemy.exc import SQLAlchemyError

from arena.competition_files import AlreadyRunning
from arena.control.table import ControlError
from arena.lobby.refusals import InvalidRequest, Refusal
from arena.results.database import ResultsError
from arena.results.failures import reason
from arena.service.tokens import TokensError


class UnknownCompetition(Refusal):
    """There is no control file of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_COMPETITION"


class UnknownGame(Refusal):
    """No finished game has this id."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_GAME"


class NoResults(Refusal):
    """The competition has not been run, or its results can't be read."""

    reason = "NO_RESULTS"


class Conflict(Refusal):
    """There is a competition of this name already, and it is another one."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "COMPETITION_CONFLICT"


class Running(Refusal):
    """The competition runs already."""

    reason = "ALREADY_RUNNING"


class NotRunning(Refusal):
    """The competition does not run."""

    reason = "NOT_RUNNING"


class UploadsOff(Refusal):
    """The service takes no control files: they name programs to run."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "UPLOADS_OFF"


class InvalidControl(InvalidRequest):
    """A control file that can't be used."""

    reason = "INVALID_CONTROL"


class InvalidToken(InvalidRequest):
    """A token that can't be made or revoked."""

    reason = "INVALID_TOKEN_REQUEST"


class Failed(Refusal):
    """The disk or the database failed."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_FAILED"


_TABLE: Final[Mapping[type[Exception], type[Refusal]]] = {
    ControlError: InvalidControl,
    ResultsError: NoResults,
    AlreadyRunning: Running,
    TokensError: InvalidToken,
    SQLAlchemyError: Failed,
    OSError: Failed,
}
EXPECTED: Final[tuple[type[Exception], ...]] = (Refusal, *_TABLE)


def refusal(error: Exception) -> Refusal:
    """The refusal that an expected exception means."""
    if isinstance(error, Refusal):
        return error
    kind = next(_TABLE[base] for base in type(error).__mro__ if base in _TABLE)
    return kind(f"the database: {reason(error)}" if isinstance(error, SQLAlchemyError) else str(error))
