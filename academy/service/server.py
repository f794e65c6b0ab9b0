"""The server: its parts, its start and its stop."""

import asyncio
import math
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from academy.matching.warming import warm_up_in_background
from academy.service.admin import LibraryServicer
from academy.service.consultation import ConsultationServicer
from academy.service.contest_access import ContestAccess, TokenCache
from academy.service.contests import ContestServicer
from academy.service.game_cache import GameCache
from academy.service.interceptor import CallInterceptor
from academy.service.limits import Limits
from academy.service.metrics import Metrics
from academy.service.proposals import ProposalServicer
from academy.service.transport import make_server
from academy.service.workers import shared_port
from academy.store.library_store import Store
from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    libraries_pb2,
    libraries_pb2_grpc,
    proposals_pb2,
    proposals_pb2_grpc,
)
from academy.wire._compat import remember_makers
from academy.wire.addresses import DEFAULT_ADDRESS, Certificates, Endpoint, ServerAddress
from academy.wire.health import HealthServicer

SERVICES: Final = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in (
        (consultation_pb2, "ConsultationService"),
        (proposals_pb2, "ProposalService"),
        (contests_pb2, "ContestService"),
        (libraries_pb2, "LibraryService"),
    )
)
# The longest delay of a start; the other games are loaded on first use.
_LOADING_SECONDS: Final = 1.0
# How long a stop may save pattern caches for the next start.
_SAVING_SECONDS: Final = 2.0
# How long a stop waits for the statuses of the streams that it ends.
_DRAINING_SECONDS: Final = 1.0
# The writer learns in its own thread. After the kernel, which runs without the interpreter's lock, a query
# would otherwise wait 5 ms for it.
_SWITCH_SECONDS: Final = 0.0002
_log = structlog.get_logger()


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server.

    `grace` is in seconds; with `shared_port` other processes listen there too (see `workers`).
    """

    address: ServerAddress = field(default_factory=lambda: ServerAddress.parse(DEFAULT_ADDRESS))
    certificates: Certificates = field(default_factory=Certificates)
    insecure: bool = False
    shared_port: bool = False
    metrics_address: ServerAddress | None = None
    grace: float = 10.0
    limits: Limits = field(default_factory=Limits)

    @property
    def endpoint(self) -> Endpoint:
        """The address and the certificates."""
        return Endpoint(self.address, self.certificates, self.insecure)


class AcademyServer:
    """A gRPC server over a store, which the caller closes. Use it within one event loop."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        """Assemble the services. Raises InvalidAddressError for an address that needs TLS."""
        self._settings = settings
        limits = settings.limits
        # Wrong settings are refused first.
        settings.endpoint.credentials()
        self.metrics = Metrics()
        self.games = GameCache(store)
        self.metrics.watch(lambda: store.waiting_writes, self.games.sizes)
        self.metrics.watch_store(store)
        store.give_way(self.metrics.questions.total)
        self._guard = CallInterceptor(TokenCache(store).caller, limits, self.metrics)
        self._health = HealthServicer(SERVICES, limits.health_watch_seconds)
        self._saving: asyncio.Task[None] | None = None
        self._ends = math.inf
        self._server = make_server([self._guard], limits, alone=bool(settings.address.path))
        access = ContestAccess(store, limits)
        consultation_pb2_grpc.add_ConsultationServiceServicer_to_server(
            ConsultationServicer(store, self.games, access, self._guard), self._server
        )
        proposals_pb2_grpc.add_ProposalServiceServicer_to_server(
            ProposalServicer(store, self.games, access, self._guard), self._server
        )
        contests_pb2_grpc.add_ContestServiceServicer_to_server(
            ContestServicer(store, access, limits), self._server
        )
        libraries_pb2_grpc.add_LibraryServiceServicer_to_server(
            LibraryServicer(store, self.games, limits), self._server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*SERVICES, reflection.SERVICE_NAME), self._server)

    async def start(self) -> ServerAddress:
        """Load the libraries, listen, and return the address. Raises InvalidAddressError and StoreError."""
        warm_up_in_background()
        sys.setswitchinterval(_SWITCH_SECONDS)
        remember_makers(asyncio.get_running_loop())
        games = await self.games.load(_LOADING_SECONDS)
        with self._choose_port() as address:
            address = replace(self._settings.endpoint, address=address).bind(self._server)
        await self._server.start()
        self._saving = asyncio.create_task(self.games.save_for_restarts())
        self._saving.add_done_callback(
            partial(_log_failure, "pattern caches are no longer saved: the next start will take longer")
        )
        _log.info("serving", address=str(address), games=games)
        return address

    def _choose_port(self) -> AbstractContextManager[ServerAddress]:
        """Return the address to listen on; a port that is not shared must be free."""
        address = self._settings.address
        return nullcontext(address) if self._settings.shared_port or address.path else shared_port(address)

    async def stop(self, grace: float | None = None) -> None:
        """Take no more calls, give the running ones `grace` seconds (None: by the settings), and end."""
        self._ends = time.monotonic() + (self._settings.grace if grace is None else grace)
        self._health.stop()
        # First: a status that is sent while gRPC's server stops can be lost.
        await self._guard.drain(min(_DRAINING_SECONDS, self._seconds_left))
        # Saved pattern caches are worth more than the end of calls that do not finish.
        await self._server.stop(max(self._seconds_left / 2, self._seconds_left - _SAVING_SECONDS))
        if self._saving is not None:
            self._saving.cancel()
        await self.games.close(min(_SAVING_SECONDS, self._seconds_left))
        path = self._settings.address.path
        if path:
            Path(path).unlink(missing_ok=True)

    async def hurry(self) -> None:
        """Let the running `stop` wait for no more calls."""
        self._ends = time.monotonic()
        await self._server.stop(0.0)

    @property
    def _seconds_left(self) -> float:
        return max(0.0, self._ends - time.monotonic())


def _log_failure(what: str, task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error(what, exc_info=task.exception())
