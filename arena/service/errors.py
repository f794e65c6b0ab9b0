"""Errors that the service answers with, and the table from the arena's other errors to them."""

from collections.abc import Mapping
from typing import Final

import grpc
from sqlalchemy.exc import SQLAlchemyError

from academy.wire.errors import RefusedCallError
from arena.control.settings import ControlError
from arena.lobby.errors import InvalidRequestError
from arena.results.database import ResultsError, reason
from arena.runner.files import CompetitionRunningError
from arena.service.tokens import TokensError


class UnknownCompetitionError(RefusedCallError):
    """There is no control file of this name."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_COMPETITION"
    remedy = "List the competitions."


class UnknownGameError(RefusedCallError):
    """No finished game has this id."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_GAME"
    remedy = "List the competition's games."


class UnknownRatingsError(RefusedCallError):
    """The league has no such game, or no such player."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_RATINGS"
    remedy = "List the league's games and players."


class NoResultsError(RefusedCallError):
    """The competition has not been run, or its results can't be read."""

    reason = "NO_RESULTS"
    remedy = "Start the competition first."


class CompetitionConflictError(RefusedCallError):
    """There is a competition of this name already, and it is another one."""

    code = grpc.StatusCode.ALREADY_EXISTS
    reason = "COMPETITION_CONFLICT"
    remedy = "Choose another name, or leave `control` empty to run the one that is there."


class AlreadyRunningError(RefusedCallError):
    """The competition runs already."""

    reason = "ALREADY_RUNNING"
    remedy = "Watch it, or stop it first."


class NotRunningError(RefusedCallError):
    """The competition does not run."""

    reason = "NOT_RUNNING"
    remedy = "Start it first."


class UploadsDisabledError(RefusedCallError):
    """The service takes no control files: they name programs to run."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "UPLOADS_OFF"
    remedy = "Start one of the service's own competitions, or have it started with --allow-uploads."


class InvalidControlFileError(InvalidRequestError):
    """A control file that can't be used."""

    reason = "INVALID_CONTROL"
    remedy = "Correct what the message names."


class InvalidTokenError(InvalidRequestError):
    """A token that can't be made or revoked."""

    reason = "INVALID_TOKEN_REQUEST"
    remedy = "Correct what the message names."


class RunFailedError(RefusedCallError):
    """The disk or the database failed."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "STORE_FAILED"
    remedy = "See the service's log, and try again."


_TABLE: Final[Mapping[type[Exception], type[RefusedCallError]]] = {
    ControlError: InvalidControlFileError,
    ResultsError: NoResultsError,
    CompetitionRunningError: AlreadyRunningError,
    TokensError: InvalidTokenError,
    SQLAlchemyError: RunFailedError,
    OSError: RunFailedError,
}
EXPECTED: Final[tuple[type[Exception], ...]] = (RefusedCallError, *_TABLE)


def to_refusal(error: Exception) -> RefusedCallError:
    """Return an expected error as one that the service answers with."""
    if isinstance(error, RefusedCallError):
        return error
    kind = next(_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE)
    if isinstance(error, SQLAlchemyError):
        return kind(f"the database: {reason(error)}")
    if isinstance(error, OSError) and error.strerror:
        return kind(f"{error.filename or 'the disk'}: {error.strerror}")
    return kind(str(error))
