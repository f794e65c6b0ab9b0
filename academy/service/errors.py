"""From our exceptions to gRPC statuses: one table.

A refusal's public attributes become the metadata of its `google.rpc.ErrorInfo`, `retry_after` its
`RetryInfo`, `field` its `BadRequest`.
"""

import traceback
import uuid
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import grpc
import structlog
from google.protobuf.duration_pb2 import Duration
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc import aio

from academy.knowledge.boards import InvalidBoardError
from academy.knowledge.cutting import InvalidCutError
from academy.knowledge.fair_use import FairUseExceededError, ValueNotLowError
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.openings import UnknownLineError
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import InvalidSettingsError
from academy.knowledge.spec import InvalidGameError
from academy.knowledge.votes import InvalidVoteError
from academy.service import refusals
from academy.store import errors as store
from academy.store import tokens
from academy.store.contest_commands import AnalysisExceededError
from academy.v1 import consultation_pb2
from academy.wire.health import UnknownServiceError, WatchTooLongError
from academy.wire.rates import Bucket

DOMAIN: Final = "academy"
# ErrorInfo metadata is meant for numbers and names, not for documents.
MAX_METADATA_VALUE: Final = 256
MAX_MESSAGE: Final = 2_000
# Where grpc clients look for a google.rpc.Status.
DETAILS_KEY: Final = "grpc-status-details-bin"

_STATUS_CODES: Final = {status.value[0]: status for status in grpc.StatusCode}
# Whoever finds out how to cause a fault is not to fill the disk with its log: so many lines a second.
fault_lines = Bucket(10.0, 100.0)
_log = structlog.get_logger()

_TABLE: Final[dict[type[Exception], tuple[int, str]]] = {
    refusals.NotAuthenticatedError: (code_pb2.UNAUTHENTICATED, "TOKEN_INVALID"),
    refusals.NotPermittedError: (code_pb2.PERMISSION_DENIED, "NOT_PERMITTED"),
    refusals.InvalidFieldError: (code_pb2.INVALID_ARGUMENT, "INVALID_FIELD"),
    refusals.MalformedMessageError: (code_pb2.INVALID_ARGUMENT, "MALFORMED_MESSAGE"),
    refusals.StalePageTokenError: (code_pb2.INVALID_ARGUMENT, "STALE_PAGE_TOKEN"),
    refusals.UnknownOpeningError: (code_pb2.NOT_FOUND, "UNKNOWN_OPENING"),
    refusals.TooManyCallsError: (code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS"),
    refusals.StreamIdleError: (code_pb2.DEADLINE_EXCEEDED, "STREAM_IDLE"),
    WatchTooLongError: (code_pb2.DEADLINE_EXCEEDED, "STREAM_IDLE"),
    refusals.MessageOverdueError: (code_pb2.DEADLINE_EXCEEDED, "MESSAGE_OVERDUE"),
    refusals.AnswerNotReadError: (code_pb2.DEADLINE_EXCEEDED, "ANSWER_NOT_READ"),
    UnknownServiceError: (code_pb2.NOT_FOUND, "UNKNOWN_SERVICE"),
    refusals.ServerDrainingError: (code_pb2.UNAVAILABLE, "DRAINING"),
    refusals.AnswerTooLargeError: (code_pb2.RESOURCE_EXHAUSTED, "ANSWER_TOO_LARGE"),
    refusals.AnalysisDuringContestError: (code_pb2.FAILED_PRECONDITION, "ANALYSIS_DURING_CONTEST"),
    tokens.TokenRefusedError: (code_pb2.UNAUTHENTICATED, "TOKEN_INVALID"),
    tokens.UnknownTokenError: (code_pb2.UNAUTHENTICATED, "TOKEN_UNKNOWN"),
    tokens.RevokedTokenError: (code_pb2.UNAUTHENTICATED, "TOKEN_REVOKED"),
    tokens.ExpiredTokenError: (code_pb2.UNAUTHENTICATED, "TOKEN_EXPIRED"),
    refusals.RateExceededError: (code_pb2.RESOURCE_EXHAUSTED, "RATE_EXCEEDED"),
    AnalysisExceededError: (code_pb2.RESOURCE_EXHAUSTED, "ANALYSIS_EXCEEDED"),
    FairUseExceededError: (code_pb2.RESOURCE_EXHAUSTED, "FAIR_USE_EXCEEDED"),
    ValueNotLowError: (code_pb2.FAILED_PRECONDITION, "VALUE_NOT_LOW"),
    InvalidBoardError: (code_pb2.INVALID_ARGUMENT, "INVALID_BOARD"),
    InvalidPatternError: (code_pb2.INVALID_ARGUMENT, "INVALID_PATTERN"),
    InvalidCutError: (code_pb2.INVALID_ARGUMENT, "INVALID_CUT"),
    InvalidVoteError: (code_pb2.INVALID_ARGUMENT, "INVALID_VALUE"),
    InvalidSettingsError: (code_pb2.INVALID_ARGUMENT, "INVALID_SETTINGS"),
    InvalidGameError: (code_pb2.INVALID_ARGUMENT, "INVALID_GAME"),
    UnknownLineError: (code_pb2.INVALID_ARGUMENT, "UNKNOWN_LINE"),
    UnknownPatternError: (code_pb2.NOT_FOUND, "UNKNOWN_PATTERN"),
    store.UnknownGameError: (code_pb2.NOT_FOUND, "UNKNOWN_GAME"),
    store.UnknownContestError: (code_pb2.NOT_FOUND, "UNKNOWN_CONTEST"),
    store.UnknownArenaError: (code_pb2.NOT_FOUND, "UNKNOWN_ARENA"),
    store.NotDeletedError: (code_pb2.NOT_FOUND, "PATTERN_NOT_DELETED"),
    store.UnknownRemovalError: (code_pb2.NOT_FOUND, "UNKNOWN_REMOVAL"),
    store.UnknownRecordError: (code_pb2.NOT_FOUND, "UNKNOWN_RECORD"),
    store.InvalidRecordError: (code_pb2.INVALID_ARGUMENT, "INVALID_RECORD"),
    store.GameConflictError: (code_pb2.ALREADY_EXISTS, "GAME_CONFLICT"),
    store.GameInUseError: (code_pb2.FAILED_PRECONDITION, "GAME_IN_USE"),
    store.ContestConflictError: (code_pb2.ALREADY_EXISTS, "CONTEST_CONFLICT"),
    store.ConflictError: (code_pb2.ALREADY_EXISTS, "CONFLICT"),
    store.ContestOverError: (code_pb2.FAILED_PRECONDITION, "CONTEST_OVER"),
    store.ConsultationOrderError: (code_pb2.FAILED_PRECONDITION, "CONSULTATION_OUT_OF_ORDER"),
    store.TooManyProposalsError: (code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_PROPOSALS"),
    store.StoreBusyError: (code_pb2.RESOURCE_EXHAUSTED, "STORE_BUSY"),
    store.StoreFullError: (code_pb2.RESOURCE_EXHAUSTED, "STORE_FULL"),
    store.StoreReadOnlyError: (code_pb2.FAILED_PRECONDITION, "STORE_READ_ONLY"),
    store.SchemaMismatchError: (code_pb2.FAILED_PRECONDITION, "STORE_SCHEMA"),
    store.StoreCorruptError: (code_pb2.DATA_LOSS, "STORE_CORRUPT"),
    store.StoreClosedError: (code_pb2.UNAVAILABLE, "STORE_CLOSED"),
    store.StoreError: (code_pb2.UNAVAILABLE, "STORE_FAILED"),
}

# When asking again is worth it, for exceptions that do not say so themselves, in seconds.
_RETRY_AFTER: Final[dict[type[Exception], float]] = {store.StoreBusyError: 0.25, store.StoreFullError: 30.0}


@dataclass(frozen=True)
class StatusDetails:
    """An exception in the terms of the protocol: a `google.rpc.Code`, and what the caller is told."""

    code: int
    reason: str
    message: str
    metadata: dict[str, str] = field(default_factory=dict)
    retry_after: float | None = None
    field_path: str = ""

    async def abort(self, context: aio.ServicerContext[Any, Any]) -> NoReturn:
        """End a call with the status and its details."""
        status = status_pb2.Status(code=self.code, message=self.message)
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)
        status.details.add().Pack(info)
        if self.retry_after is not None:
            delay = Duration()
            delay.FromMicroseconds(round(self.retry_after * 1e6))
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        if self.field_path:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field=self.field_path, description=self.message
            )
            status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
        await context.abort(self.status_code, self.message, ((DETAILS_KEY, status.SerializeToString()),))

    @property
    def status_code(self) -> grpc.StatusCode:
        """The code as grpc has it."""
        return _STATUS_CODES[self.code]

    def refusal(self) -> consultation_pb2.Refusal:
        """The message that says so on a stream that goes on."""
        metadata = dict(self.metadata)
        if self.retry_after is not None:
            metadata["retry_after"] = f"{self.retry_after:g}"
        return consultation_pb2.Refusal(
            code=self.code, message=self.message, reason=self.reason, metadata=metadata
        )


def row_of(error: BaseException) -> tuple[int, str] | None:
    """The code and reason of an exception by the table, its base classes' where it has none of its own."""
    for kind in type(error).__mro__:
        row = _TABLE.get(kind)
        if row is not None:
            return row
    return None


def to_status(error: Exception) -> StatusDetails:
    """Translate an exception; one that is not in the table is logged and becomes INTERNAL with its number."""
    row = row_of(error)
    if row is None:
        return _incident(error)
    code, reason = row
    numbers = dict(vars(error))
    cause = error.__cause__
    if isinstance(error, refusals.InvalidFieldError) and cause is not None:
        reason = (row_of(cause) or row)[1]
        numbers |= vars(cause)
    reason = str(numbers.pop("reason", reason))
    message = str(error)
    if isinstance(error, store.StoreError) and not isinstance(error, store.StoreBusyError):
        # Where the data lie on the server's disk is for its log.
        if fault_lines.use():
            _log.error("store failed", reason=reason, why=message)
        message = (
            f"the server's store failed ({reason}) and nothing was written; its admin finds more in the log"
        )
    retry_after = numbers.pop("retry_after", _RETRY_AFTER.get(type(error)))
    return StatusDetails(
        code=code,
        reason=reason,
        message=message[:MAX_MESSAGE],
        metadata={
            name: str(value)[:MAX_METADATA_VALUE]
            for name, value in numbers.items()
            if not name.startswith("_") and isinstance(value, str | int | float | None)
        },
        retry_after=retry_after if isinstance(retry_after, float) else None,
        field_path=str(numbers.get("field", "")) if code == code_pb2.INVALID_ARGUMENT else "",
    )


def _incident(error: Exception) -> StatusDetails:
    number = uuid.uuid4().hex[:12]
    if not fault_lines.use():
        return StatusDetails(
            code=code_pb2.INTERNAL,
            reason="INTERNAL",
            message="an error of the server's own; there are so many that its log has only some of them",
        )
    _log.error("incident", incident=number, traceback="".join(traceback.format_exception(error)))
    return StatusDetails(
        code=code_pb2.INTERNAL,
        reason="INTERNAL",
        message=f"an error of the server's own; its log has it as incident {number}",
        metadata={"incident": number},
    )
