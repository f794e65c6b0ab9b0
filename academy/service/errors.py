"""The statuses of errors: the service's own, and by a table those of the rules and the store.

An error's `details()` become the metadata of its `google.rpc.ErrorInfo`, `retry_after` its `RetryInfo`,
`field` its `BadRequest`. `described_errors` lists all of them for the documentation.
"""

import traceback
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import structlog
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import StatusCode

from academy.knowledge.boards import InvalidBoardError
from academy.knowledge.claims import ClaimsContradictError
from academy.knowledge.cutting import InvalidCutError
from academy.knowledge.error_details import WithDetails
from academy.knowledge.fair_use import (
    FairUseExceededError,
    LooserRuleError,
    PlaysAloneError,
    ValueNotLowError,
)
from academy.knowledge.learnt_weights import WrongRowError
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.openings import UnknownLineError
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import InvalidSettingsError
from academy.knowledge.spec import InvalidGameError
from academy.knowledge.tesujis.shapes import InvalidTesujiError
from academy.knowledge.votes import InvalidVoteError
from academy.store import errors as store
from academy.store import tokens
from academy.v1 import consultation_pb2
from academy.wire.errors import RefusedCallError, StatusDetails
from academy.wire.rates import Bucket

DOMAIN: Final = "academy"
# A caller who can cause a fault must not fill the disk with its log: lines per second, and at once.
fault_lines = Bucket(10.0, 100.0)
_RETRY_SECONDS: Final = 0.5
_log = structlog.get_logger()


class InvalidFieldError(RefusedCallError):
    """A field of the request breaks a rule."""

    code = StatusCode.INVALID_ARGUMENT
    reason = "INVALID_FIELD"
    remedy = "Correct the field that the details name."

    def __init__(self, field: str, what: str, **details: float | str) -> None:
        """Name the field by its path; `details` are the value and its bounds."""
        super().__init__(f"{field}: {what}", field=field, **details)
        self.field = field


class MalformedMessageError(RefusedCallError):
    """The bytes are not a message of the kind that the method takes."""

    code = StatusCode.INVALID_ARGUMENT
    reason = "MALFORMED_MESSAGE"
    remedy = "Send the message that academy.v1 has for this method."

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; send the message that academy.v1 has for this method")


class StalePageTokenError(RefusedCallError):
    """A page token belongs to another request, or to an earlier state of the listing."""

    code = StatusCode.INVALID_ARGUMENT
    reason = "STALE_PAGE_TOKEN"
    remedy = "Begin the listing again without a page token."


class UnknownOpeningError(RefusedCallError):
    """The opening tree does not hold a list of moves."""

    code = StatusCode.NOT_FOUND
    reason = "UNKNOWN_OPENING"
    remedy = "List the openings to see which there are."

    def __init__(self, moves: int, known: int) -> None:
        held = (
            f"holds only the first {known} of these {moves}" if known else "does not hold the first of these"
        )
        super().__init__(f"the opening tree {held} moves", moves=moves, known=known)


class RateExceededError(RefusedCallError):
    """A caller asks faster than the limit."""

    code = StatusCode.RESOURCE_EXHAUSTED
    reason = "RATE_EXCEEDED"
    remedy = "Ask again after `retry_after`, and ask about several positions in one call."

    def __init__(self, per_second: float, burst: float, retry_after: float) -> None:
        super().__init__(
            f"more than {per_second:g} questions a second (and {burst:g} at once): "
            f"ask again in {retry_after:.3f} seconds",
            questions_per_second=per_second,
            question_burst=burst,
        )
        self.retry_after = retry_after


class TooManyCallsError(RefusedCallError):
    """More calls run at once than the limit."""

    code = StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY_CALLS"
    remedy = "Finish some calls, then ask again."

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what}: at most {limit} at once; finish some, then ask again", limit=limit)
        self.retry_after = _RETRY_SECONDS


class StreamIdleError(RefusedCallError):
    """Nothing was asked on a stream for too long."""

    code = StatusCode.DEADLINE_EXCEEDED
    reason = "STREAM_IDLE"
    remedy = "Open another stream when needed."

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"nothing was asked for {seconds:g} seconds: the stream is closed; open another when needed",
            seconds=seconds,
        )


class AnswerNotReadError(RefusedCallError):
    """The caller has not read an answer in time; the status reaches only a caller that reads again."""

    code = StatusCode.DEADLINE_EXCEEDED
    reason = "ANSWER_NOT_READ"
    remedy = "Read answers as they come."

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing was read for {seconds:g} seconds: the call is reset", seconds=seconds)


class ServerDrainingError(RefusedCallError):
    """The server is about to stop and takes no more questions."""

    code = StatusCode.UNAVAILABLE
    reason = "DRAINING"
    remedy = "Ask again in a moment."

    def __init__(self) -> None:
        super().__init__("the server is about to stop: ask again in a moment, it or another will answer")


class TokenUncheckedError(RefusedCallError):
    """The token may be of another server with the same log, which this one cannot read on in now."""

    code = StatusCode.UNAVAILABLE
    reason = "TOKEN_UNCHECKED"
    remedy = "Ask again in a moment, or another server."

    def __init__(self) -> None:
        super().__init__(
            "the token is not known here, and this server cannot read now what others that share its log "
            "wrote: ask again in a moment, it or another will answer"
        )


class AnswerTooLargeError(RefusedCallError):
    """No message can hold the answer; `size` and `limit` are in bytes."""

    code = StatusCode.RESOURCE_EXHAUSTED
    reason = "ANSWER_TOO_LARGE"
    remedy = "Ask for fewer positions, fewer matches, or without cells."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the answer has {size:,} bytes, a message at most {limit:,}: ask for fewer positions, "
            "fewer matches, or without cells",
            size=size,
            limit=limit,
        )


class AnalysisDuringContestError(RefusedCallError):
    """A player asks for analysis of a game while it plays it, or one that has contests in common with it."""

    code = StatusCode.FAILED_PRECONDITION
    reason = "ANALYSIS_DURING_CONTEST"
    remedy = (
        "Ask about the game of the contest, with its id and under fair use, or wait until it is reported."
    )

    def __init__(self, player: str, game_id: str, contest_id: str, played: str) -> None:
        common = f", whose libraries have contests in common with {game_id!r}" if played != game_id else ""
        super().__init__(
            f"{player!r} is playing contest {contest_id!r} of game {played!r}{common}: until it is reported, "
            "ask about that game, with its contest_id and under fair use",
            game_id=played,
            contest_id=contest_id,
        )


class LocalWeightsOffError(RefusedCallError):
    """A player wants to download weights that its game keeps in ACADEMY."""

    code = StatusCode.FAILED_PRECONDITION
    reason = "LOCAL_WEIGHTS_OFF"
    remedy = (
        "Ask for advice on positions instead, or have an admin set `local_weights=true` for the game and "
        "leave `local_weights` out of the competition's `[fair_use]`."
    )

    def __init__(self, game_id: str, in_game: bool) -> None:
        where, remedy = (
            ("its setting local_weights is off", "have an admin set local_weights=true")
            if in_game
            else ("the contest has local_weights = false", "leave it out of the competition's [fair_use]")
        )
        super().__init__(
            f"players may not download the weights of {game_id}: {where}; ask for advice on positions "
            f"instead, or {remedy}",
            game_id=game_id,
        )


class BackupsOffError(RefusedCallError):
    """The server has no folder for backups."""

    code = StatusCode.FAILED_PRECONDITION
    reason = "BACKUPS_OFF"
    remedy = (
        "Start the server with `academy serve --backups FOLDER`, or run `academy backup` where the data are."
    )

    def __init__(self) -> None:
        super().__init__(
            "this server has no folder for backups: start it with --backups, or run `academy backup` where "
            "the data are"
        )


@dataclass(frozen=True)
class ErrorRow:
    """The status of an error that knows nothing of gRPC. `retry_after` is in seconds."""

    code: StatusCode
    reason: str
    remedy: str
    retry_after: float | None = None


_CORRECT: Final = "Correct what the message names."
_NEW_TOKEN: Final = "Ask an admin for a new token."
_ASK_ADMIN: Final = "Tell the server's admin, who finds more in its log."
_TABLE: Final[Mapping[type[Exception], ErrorRow]] = {
    tokens.TokenRefusedError: ErrorRow(StatusCode.UNAUTHENTICATED, "TOKEN_INVALID", _NEW_TOKEN),
    tokens.UnknownTokenError: ErrorRow(StatusCode.UNAUTHENTICATED, "TOKEN_UNKNOWN", _NEW_TOKEN),
    tokens.RevokedTokenError: ErrorRow(StatusCode.UNAUTHENTICATED, "TOKEN_REVOKED", _NEW_TOKEN),
    tokens.ExpiredTokenError: ErrorRow(StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED", _NEW_TOKEN),
    store.AnalysisExceededError: ErrorRow(
        StatusCode.RESOURCE_EXHAUSTED,
        "ANALYSIS_EXCEEDED",
        "Ask again after `retry_after`, or about fewer positions.",
    ),
    FairUseExceededError: ErrorRow(
        StatusCode.RESOURCE_EXHAUSTED, "FAIR_USE_EXCEEDED", "Play on without asking until the rule allows it."
    ),
    ValueNotLowError: ErrorRow(
        StatusCode.FAILED_PRECONDITION,
        "VALUE_NOT_LOW",
        "In a contest ask only in bad positions, with their expected value.",
    ),
    ClaimsContradictError: ErrorRow(
        StatusCode.FAILED_PRECONDITION,
        "CLAIMS_CONTRADICT",
        "Play this contest without asking; in others say of each position what the arena will hear, once.",
    ),
    PlaysAloneError: ErrorRow(
        StatusCode.FAILED_PRECONDITION, "PLAYS_ALONE", "Play this contest without asking; propose as always."
    ),
    LooserRuleError: ErrorRow(
        StatusCode.INVALID_ARGUMENT,
        "LOOSER_RULE",
        "Give a rule that is as strict as the game's, or have an admin change the game's setting.",
    ),
    InvalidBoardError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_BOARD", _CORRECT),
    InvalidPatternError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_PATTERN", _CORRECT),
    InvalidTesujiError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_TESUJI", _CORRECT),
    InvalidCutError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_CUT", _CORRECT),
    WrongRowError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_ROW", _CORRECT),
    InvalidVoteError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_VALUE", _CORRECT),
    InvalidSettingsError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_SETTINGS", _CORRECT),
    InvalidGameError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_GAME", _CORRECT),
    UnknownLineError: ErrorRow(StatusCode.INVALID_ARGUMENT, "UNKNOWN_LINE", _CORRECT),
    UnknownPatternError: ErrorRow(
        StatusCode.NOT_FOUND, "UNKNOWN_PATTERN", "List the patterns of the library."
    ),
    store.UnknownGameError: ErrorRow(
        StatusCode.NOT_FOUND, "UNKNOWN_GAME", "List the games, and register the game if it is missing."
    ),
    store.UnknownContestError: ErrorRow(
        StatusCode.NOT_FOUND,
        "UNKNOWN_CONTEST",
        "List the open contests, and open the contest if it is missing.",
    ),
    store.UnknownArenaError: ErrorRow(StatusCode.NOT_FOUND, "UNKNOWN_ARENA", "List the arenas."),
    store.NotDeletedError: ErrorRow(StatusCode.NOT_FOUND, "PATTERN_NOT_DELETED", "List the removals."),
    store.UnknownTesujiError: ErrorRow(
        StatusCode.NOT_FOUND, "UNKNOWN_TESUJI", "List the tesujis of the game, with their codes."
    ),
    store.UnknownRemovalError: ErrorRow(StatusCode.NOT_FOUND, "UNKNOWN_REMOVAL", "List the removals."),
    store.UnknownRecordError: ErrorRow(StatusCode.NOT_FOUND, "UNKNOWN_RECORD", _CORRECT),
    store.InvalidRecordError: ErrorRow(StatusCode.INVALID_ARGUMENT, "INVALID_RECORD", _CORRECT),
    store.GameConflictError: ErrorRow(
        StatusCode.ALREADY_EXISTS, "GAME_CONFLICT", "Register the game under another id."
    ),
    store.GameInUseError: ErrorRow(
        StatusCode.FAILED_PRECONDITION, "GAME_IN_USE", "Keep the game, or confirm that a fork goes."
    ),
    store.ImportedBeforeError: ErrorRow(
        StatusCode.ALREADY_EXISTS,
        "IMPORTED_BEFORE",
        "Import with `replace`, or with `again` if they count twice.",
    ),
    store.ContestConflictError: ErrorRow(
        StatusCode.ALREADY_EXISTS, "CONTEST_CONFLICT", "Use another id for another contest."
    ),
    store.ConflictError: ErrorRow(StatusCode.ALREADY_EXISTS, "CONFLICT", "Use another id."),
    store.ContestOverError: ErrorRow(
        StatusCode.FAILED_PRECONDITION, "CONTEST_OVER", "Open another contest: this one was reported."
    ),
    store.ConsultationOrderError: ErrorRow(
        StatusCode.FAILED_PRECONDITION,
        "CONSULTATION_OUT_OF_ORDER",
        "Ask with a list of moves that extends the one before.",
    ),
    store.TooManyProposalsError: ErrorRow(
        StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_PROPOSALS", "Propose fewer patterns in a contest."
    ),
    store.StoreBusyError: ErrorRow(
        StatusCode.RESOURCE_EXHAUSTED, "STORE_BUSY", "Ask again after `retry_after`.", 0.25
    ),
    store.StoreFullError: ErrorRow(
        StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL", "The admin must make room on the disk.", 30.0
    ),
    store.LogUnavailableError: ErrorRow(
        StatusCode.UNAVAILABLE, "LOG_UNAVAILABLE", "Ask again: what is done already is not done twice.", 1.0
    ),
    store.LogUpgradingError: ErrorRow(
        StatusCode.UNAVAILABLE,
        "LOG_UPGRADING",
        "Ask another server, or again when this one is upgraded.",
        1.0,
    ),
    store.LogMessageTooLargeError: ErrorRow(
        StatusCode.FAILED_PRECONDITION,
        "LOG_MESSAGE_TOO_LARGE",
        "Write less at once, or have the admin raise max_payload of the NATS servers.",
    ),
    # With a time: what waits to be written, as arenas' reports do, is as good once the log is set right.
    store.LogDivergedError: ErrorRow(
        StatusCode.FAILED_PRECONDITION,
        "LOG_DIVERGED",
        "Ask another server, or again once the server's admin has set this one right.",
        30.0,
    ),
    store.StoreReadOnlyError: ErrorRow(StatusCode.FAILED_PRECONDITION, "STORE_READ_ONLY", _ASK_ADMIN),
    store.SchemaMismatchError: ErrorRow(StatusCode.FAILED_PRECONDITION, "STORE_SCHEMA", _ASK_ADMIN),
    store.StoreCorruptError: ErrorRow(StatusCode.DATA_LOSS, "STORE_CORRUPT", _ASK_ADMIN),
    store.StoreClosedError: ErrorRow(StatusCode.UNAVAILABLE, "STORE_CLOSED", "Ask again in a moment."),
    store.StoreError: ErrorRow(StatusCode.UNAVAILABLE, "STORE_FAILED", _ASK_ADMIN),
}


# Faults of the store whose own words are for callers too.
_SPEAKING: Final = (store.StoreBusyError, store.LogMessageTooLargeError, store.LogUpgradingError)


# The store logs when these begin and end, not for each call.
_LOGGED_ONCE: Final = (store.LogUnavailableError, store.LogDivergedError)


def is_expected(error: Exception) -> bool:
    """Whether callers see the error itself; any other is an incident."""
    return isinstance(error, RefusedCallError) or row_of(error) is not None


def row_of(error: BaseException) -> ErrorRow | None:
    """Return the row of an error's class, or of its nearest base class."""
    return next((_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE), None)


def to_status(error: Exception) -> StatusDetails:
    """Translate an error; an unexpected one is logged and becomes INTERNAL with its number."""
    if isinstance(error, RefusedCallError):
        status = error.status(DOMAIN)
        cause = row_of(error.__cause__) if error.__cause__ is not None else None
        if isinstance(error, InvalidFieldError) and cause is not None:
            details = {**status.metadata, **_details(error.__cause__)}
            return replace(status, reason=cause.reason, metadata=details)
        return status
    row = row_of(error)
    if row is None:
        return _incident(error)
    message = str(error)
    if isinstance(error, store.StoreError) and not isinstance(error, _SPEAKING):
        # Where the data lie on the server's disk is for its log.
        if not isinstance(error, _LOGGED_ONCE) and fault_lines.use():
            _log.error("store failed", reason=row.reason, why=message)
        outcome = "nothing was written"
        if isinstance(error, store.LogUnavailableError):
            outcome = "whether it was written is not known: ask again"
        message = f"the server's store failed ({row.reason}), {outcome}; its log has more"
    details = _details(error)
    return StatusDetails(
        DOMAIN,
        row.code,
        row.reason,
        message,
        details,
        getattr(error, "retry_after", row.retry_after),
        details.get("field", "") if row.code is StatusCode.INVALID_ARGUMENT else "",
    )


def to_stream_refusal(status: StatusDetails) -> consultation_pb2.Refusal:
    """Return the message that refuses one question on a stream that goes on."""
    metadata = status.short_metadata()
    if status.retry_after is not None:
        metadata["retry_after"] = f"{status.retry_after:g}"
    return consultation_pb2.Refusal(
        code=status.code.value[0], message=status.short_message(), reason=status.reason, metadata=metadata
    )


def require(holds: bool, field: str, what: str, **details: float | str) -> None:
    """Raise InvalidFieldError unless a rule holds."""
    if not holds:
        raise InvalidFieldError(field, what, **details)


# 31 December 9999: later times cannot be written.
LATEST_SECOND: Final = 253_402_300_799


def require_time(time: Timestamp, field: str) -> None:
    """Raise InvalidFieldError unless a time lies from 1970 to the year 9999."""
    require(
        0 <= time.seconds <= LATEST_SECOND and 0 <= time.nanos < 10**9,
        field,
        f"{time.seconds} seconds after 1970: it must be from 1970 to the year 9999",
    )


@dataclass(frozen=True)
class DescribedError:
    """An error as the documentation lists it."""

    status: str
    reason: str
    meaning: str
    remedy: str


def described_errors() -> list[DescribedError]:
    """Return all errors that callers may meet, by reason, for the page of error codes."""
    own = [kind for kind in RefusedCallError.__subclasses__() if kind.__module__.startswith("academy.")]
    rows: list[tuple[type[Exception], StatusCode, str, str]] = [
        (kind, kind.code, kind.reason, kind.remedy) for kind in own
    ]
    rows += [(kind, row.code, row.reason, row.remedy) for kind, row in _TABLE.items()]
    described = [
        DescribedError(code.name, reason, (kind.__doc__ or "").partition("\n")[0], remedy)
        for kind, code, reason, remedy in rows
    ]
    return sorted(described, key=lambda error: (error.reason, error.meaning))


def _details(error: BaseException | None) -> dict[str, str]:
    return dict(error.details()) if isinstance(error, WithDetails) else {}


def _incident(error: Exception) -> StatusDetails:
    number = uuid.uuid4().hex[:12]
    message = f"an error of the server's own; its log has it as incident {number}"
    if not fault_lines.use():
        message = "an error of the server's own; there are more of them than its log takes"
        return StatusDetails(DOMAIN, StatusCode.INTERNAL, "INTERNAL", message)
    _log.error("incident", incident=number, traceback="".join(traceback.format_exception(error)))
    return StatusDetails(DOMAIN, StatusCode.INTERNAL, "INTERNAL", message, {"incident": number})
