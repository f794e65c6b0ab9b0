"""Health, refused in the lobby's words."""

from typing import NoReturn

import grpc

from academy.wire import health
from arena.lobby.refusals import Idle, Refusal


class UnknownService(Refusal):
    """Health was asked of a service that this server does not have."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_SERVICE"


class HealthServicer(health.HealthServicer):
    """grpc.health.v1.Health, beside the lobby's services."""

    async def refuse(
        self, why: health.UnknownService | health.WatchedLongEnough, context: health.Context
    ) -> NoReturn:
        """End a call with a status."""
        refusal = UnknownService if isinstance(why, health.UnknownService) else Idle
        await refusal(str(why), **vars(why)).abort(context)
