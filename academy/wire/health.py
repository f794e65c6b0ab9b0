"""Health: serving from a server's start to the beginning of its stop.

grpcio-health-checking's own servicer keeps a lock while it writes to a watcher: one that reads nothing would
hold up all others, and the stop.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from academy.wire.errors import RefusedCallError

Context = aio.ServicerContext[Any, Any]
_Status = health_pb2.HealthCheckResponse
# The package's published types leave List out.
_pb: Any = health_pb2


class UnknownServiceError(RefusedCallError):
    """Health was asked of a service that this server does not have."""

    code = grpc.StatusCode.NOT_FOUND
    reason = "UNKNOWN_SERVICE"
    remedy = "Ask without a name for the health of the whole server."

    def __init__(self, service: str) -> None:
        super().__init__(f"there is no service {service!r}; ask without a name for all of the server")


class WatchTooLongError(RefusedCallError):
    """A watch of health has lasted for as long as one may."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED
    reason = "STREAM_IDLE"
    remedy = "Watch again when needed."

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"health was watched for {seconds:g} seconds: the stream is closed; open another when needed",
            seconds=seconds,
        )


class HealthServicer(health_pb2_grpc.HealthServicer):
    """grpc.health.v1.Health: all services have the same health, the empty name is all of them."""

    def __init__(self, services: Iterable[str], watch_seconds: float) -> None:
        """End watches after `watch_seconds`."""
        self._services = {"", *services}
        self._watch_seconds = watch_seconds
        self._stopping = asyncio.Event()
        self._watches: set[asyncio.Task[Any]] = set()

    def stop(self) -> None:
        """Report that nothing is serving from now on, and end the streams of watchers."""
        self._stopping.set()

    async def wait_for_watchers(self, seconds: float) -> None:
        """Wait at most `seconds` until all watches have ended after a `stop`: not all watchers read."""
        if self._watches:
            await asyncio.wait(self._watches, timeout=seconds)

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Return a service's health. Raises UnknownServiceError."""
        if request.service not in self._services:
            raise UnknownServiceError(request.service)
        return self._health()

    async def List(self, request: Any, context: Context) -> Any:
        """Return the health of every service by its name, the empty one's included."""
        return _pb.HealthListResponse(statuses={name: self._health() for name in sorted(self._services)})

    async def Watch(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield a service's health, and each change of it. Raises WatchTooLongError."""
        watch = asyncio.current_task()
        assert watch is not None
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        known = request.service in self._services
        first = self._health() if known else _Status(status=_Status.SERVICE_UNKNOWN)
        yield first
        # By the first answer, not by the health now: a stop may have begun while that was written.
        if first.status == _Status.NOT_SERVING:
            return
        try:
            async with asyncio.timeout(self._watch_seconds):
                await self._stopping.wait()
        except TimeoutError:
            raise WatchTooLongError(self._watch_seconds) from None
        if known:
            yield self._health()

    def _health(self) -> health_pb2.HealthCheckResponse:
        return _Status(status=_Status.NOT_SERVING if self._stopping.is_set() else _Status.SERVING)
