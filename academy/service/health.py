"""Health: serving from the server's start to the beginning of its stop, for whoever asks.

Of our own, as the package's servicer keeps a lock while it writes to a watcher: one who reads nothing would
hold up all others, and the stop.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from academy.service.refusals import StreamIdle, UnknownService

Context = aio.ServicerContext[Any, Any]
_Status = health_pb2.HealthCheckResponse


class HealthServicer(health_pb2_grpc.HealthServicer):
    """grpc.health.v1.Health: all services have the same health, the empty name is all of them."""

    def __init__(self, services: Iterable[str], watch_seconds: float) -> None:
        """Watches end after so many seconds: whoever still wants to know watches again."""
        self._services = {"", *services}
        self._watch_seconds = watch_seconds
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """From now on nothing is serving; watchers are told, and their streams end."""
        self._stopping.set()

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Return a service's health. Raises UnknownService."""
        if request.service not in self._services:
            raise UnknownService(request.service)
        return self._health()

    async def Watch(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield a service's health, and what becomes of it. Raises StreamIdle."""
        known = request.service in self._services
        first = self._health() if known else _Status(status=_Status.SERVICE_UNKNOWN)
        yield first
        # Not the health of now: a stop that began while the first was written is still to be told.
        if first.status == _Status.NOT_SERVING:
            return
        try:
            async with asyncio.timeout(self._watch_seconds):
                await self._stopping.wait()
        except TimeoutError:
            raise StreamIdle("health was watched", self._watch_seconds) from None
        if known:
            yield self._health()

    def _health(self) -> health_pb2.HealthCheckResponse:
        return _Status(status=_Status.NOT_SERVING if self._stopping.is_set() else _Status.SERVING)
