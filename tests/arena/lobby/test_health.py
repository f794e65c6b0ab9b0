"""Health, and what watching it can't hold up."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from academy.wire.addresses import ServerAddress
from arena.lobby.lobby import LobbyLimits
from arena.lobby.server import PLAYER_SERVICE
from tests.academy.service.raw_calls import RawCalls
from tests.arena.lobby.rooms import SECONDS, open_lobby
from tests.arena.service.serving import reason
from tests.asking_health import health_of, listed_by

WATCH = "/grpc.health.v1.Health/Watch"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
PATIENT = LobbyLimits(health_watch_seconds=3_600.0)


@contextmanager
def asking(address: str) -> Iterator[Any]:
    with grpc.insecure_channel(address) as channel:
        yield health_of(channel)


def request(service: str = "") -> health_pb2.HealthCheckRequest:
    return health_pb2.HealthCheckRequest(service=service)


@pytest.mark.parametrize("service", ["", PLAYER_SERVICE])
def test_an_open_lobby_is_serving(service: str) -> None:
    with open_lobby() as lobby, asking(lobby.address) as health:
        assert health.Check(request(service), timeout=SECONDS).status == SERVING
        watch = health.Watch(request(service), timeout=SECONDS)
        assert next(watch).status == SERVING
        watch.cancel()


def test_the_health_of_all_services_is_listed() -> None:
    with open_lobby() as lobby, asking(lobby.address) as health:
        assert listed_by(health, SECONDS) == {"": SERVING, PLAYER_SERVICE: SERVING}


def test_unknown_services_have_no_health() -> None:
    with open_lobby() as lobby, asking(lobby.address) as health:
        with pytest.raises(grpc.RpcError) as error:
            health.Check(request("arena.v1.Nonsense"), timeout=SECONDS)
        watch = health.Watch(request("arena.v1.Nonsense"), timeout=SECONDS)

        assert reason(error.value) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_SERVICE")
        assert next(watch).status == UNKNOWN
        watch.cancel()


def test_a_watch_ends_in_time() -> None:
    limits = replace(PATIENT, health_watch_seconds=0.2)
    with open_lobby(limits=limits) as lobby, asking(lobby.address) as health:
        watch = health.Watch(request(), timeout=SECONDS)
        assert next(watch).status == SERVING
        with pytest.raises(grpc.RpcError) as error:
            next(watch)
        assert reason(error.value) == (grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE")


def test_a_watcher_that_reads_nothing_delays_no_other() -> None:
    with ExitStack() as opened:
        address = opened.enter_context(open_lobby(limits=PATIENT)).address
        with RawCalls(ServerAddress.parse(address)) as deaf, asking(address) as health:
            call = deaf.begin(WATCH, b"")
            deaf.until(lambda: call in deaf.headers)
            watch = health.Watch(request(), timeout=SECONDS)
            assert next(watch).status == SERVING

            stop = threading.Thread(target=opened.close, daemon=True)
            stop.start()

            assert next(watch).status == NOT_SERVING
            assert list(watch) == []
            stop.join(SECONDS)
            assert not stop.is_alive()
