"""Errors that the arena's server answers with, beside those of `academy.wire.errors`."""

from typing import Final

import grpc

from academy.wire.errors import RefusedCallError

DOMAIN: Final = "arena"


class InvalidRequestError(RefusedCallError):
    """A message breaks the protocol."""

    code = grpc.StatusCode.INVALID_ARGUMENT
    reason = "INVALID_REQUEST"
    remedy = "Correct what the message names."


class TooManyError(RefusedCallError):
    """There is more of something than is allowed."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "TOO_MANY"
    remedy = "Try again when there are fewer."


class PlayerIdleError(RefusedCallError):
    """The server has waited for a caller for too long."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "STREAM_IDLE"
    remedy = "Dial in again, and read and write in time."


class SessionReplacedError(RefusedCallError):
    """Another stream of the same player has taken this one's place."""

    code = grpc.StatusCode.ABORTED
    reason = "REPLACED"
    remedy = "Let one program dial in for each player."


class LobbyClosingError(RefusedCallError):
    """The server ends."""

    code = grpc.StatusCode.UNAVAILABLE
    reason = "DRAINING"
    remedy = "Dial in again in a moment."
