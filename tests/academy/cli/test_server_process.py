"""A server that is stopped, before it serves and while it does."""

import asyncio
import gc
import os
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from academy.cli import server_process
from academy.service.limits import Limits
from academy.service.server import ServerSettings
from academy.store.errors import LogRefusedError
from academy.store.library_store import Store
from academy.wire import logs
from academy.wire.addresses import ServerAddress
from tests.academy.service.raw_calls import RawCalls
from tests.asking_health import health_of

SECONDS = 90.0
# Waits that end only by what is tested.
FOR_EVER = 3_600.0


@pytest.mark.parametrize("stopped", [True, False])
def test_a_stop_that_python_drops_while_it_collects_garbage_ends_the_server_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    class Dying:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def open_store(*_: object, **__: object) -> None:
        if stopped:
            Dying()
        raise LogRefusedError("no NATS server lets this one in")

    # Where a garbage collection falls cannot be chosen in a server of its own.
    monkeypatch.setattr(server_process, "Store", open_store)
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    settings = ServerSettings(ServerAddress("127.0.0.1", 0))
    ended = None
    try:
        server_process.run_server(tmp_path, settings, lambda: None, 1, 60, None)
    except LogRefusedError as error:
        ended = error
    assert (ended is None) == stopped


@pytest.fixture
def frozen_only_for_a_while() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen_only_for_a_while")
def test_a_second_signal_ends_a_server_without_waiting_for_calls(tmp_path: Path) -> None:
    # Into what is shown of a failed test: a command before this one may have closed its own.
    logs.configure("error", "json")
    settings = ServerSettings(
        ServerAddress.parse("127.0.0.1:0"), grace=FOR_EVER, limits=Limits(write_seconds=FOR_EVER)
    )
    signal_pipe, signals = os.pipe()
    os.set_blocking(signal_pipe, False)
    addresses: queue.Queue[ServerAddress] = queue.Queue()

    def serve() -> None:
        with closing(Store(tmp_path)) as store:
            asyncio.run(server_process._serve(store, settings, addresses.put, signal_pipe))

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    address = addresses.get(timeout=SECONDS)
    with RawCalls(address) as deaf, grpc.insecure_channel(str(address)) as channel:
        # A call that does not end: its answer is on its way, and nobody reads it.
        deaf.begin("/grpc.health.v1.Health/Check", b"")
        health = health_of(channel)
        # What comes later is answered later.
        health.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        next(watch)
        os.write(signals, b"\0")
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert list(watch) == []
        assert server.is_alive()
        os.write(signals, b"\0")
        server.join(SECONDS)
        assert not server.is_alive()
    os.close(signals)
    os.close(signal_pipe)
