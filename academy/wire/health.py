"""Health: serving from a server's start to the beginning of its stop, for whoever asks.

Of our own, as the package's servicer keeps a lock while it writes to a watcher: one who reads nothing would
hold up all others, and the stop.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, NoReturn

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

Context = aio.ServicerContext[Any, Any]
_Status = health_pb2.HealthCheckResponse
# The package's published types leave List out.
_pb: Any = health_pb2


class UnknownServiceError(LookupError):
    """Health was asked of a service that this server does not have."""

    def __init__(self, service: str) -> None:
        super().__init__(f"there is no service {service!r}; ask without a name for all of the server")


class WatchTooLongError(TimeoutError):
    """A watch of health has lasted for as long as one may."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"health was watched for {seconds:g} seconds: the stream is closed; open another when needed"
        )
        self.seconds = seconds


class HealthServicer(health_pb2_grpc.HealthServicer):
    """grpc.health.v1.Health: all services have the same health, the empty name is all of them."""

    def __init__(self, services: Iterable[str], watch_seconds: float) -> None:
        """Watches end after so many seconds: whoever still wants to know watches again."""
        self._services = {"", *services}
        self._watch_seconds = watch_seconds
        self._stopping = asyncio.Event()
        self._watches: set[asyncio.Task[Any]] = set()

    def stop(self) -> None:
        """From now on nothing is serving; watchers are told, and their streams end."""
        self._stopping.set()

    async def watchers_told(self, seconds: float) -> None:
        """Wait until all watches have ended after a `stop`, or so many seconds: not all watchers read."""
        if self._watches:
            await asyncio.wait(self._watches, timeout=seconds)

    async def refuse(self, why: UnknownServiceError | WatchTooLongError, context: Context) -> NoReturn:
        """End a call: raises what a server that makes statuses of exceptions makes one of."""
        raise why

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        """Return a service's health, or refuse with UnknownServiceError."""
        if request.service not in self._services:
            await self.refuse(UnknownServiceError(request.service), context)
        return self._health()

    async def List(self, request: Any, context: Context) -> Any:
        """Return the health of every service by its name, the empty one's included."""
        return _pb.HealthListResponse(statuses={each: self._health() for each in sorted(self._services)})

    async def Watch(
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield a service's health, and what becomes of it, or refuse with WatchTooLongError."""
        watch = asyncio.current_task()
        assert watch is not None
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
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
            await self.refuse(WatchTooLongError(self._watch_seconds), context)
        if known:
            yield self._health()

    def _health(self) -> health_pb2.HealthCheckResponse:
        return _Status(status=_Status.NOT_SERVING if self._stopping.is_set() else _Status.SERVING)
