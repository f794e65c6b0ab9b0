"""Errors that a server answers a call with: a gRPC status with details of `google.rpc` (AIP-193)."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, ClassVar, Final, NoReturn

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from grpc import aio

from academy.knowledge.error_details import WithDetails

# In bytes, percent-encoded. Clients drop trailers of more than 8 KiB, and these hold the message three times.
MAX_MESSAGE: Final = 1_500
# In bytes. ErrorInfo metadata is meant for numbers and names, not for documents.
MAX_METADATA_VALUE: Final = 256
# Where grpc clients look for a google.rpc.Status.
DETAILS_KEY: Final = "grpc-status-details-bin"


@dataclass(frozen=True)
class StatusDetails:
    """What a caller gets in place of an answer. `domain` is the program, `field_path` of the request."""

    domain: str
    code: grpc.StatusCode
    reason: str
    message: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_after: float | None = None
    field_path: str = ""

    async def abort(self, context: aio.ServicerContext[Any, Any]) -> NoReturn:
        """End a call with the status and its details."""
        message = self.short_message()
        status = status_pb2.Status(code=self.code.value[0], message=message)
        info = error_details_pb2.ErrorInfo(
            reason=self.reason, domain=self.domain, metadata=self.short_metadata()
        )
        status.details.add().Pack(info)
        if self.retry_after is not None:
            delay = Duration()
            delay.FromMicroseconds(round(self.retry_after * 1e6))
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        if self.field_path:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field=_short(self.field_path), description=message
            )
            status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
        await context.abort(self.code, message, ((DETAILS_KEY, status.SerializeToString()),))

    def short_message(self) -> str:
        """Return the message cut to a header's length."""
        sizes = (
            1 if " " <= letter <= "~" and letter != "%" else 3 * len(letter.encode())
            for letter in self.message[:MAX_MESSAGE]
        )
        return self.message[: bisect_right(list(accumulate(sizes)), MAX_MESSAGE)]

    def short_metadata(self) -> dict[str, str]:
        """Return the metadata with values cut to a header's length."""
        return {name: _short(value) for name, value in self.metadata.items()}


def _short(value: str) -> str:
    return value.encode()[:MAX_METADATA_VALUE].decode(errors="ignore")


class RefusedCallError(WithDetails, RuntimeError):
    """A call that a server refuses. Subclasses declare its code, its reason and what its caller can do.

    `retry_after` is in seconds. `field` is the path of the request's field that is wrong. The `details` are
    the metadata of the `google.rpc.ErrorInfo`.
    """

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.FAILED_PRECONDITION
    reason: str = "REFUSED"
    remedy: ClassVar[str] = ""
    retry_after: float | None = None
    field: str = ""

    def status(self, domain: str) -> StatusDetails:
        """Return the status of a server."""
        return StatusDetails(
            domain, self.code, self.reason, str(self), self.details(), self.retry_after, self.field
        )


class NotAuthenticatedError(RefusedCallError):
    """The call has no valid token."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "TOKEN_INVALID"
    remedy = "Send the metadata `authorization: Bearer TOKEN`; who runs the server makes tokens."

    def __init__(self, message: str, reason: str = "TOKEN_INVALID") -> None:
        super().__init__(message)
        self.reason = reason


class NotPermittedError(RefusedCallError):
    """The caller is known, and may not do this."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "NOT_PERMITTED"
    remedy = "Use a token of another role, or of the player concerned."


class MessageOverdueError(RefusedCallError):
    """The message of a call did not come in time."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "MESSAGE_OVERDUE"
    remedy = "Call again, and send the message at once."

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the call's message did not come in {seconds:g} seconds: call again, and send it",
            seconds=seconds,
        )
