"""How calls get in: gRPC's settings for connections, and several listening sockets a process."""

import asyncio
import resource
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import grpc
from grpc import aio

from academy.service.limits import Limits

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
    """Return how many connections leave the process enough open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits.connections
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
        """Serve the methods of a service."""
        for server in self._servers:
            server.add_registered_method_handlers(service_name, method_handlers)

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
