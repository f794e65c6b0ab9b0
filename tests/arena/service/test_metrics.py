"""What Prometheus reads of the service, over a real socket."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
import pytest

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.metrics_page import MetricsPage
from arena.lobby.lobby import Lobby, LobbyLimits
from arena.lobby.v1 import lobby_pb2
from arena.runner.files import CompetitionFiles
from arena.runner.remote_players import NamedPlayers
from arena.service.access import ServiceAccess
from arena.service.competitions import CompetitionServicer
from arena.service.folder import CompetitionFolder
from arena.service.runs import Runs
from arena.service.server import ServiceMetrics
from arena.service.tokens import ServiceRole, Tokens, add_token
from arena.v1 import competitions_pb2, competitions_pb2_grpc, players_pb2
from tests.arena.control_files import RANDOM, write_control
from tests.arena.service.serving import SECONDS


class ServiceWithoutServer:
    """A service without its server, and what it tells."""

    def __init__(self, folder: Path) -> None:
        self.token = add_token(folder / "tokens", "me", ServiceRole.OPERATOR)
        self.lobby = Lobby(NamedPlayers({"one": None}), LobbyLimits())
        self.runs = Runs(folder / "lobby")
        self.servicer = CompetitionServicer(
            CompetitionFolder(folder),
            self.runs,
            ServiceAccess(Tokens(folder / "tokens")),
            self.lobby,
            allow_uploads=False,
        )
        self.port = 0

    @contextmanager
    def open(self) -> Iterator[None]:
        with closing(self.page("127.0.0.1:0")) as page:
            self.port = page.port
            yield

    def page(self, address: str) -> MetricsPage:
        metrics = ServiceMetrics(self.lobby, self.servicer, self.runs)
        return MetricsPage(metrics.registry(), ServerAddress.parse(address))

    def lines(self) -> list[str]:
        with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=180) as answer:
            text: str = answer.read().decode()
        return [line for line in text.splitlines() if not line.startswith("#")]


def test_players_seats_runs_and_calls_are_counted(tmp_path: Path) -> None:
    metrics = ServiceWithoutServer(tmp_path)

    async def happen() -> None:
        metrics.lobby.enter(players_pb2.Hello(player="one"), "")
        for _ in range(3):
            metrics.lobby.seek(lobby_pb2.Seek(player="one"), lambda message: None)
        metrics.runs.ended[0] += 2
        metrics.runs.ended[4] += 1
        metrics.servicer.access.calls["NOT_RUNNING"] += 1

    with metrics.open():
        before = metrics.lines()
        assert "arena_players 0.0" in before and "arena_runs 0.0" in before
        asyncio.run(happen())
        after = metrics.lines()
    assert set(after) >= {
        "arena_players 1.0",
        'arena_seats{state="taken"} 1.0',
        'arena_seats{state="waiting"} 2.0',
        'arena_runs_ended_total{status="0"} 2.0',
        'arena_runs_ended_total{status="4"} 1.0',
        'arena_calls_total{result="NOT_RUNNING"} 1.0',
        "arena_watchers 0.0",
    }


def test_one_watcher_too_many_is_refused_and_comes_in_when_another_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.service.competitions._MOST_WATCHERS", 1)
    control = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    service = ServiceWithoutServer(tmp_path)

    async def watch_twice() -> None:
        server = grpc.aio.server()
        competitions_pb2_grpc.add_CompetitionServiceServicer_to_server(service.servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            await watch_at(port)
        finally:
            await server.stop(None)

    async def watch_at(port: int) -> None:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = competitions_pb2_grpc.CompetitionServiceStub(channel)
            request = competitions_pb2.WatchCompetitionRequest(name="contest")

            def watch() -> Any:
                metadata = (("authorization", f"Bearer {service.token}"),)
                return stub.WatchCompetition(request, metadata=metadata, timeout=SECONDS)

            first = watch()
            await first.read()
            with pytest.raises(grpc.aio.AioRpcError, match="1 watch already") as refused:
                await watch().read()
            assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            first.cancel()
            async with asyncio.timeout(120.0):
                while service.servicer.watchers:
                    await asyncio.sleep(0.01)
            assert (await watch().read()).competition.name == "contest"

    with CompetitionFiles(control).locked():
        asyncio.run(watch_twice())


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    metrics = ServiceWithoutServer(tmp_path)
    with metrics.open(), pytest.raises(InvalidAddressError, match="cannot be served there"):
        metrics.page(f"127.0.0.1:{metrics.port}")
