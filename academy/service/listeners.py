"""One server that takes calls in through several listeners on its port.

A gRPC server for asyncio takes in one call a turn of the event loop. Calls that come at the same time are
then answered one by one, each from its beginning to its end, and all code is cold for each of them. Several
servers of one event loop that share a port (SO_REUSEPORT) take in as many; each has some of the connections.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import grpc
from grpc import aio

from academy.service.limits import Limits
from academy.service.listening import channel_options

# How many calls are taken in at once.
_COUNT: Final = 8


def listeners(
    interceptors: Sequence[aio.ServerInterceptor], limits: Limits, *, alone: bool = False
) -> "Listeners":
    """Make a server whose port can be shared; with `alone`, for a Unix socket, it has one listener."""

    count = 1 if alone else _COUNT

    def make() -> aio.Server:
        # With no limit of gRPC's own on calls: who is refused is to be told when to come again.
        return aio.server(interceptors=interceptors, options=channel_options(limits, not alone, count))

    return Listeners(count, make)


class Listeners(aio.Server):
    """So many servers as one. Several need a port that can be shared, which a Unix socket cannot."""

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
        """Listen without TLS, and return the port. Raises RuntimeError where that cannot be done."""
        return self._add_port(address, lambda server, at: server.add_insecure_port(at))

    def add_secure_port(self, address: str, server_credentials: grpc.ServerCredentials) -> int:
        """Listen with TLS, and return the port. Raises RuntimeError where that cannot be done."""
        return self._add_port(address, lambda server, at: server.add_secure_port(at, server_credentials))

    def _add_port(self, address: str, add: Callable[[aio.Server, str], int]) -> int:
        first, *others = self._servers
        port = add(first, address)
        host, _, _ = address.rpartition(":")
        for server in others:
            # The system chose the port for the first, if it was to.
            add(server, f"{host}:{port}")
        return port

    async def start(self) -> None:
        """Take calls."""
        for server in self._servers:
            await server.start()

    async def stop(self, grace: float | None) -> None:
        """Take no more calls, and let the running ones end within so many seconds."""
        await asyncio.gather(*(server.stop(grace) for server in self._servers))

    async def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Wait until it was stopped, for so many seconds at most; return whether it was not."""
        waiting = (server.wait_for_termination(timeout) for server in self._servers)
        return any(await asyncio.gather(*waiting))
