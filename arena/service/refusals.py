"""Refusals of the service, and from the arena's own exceptions to them: one table."""

from collections.abc import Mapping
from typing import Final

import grpc
from sqlalchemy.exc import SQLAlchemyError

from arena.control.settings import ControlError
from arena.lobby.refusals import InvalidRequestError, LobbyRefusalError
from arena.results.database import ResultsError
from arena.results.failures import reason
from arena.runner.files import CompetitionRunningError
from arena.service.tokens import TokensError


class UnknownCompetitionError(LobbyRefusalError):
    """There is no control file of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_COMPETITION"


class UnknownGameError(LobbyRefusalError):
    """No finished game has this id."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_GAME"


class NoResultsError(LobbyRefusalError):
    """The competition has not been run, or its results can't be read."""

    reason = "NO_RESULTS"


class CompetitionConflictError(LobbyRefusalError):
    """There is a competition of this name already, and it is another one."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "COMPETITION_CONFLICT"


class AlreadyRunningError(LobbyRefusalError):
    """The competition runs already."""

    reason = "ALREADY_RUNNING"


class NotRunningError(LobbyRefusalError):
    """The competition does not run."""

    reason = "NOT_RUNNING"


class UploadsDisabledError(LobbyRefusalError):
    """The service takes no control files: they name programs to run."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "UPLOADS_OFF"


class InvalidControlFileError(InvalidRequestError):
    """A control file that can't be used."""

    reason = "INVALID_CONTROL"


class InvalidTokenError(InvalidRequestError):
    """A token that can't be made or revoked."""

    reason = "INVALID_TOKEN_REQUEST"


class RunFailedError(LobbyRefusalError):
    """The disk or the database failed."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_FAILED"


_TABLE: Final[Mapping[type[Exception], type[LobbyRefusalError]]] = {
    ControlError: InvalidControlFileError,
    ResultsError: NoResultsError,
    CompetitionRunningError: AlreadyRunningError,
    TokensError: InvalidTokenError,
    SQLAlchemyError: RunFailedError,
    OSError: RunFailedError,
}
EXPECTED: Final[tuple[type[Exception], ...]] = (LobbyRefusalError, *_TABLE)


def refusal(error: Exception) -> LobbyRefusalError:
    """The refusal that an expected exception means."""
    if isinstance(error, LobbyRefusalError):
        return error
    kind = next(_TABLE[base] for base in type(error).__mro__ if base in _TABLE)
    return kind(f"the database: {reason(error)}" if isinstance(error, SQLAlchemyError) else str(error))
