"""The service as a whole: competitions and the lobby of their remote players, at one address."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from grpc import aio

from arena.lobby.addresses import Endpoint
from arena.lobby.limits import LobbyLimits
from arena.lobby.lobby import Lobby
from arena.lobby.serving import open_lobby
from arena.service.competitions import CompetitionServicer, ServiceLimits
from arena.service.folder import CompetitionFolder
from arena.service.metrics import ServiceMetrics, served
from arena.service.runs import Runs
from arena.service.tokens import Tokens
from arena.v1 import competitions_pb2, competitions_pb2_grpc

COMPETITION_SERVICE: Final = competitions_pb2.DESCRIPTOR.services_by_name["CompetitionService"].full_name
_MESSAGE_BYTES: Final = 2 * 1024 * 1024
_log = structlog.get_logger()


@dataclass(frozen=True)
class ServiceSettings:
    """What to serve: the folder of control files, the file of tokens, and where to listen.

    With `allow_uploads` operators may send control files of their own, and thereby run any program as the
    user that runs the service. `metrics` is where Prometheus is served (`host:port`), empty for nowhere.
    """

    folder: Path
    tokens: Path
    endpoint: Endpoint
    allow_uploads: bool = False
    metrics: str = ""


class _Competitions:
    """The competitions' part of the server."""

    name = COMPETITION_SERVICE

    def __init__(self, settings: ServiceSettings, tokens: Tokens) -> None:
        self._settings = settings
        self._tokens = tokens
        self._parts: tuple[CompetitionServicer, Runs] | None = None

    def add(self, server: aio.Server, games: Path) -> None:
        runs = Runs(games)
        servicer = CompetitionServicer(
            CompetitionFolder(self._settings.folder),
            runs,
            self._tokens,
            allow_uploads=self._settings.allow_uploads,
            limits=ServiceLimits(),
        )
        self._parts = servicer, runs
        competitions_pb2_grpc.add_CompetitionServiceServicer_to_server(servicer, server)

    def meet(self, lobby: Lobby) -> None:
        assert self._parts is not None
        self._parts[0].guests = lobby.guests

    def metrics(self, lobby: Lobby) -> ServiceMetrics:
        assert self._parts is not None
        return ServiceMetrics(lobby, *self._parts)

    async def close(self) -> None:
        assert self._parts is not None
        servicer, runs = self._parts
        servicer.close()
        await runs.close()


async def serve(settings: ServiceSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; competitions in progress are then broken off, and can go on later.

    `ready` is called with the address. Raises InvalidAddress, TokensError and OSError.
    """
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    tokens = Tokens(settings.tokens)
    limits = LobbyLimits(message_bytes=_MESSAGE_BYTES)
    more = _Competitions(settings, tokens)
    async with open_lobby(settings.endpoint, tokens, _log.info, limits, more) as opened:
        more.meet(opened.lobby)
        with served(more.metrics(opened.lobby), settings.metrics) if settings.metrics else nullcontext():
            ready(opened.address)
            await stopped.wait()
