"""Why a call or stream is refused, as gRPC's clients are told: a status with a google.rpc.ErrorInfo."""

from typing import Any, ClassVar, Final, NoReturn

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc import aio

DOMAIN: Final = "arena"
MAX_MESSAGE: Final = 2_000
_DETAILS_KEY: Final = "grpc-status-details-bin"


class LobbyRefusalError(RuntimeError):
    """A refusal; `metadata` are the numbers and names its message speaks of."""

    code: ClassVar[grpc.StatusCode] = grpc.StatusCode.FAILED_PRECONDITION
    reason: ClassVar[str] = "REFUSED"

    def __init__(self, message: str, **metadata: str | int | float) -> None:
        super().__init__(message)
        self.metadata = metadata

    async def abort(self, context: aio.ServicerContext[Any, Any]) -> NoReturn:
        """End a call with the status and its details."""
        message = str(self)[:MAX_MESSAGE]
        status = status_pb2.Status(code=self.code.value[0], message=message)
        info = error_details_pb2.ErrorInfo(
            reason=self.reason,
            domain=DOMAIN,
            metadata={name: str(each) for name, each in self.metadata.items()},
        )
        status.details.add().Pack(info)
        await context.abort(self.code, message, ((_DETAILS_KEY, status.SerializeToString()),))


class NotAuthenticatedError(LobbyRefusalError):
    """No token, or one that is not known."""

    code = grpc.StatusCode.UNAUTHENTICATED
    reason = "TOKEN_INVALID"


class NotPermittedError(LobbyRefusalError):
    """A token that is good for something else."""

    code = grpc.StatusCode.PERMISSION_DENIED
    reason = "NOT_PERMITTED"


class InvalidRequestError(LobbyRefusalError):
    """A message that breaks the protocol."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_REQUEST"


class TooManyError(LobbyRefusalError):
    """More of something than is allowed."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY"


class PlayerIdleError(LobbyRefusalError):
    """A caller that was waited for in vain."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "STREAM_IDLE"


class SessionReplacedError(LobbyRefusalError):
    """Another stream of the same player has taken this one's place."""

    code = grpc.StatusCode.ABORTED
    reason = "REPLACED"


class LobbyClosingError(LobbyRefusalError):
    """The server ends."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "DRAINING"
