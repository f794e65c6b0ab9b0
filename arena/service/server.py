"""The service as a whole: competitions, the lobby of their remote players, and metrics."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import structlog
from grpc import aio
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from academy.wire.addresses import ServerAddress
from academy.wire.metrics_page import MetricsPage
from academy.wire.tls import Endpoint
from arena.league.database import LeagueDatabase, open_league
from arena.league.lists import LeagueReader
from arena.league.members import Members
from arena.league.pools import Pools
from arena.league.seasons import Seasons
from arena.lobby.lobby import Lobby, LobbyLimits
from arena.lobby.server import Neighbour, open_lobby
from arena.results.database import sqlite_url
from arena.service.access import ServiceAccess
from arena.service.competitions import CompetitionServicer
from arena.service.ended_rights import end_streams_without_rights
from arena.service.folder import NAME_RULE, CompetitionFolder
from arena.service.leagues import LeagueServicer
from arena.service.member_register import MemberRegister
from arena.service.members import MemberServicer
from arena.service.pool_keeper import PoolKeeper, sole_keeper
from arena.service.pools import PoolServicer
from arena.service.runs import Runs
from arena.service.tokens import Tokens
from arena.v1 import (
    competitions_pb2,
    competitions_pb2_grpc,
    leagues_pb2,
    leagues_pb2_grpc,
    members_pb2,
    members_pb2_grpc,
    pools_pb2,
    pools_pb2_grpc,
)

COMPETITION_SERVICE: Final = competitions_pb2.DESCRIPTOR.services_by_name["CompetitionService"].full_name
MEMBER_SERVICE: Final = members_pb2.DESCRIPTOR.services_by_name["MemberService"].full_name
LEAGUE_SERVICE: Final = leagues_pb2.DESCRIPTOR.services_by_name["LeagueService"].full_name
POOL_SERVICE: Final = pools_pb2.DESCRIPTOR.services_by_name["PoolService"].full_name
_MESSAGE_BYTES: Final = 2 * 1024 * 1024
_log = structlog.get_logger()


@dataclass(frozen=True)
class ServiceSettings:
    """What to serve: the folder of control files, the file of tokens, and where to listen.

    `league` is the database of the league that players register in, as `open_league` reads it; None for a
    service without members. With `open_to_all` they need no invitation. With `allow_uploads` operators may
    send control files of their own, and so run any program as the user that runs the service. `metrics` is
    where Prometheus is served, None for nowhere.
    """

    folder: Path
    tokens: Path
    endpoint: Endpoint
    allow_uploads: bool
    metrics: ServerAddress | None
    league: str | None
    open_to_all: bool


async def serve(settings: ServiceSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, which interrupt competitions in progress: they can go on later.

    `ready` is called with the address. Raises InvalidAddressError, InvalidControlFileError, TokensError,
    ResultsError, SQLAlchemyError and OSError.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    folder = CompetitionFolder(settings.folder)
    for name in folder.left_out():
        _log.warning("control file left out", file=name, why=f"a competition's name must be {NAME_RULE}")
    with ExitStack() as stack:
        tokens, members = Tokens(settings.tokens), None
        if settings.league is not None:
            stack.enter_context(sole_keeper(settings.folder))
            league = stack.enter_context(closing(open_league(settings.league, create=True)))
            members = MemberRegister(Members(league))
        await _serve(settings, folder, ServiceAccess(tokens, members), ready, stopped)


async def _serve(
    settings: ServiceSettings,
    folder: CompetitionFolder,
    access: ServiceAccess,
    ready: Callable[[str], None],
    stopped: asyncio.Event,
) -> None:
    @asynccontextmanager
    async def competitions(server: aio.Server, lobby: Lobby, games: Path) -> AsyncIterator[None]:
        runs = Runs(games)
        servicer = CompetitionServicer(
            folder,
            runs,
            access,
            lobby,
            allow_uploads=settings.allow_uploads,
        )
        competitions_pb2_grpc.add_CompetitionServiceServicer_to_server(servicer, server)
        tasks = [asyncio.create_task(end_streams_without_rights(access, lobby))]
        if access.members is not None:
            members = MemberServicer(access, access.members, lobby, open_to_all=settings.open_to_all)
            members_pb2_grpc.add_MemberServiceServicer_to_server(members, server)
            league = access.members.members.league
            keeper = PoolKeeper(
                Pools(league), access.members, runs, folder.folder, pool_url(league), lobby.sessions
            )
            pools = PoolServicer(access, keeper, Seasons(league))
            ratings = LeagueServicer(access, LeagueReader(league))
            leagues_pb2_grpc.add_LeagueServiceServicer_to_server(ratings, server)
            pools_pb2_grpc.add_PoolServiceServicer_to_server(pools, server)
            tasks.append(asyncio.create_task(keeper.keep()))
        address, metrics = settings.metrics, ServiceMetrics(lobby, servicer, runs)
        try:
            with closing(MetricsPage(metrics.registry(), address)) if address else nullcontext():
                yield
        finally:
            for task in tasks:
                task.cancel()
            servicer.close()
            await runs.close()

    limits = LobbyLimits(message_bytes=_MESSAGE_BYTES)
    names = (
        (COMPETITION_SERVICE,)
        if access.members is None
        else (COMPETITION_SERVICE, LEAGUE_SERVICE, MEMBER_SERVICE, POOL_SERVICE)
    )
    more = Neighbour(names, competitions)
    async with open_lobby(settings.endpoint, access, _log.info, limits, more) as opened:
        ready(opened.address)
        await stopped.wait()


def pool_url(league: LeagueDatabase) -> str:
    """The league as control files of pools name it."""
    url = league.engine.url
    if url.get_backend_name() == "sqlite" and url.database:
        url = sqlite_url(Path(url.database).resolve())
    return url.render_as_string(hide_password=False)


class ServiceMetrics(Collector):
    """Looks at the service whenever Prometheus asks, in the thread that answers it."""

    def __init__(self, lobby: Lobby, servicer: CompetitionServicer, runs: Runs) -> None:
        self._lobby = lobby
        self._servicer = servicer
        self._runs = runs

    def registry(self) -> CollectorRegistry:
        """Return a registry with these metrics and those of the process."""
        registry = CollectorRegistry()
        registry.register(self)
        ProcessCollector(registry=registry)
        return registry

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        build = GaugeMetricFamily("arena_build_info", "What serves; always 1", labels=["version"])
        build.add_metric([version("academy-arena")], 1)
        yield build
        yield GaugeMetricFamily("arena_runs", "Competitions that run", value=len(self._runs))
        ended = CounterMetricFamily("arena_runs_ended", "Runs that ended, by exit status", labels=["status"])
        for status, count in list(self._runs.ended.items()):
            ended.add_metric([str(status)], count)
        yield ended
        yield GaugeMetricFamily(
            "arena_players", "Players that have dialled in", value=len(self._lobby.sessions())
        )
        seats = GaugeMetricFamily(
            "arena_seats",
            "Seats of games: taken by players that dialled in, or waiting for them",
            labels=["state"],
        )
        taken, waiting = self._lobby.seats
        seats.add_metric(["taken"], taken)
        seats.add_metric(["waiting"], waiting)
        yield seats
        yield GaugeMetricFamily(
            "arena_watchers", "Callers that follow a competition", value=self._servicer.watchers
        )
        calls = CounterMetricFamily(
            "arena_calls",
            "Calls, but those of players that dial in, by OK or the reason of the refusal",
            labels=["result"],
        )
        for result, count in list(self._servicer.access.calls.items()):
            calls.add_metric([result], count)
        yield calls
