"""The server: its parts, its start and its stop."""

import asyncio
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import grpc
import structlog
from grpc import aio
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from academy.matching.warming import begin_with_numpy
from academy.service.access import ContestAccess
from academy.service.consultation import ConsultationServicer
from academy.service.contests import ContestServicer
from academy.service.game_cache import GameCache
from academy.service.history import HistoryServicer
from academy.service.interceptor import CallInterceptor
from academy.service.libraries import LibraryServicer
from academy.service.limits import Limits
from academy.service.log_catch_up import LogCatchUp
from academy.service.metrics import Metrics
from academy.service.proposals import ProposalServicer
from academy.service.store_cache import TokenCache
from academy.service.tokens import TokenServicer
from academy.service.workers import shared_port
from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    history_pb2,
    history_pb2_grpc,
    libraries_pb2,
    libraries_pb2_grpc,
    proposals_pb2,
    proposals_pb2_grpc,
    tokens_pb2,
    tokens_pb2_grpc,
)
from academy.wire._compat import remember_makers
from academy.wire.addresses import DEFAULT_ADDRESS, ServerAddress
from academy.wire.health import HealthServicer
from academy.wire.open_files import allow_open_files
from academy.wire.tls import Certificates, Endpoint

SERVICES: Final = tuple(
    service.full_name
    for module in (consultation_pb2, proposals_pb2, contests_pb2, libraries_pb2, tokens_pb2, history_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
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

    `grace` is in seconds; with `shared_port` other processes listen there too (see `workers`). Backups that
    admins ask for go into new folders in `backups`; None: they get none. With `log` the folder's store shares
    a log; a snapshot is stored every `snapshot_every` messages (0: never), and with `cut_log` it is then cut.
    """

    address: ServerAddress = field(default_factory=lambda: ServerAddress.parse(DEFAULT_ADDRESS))
    certificates: Certificates = field(default_factory=Certificates)
    insecure: bool = False
    shared_port: bool = False
    metrics_address: ServerAddress | None = None
    grace: float = 10.0
    limits: Limits = field(default_factory=Limits)
    backups: Path | None = None
    log: LogAddress | None = None
    snapshot_every: int = 0
    cut_log: bool = False

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
        self.metrics.watch(store, self.games.sizes)
        store.give_way(self.metrics.questions.total)
        store.schedule_snapshots(settings.snapshot_every, cut=settings.cut_log)
        catch_up = None if store.follows_log is None else LogCatchUp(store).catch_up
        self._guard = CallInterceptor(TokenCache(store).caller, limits, self.metrics, catch_up)
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
            LibraryServicer(store, self.games, self._guard, settings.backups), self._server
        )
        tokens_pb2_grpc.add_TokenServiceServicer_to_server(TokenServicer(store, limits), self._server)
        history_pb2_grpc.add_HistoryServiceServicer_to_server(
            HistoryServicer(store, self.games, access, self._guard), self._server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*SERVICES, reflection.SERVICE_NAME), self._server)

    async def start(self) -> ServerAddress:
        """Load the libraries, listen, and return the address. Raises InvalidAddressError and StoreError."""
        begin_with_numpy()
        sys.setswitchinterval(_SWITCH_SECONDS)
        remember_makers(asyncio.get_running_loop())
        games = await self.games.load(_LOADING_SECONDS)
        with self._choose_port() as address:
            address = replace(self._settings.endpoint, address=address).bind(self._server)
        await self._server.start()
        self._saving = asyncio.create_task(self.games.save_for_restarts())
        self._saving.add_done_callback(_log_failure)
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


def _log_failure(saving: asyncio.Task[None]) -> None:
    if not saving.cancelled() and saving.exception() is not None:
        _log.error(
            "pattern caches are no longer saved: the next start will take longer", exc_info=saving.exception()
        )


# gRPC's server for asyncio takes in one call a turn of the event loop, so calls of one listener are never
# answered together. bench: server, CPU of a call beside one listener: 0.67 to 0.77 with 16 and 64 bots.
_LISTENERS: Final = 8
# The data, the log, the pattern caches being read, the threads of gRPC.
_OTHER_FILES: Final = 128


def channel_options(limits: Limits, shared_port: bool = False, listeners: int = 1) -> list[tuple[str, int]]:
    """Return the transport's limits: message and header sizes, streams, and pings that find dead peers.

    With `shared_port` several servers may listen on one port, `listeners` of them in this process.
    """
    return [
        ("grpc.max_receive_message_length", limits.message_bytes),
        # A page may hold one large event; clients that read such pages allow for it.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", limits.metadata_bytes),
        ("grpc.max_allowed_incoming_connections", -(-_count_connections(limits) // listeners)),
        ("grpc.max_connection_idle_ms", round(1_000 * limits.idle_stream_seconds)),
        ("grpc.max_concurrent_streams", limits.concurrent_calls_per_caller),
        ("grpc.keepalive_time_ms", round(1_000 * limits.ping_seconds)),
        ("grpc.keepalive_timeout_ms", round(1_000 * limits.pong_seconds)),
        ("grpc.http2.ping_timeout_ms", round(1_000 * limits.pong_seconds)),
        ("grpc.server_handshake_timeout_ms", round(1_000 * limits.pong_seconds)),
        # Peers vanish between calls too, and as often as they like.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        # Two servers on one port must not share its callers by chance.
        ("grpc.so_reuseport", int(shared_port)),
    ]


def _count_connections(limits: Limits) -> int:
    """Return how many connections leave the process enough open files, once it may open what it needs."""
    files = allow_open_files(limits.connections + _OTHER_FILES)
    return max(1, min(limits.connections, files - _OTHER_FILES))


def make_server(
    interceptors: Sequence[aio.ServerInterceptor], limits: Limits, *, alone: bool = False
) -> "MultiListenerServer":
    """Make a server whose port can be shared; with `alone`, for a Unix socket, it has one listener."""
    count = 1 if alone else _LISTENERS

    def make() -> aio.Server:
        # Without gRPC's own limit on calls: a refusal must say when to try again.
        return aio.server(interceptors=interceptors, options=channel_options(limits, not alone, count))

    return MultiListenerServer(count, make)


class MultiListenerServer(aio.Server):
    """Several gRPC servers that act as one. They share a port, which a Unix socket does not allow."""

    def __init__(self, count: int, make: Callable[[], aio.Server]) -> None:
        self._servers = [make() for _ in range(count)]

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Serve these methods."""
        handlers = tuple(generic_rpc_handlers)
        for server in self._servers:
            server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]
    ) -> None:
        """Leave it to the generic handlers, which have each method too.

        gRPC begins a task for each of these methods and listeners: 500 at a start, and no call is faster.
        """

    def add_insecure_port(self, address: str) -> int:
        """Listen without TLS, and return the port. Raises RuntimeError if that fails."""
        return self._add_port(address, lambda server, at: server.add_insecure_port(at))

    def add_secure_port(self, address: str, server_credentials: grpc.ServerCredentials) -> int:
        """Listen with TLS, and return the port. Raises RuntimeError if that fails."""
        return self._add_port(address, lambda server, at: server.add_secure_port(at, server_credentials))

    def _add_port(self, address: str, add: Callable[[aio.Server, str], int]) -> int:
        first, *others = self._servers
        port = add(first, address)
        host, _, _ = address.rpartition(":")
        for server in others:
            # The port of the first, which the system may have chosen.
            add(server, f"{host}:{port}")
        return port

    async def start(self) -> None:
        """Take calls."""
        for server in self._servers:
            await server.start()

    async def stop(self, grace: float | None) -> None:
        """Take no more calls, and give the running ones `grace` seconds to end."""
        await asyncio.gather(*(server.stop(grace) for server in self._servers))

    async def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until the server stops, at most `timeout` seconds; return whether it still runs."""
        waiting = (server.wait_for_termination(timeout) for server in self._servers)
        return any(await asyncio.gather(*waiting))
