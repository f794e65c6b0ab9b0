"""Health as a servicer tells it; what watchers can't hold up is tested with the servers that have it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar, cast

import pytest
from grpc_health.v1 import health_pb2

from academy.wire.health import Context, HealthServicer, UnknownServiceError, WatchTooLongError

SERVICE = "academy.v1.LibraryService"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
# Nothing is asked of it, where exceptions are what refuses.
CONTEXT = cast(Context, None)
Result = TypeVar("Result")


def run(test: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(asyncio.wait_for(test, 60))


def servicer(watch_seconds: float = 3_600.0) -> HealthServicer:
    return HealthServicer([SERVICE], watch_seconds)


async def checked(health: HealthServicer, service: str) -> int:
    return (await health.Check(health_pb2.HealthCheckRequest(service=service), CONTEXT)).status


def watch(health: HealthServicer, service: str = "") -> AsyncIterator[health_pb2.HealthCheckResponse]:
    return health.Watch(health_pb2.HealthCheckRequest(service=service), CONTEXT)


async def watched(health: HealthServicer, service: str = "") -> list[int]:
    return [answer.status async for answer in watch(health, service)]


@pytest.mark.parametrize("service", ["", SERVICE])
def test_every_service_is_serving_until_the_stop(service: str) -> None:
    async def test() -> None:
        health = servicer()
        assert await checked(health, service) == SERVING
        health.stop()
        assert await checked(health, service) == NOT_SERVING
        assert await watched(health, service) == [NOT_SERVING]

    run(test())


def test_an_unknown_service_has_no_health() -> None:
    with pytest.raises(UnknownServiceError, match=r"academy\.v1\.Nonsense"):
        run(checked(servicer(), "academy.v1.Nonsense"))


@pytest.mark.parametrize(
    ("service", "statuses"), [(SERVICE, [SERVING, NOT_SERVING]), ("nonsense", [UNKNOWN])]
)
def test_watchers_get_the_stop(service: str, statuses: list[int]) -> None:
    async def test() -> None:
        health = servicer()
        watching = asyncio.create_task(watched(health, service))
        await asyncio.sleep(0)
        health.stop()
        await health.wait_for_watchers(60)
        assert watching.done() and watching.result() == statuses

    run(test())


def test_watchers_get_a_stop_during_their_first_answer() -> None:
    async def test() -> None:
        health = servicer()
        answers = watch(health)
        assert (await anext(answers)).status == SERVING
        health.stop()
        assert [answer.status async for answer in answers] == [NOT_SERVING]

    run(test())


def test_a_watch_ends_in_time() -> None:
    with pytest.raises(WatchTooLongError, match=r"0\.01 seconds"):
        run(watched(servicer(watch_seconds=0.01)))


def test_wait_for_watchers_that_read_nothing_is_limited() -> None:
    async def test() -> None:
        health = servicer()

        async def deaf() -> None:
            async for _ in watch(health):
                await asyncio.Event().wait()

        watching = asyncio.create_task(deaf())
        await asyncio.sleep(0)
        health.stop()
        await health.wait_for_watchers(0.01)
        assert not watching.done()
        watching.cancel()

    run(test())
