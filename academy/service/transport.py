"""How calls get in: the server's address, several listening sockets a process, and a share of connections
for each address.
"""

import asyncio
import ipaddress
import os
import resource
import socket
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import grpc
import structlog
from grpc import aio

from academy.service.addresses import InvalidAddressError, ServerAddress
from academy.service.limits import Limits

# The data, the log, the shelves being read, the threads of gRPC.
_OTHER_FILES: Final = 128


def channel_options(limits: Limits, shared_port: bool = False, listeners: int = 1) -> list[tuple[str, int]]:
    """What the transport allows: message and header sizes, streams, and pings that find dead peers.

    With `shared_port` other servers may listen on the same one, `listeners` of them in this process.
    """
    return [
        ("grpc.max_receive_message_length", limits.message_bytes),
        # A page may hold one large event; whoever reads such pages allows for it.
        ("grpc.max_send_message_length", -1),
        ("grpc.max_metadata_size", limits.metadata_bytes),
        ("grpc.max_allowed_incoming_connections", -(-_connections(limits) // listeners)),
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


def _connections(limits: Limits) -> int:
    """How many connections there may be, without taking the last of the process's files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits.connections
    return max(1, min(limits.connections, files - _OTHER_FILES))


def connections_per_address(limits: Limits) -> int:
    """How many connections one address may have: fewer where the process may have fewer in all."""
    return max(1, limits.connections_per_address * _connections(limits) // limits.connections)


def bind(
    server: aio.Server, address: ServerAddress, credentials: grpc.ServerCredentials | None
) -> ServerAddress:
    """Bind, and return the address with the port the system chose. Raises InvalidAddressError."""
    if address.path:
        _check_socket(Path(address.path))
    try:
        with _private_files():
            port = (
                server.add_insecure_port(str(address))
                if credentials is None
                else server.add_secure_port(str(address), credentials)
            )
    except RuntimeError as error:
        raise InvalidAddressError(
            f"{address}: cannot listen there; another server may, or it is not this machine's address"
        ) from error
    return address.with_port(port)


@contextmanager
def _private_files() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _check_socket(path: Path) -> None:
    """Raise InvalidAddressError where a socket cannot be made, or another process listens on it."""
    if not path.parent.is_dir():
        raise InvalidAddressError(f"unix:{path}: there is no folder {path.parent}")
    if not path.exists():
        return
    if not path.is_socket():
        raise InvalidAddressError(f"unix:{path}: there is a file of that name that is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            # Left behind by a server that was killed.
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidAddressError(f"unix:{path}: {error.strerror}") from error
        else:
            raise InvalidAddressError(f"unix:{path}: another server listens there")


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


_FILES: Final = "/dev/fd"
_SECONDS: Final = 1.0
# Whoever has one address of the sixth version has all that begin alike.
_PREFIX: Final = 64
_log = structlog.get_logger()


class Connections:
    """The connections taken in at a port, at most `each` of one address. For one thread at a time."""

    def __init__(self, port: int, each: int) -> None:
        self._port = port
        self._each = each
        # By the socket's number in the system, the longest known first; empty for what is no such connection.
        self._holders: dict[int, str] = {}
        self.count = 0

    async def keep_few(self) -> None:
        """Look every second. Never returns."""
        while True:
            await asyncio.sleep(_SECONDS)
            closed = await asyncio.to_thread(self.look)
            if closed:
                address, count = closed.most_common(1)[0]
                _log.warning(
                    "connections closed",
                    count=closed.total(),
                    addresses=len(closed),
                    most_of=address,
                    of_it=count,
                    limit=self._each,
                )

    def look(self) -> Counter[str]:
        """Close what is too much; return how many connections of which address that were."""
        files = _sockets()
        known = {number: holder for number, holder in self._holders.items() if number in files}
        for number, file in files.items():
            if number not in known:
                known[number] = self._holder(file)
        self._holders = known
        self.count = sum(map(bool, known.values()))
        held: Counter[str] = Counter()
        closed: Counter[str] = Counter()
        for number, holder in known.items():
            held[holder] += 1
            if holder and held[holder] > self._each and _ended(files[number], number):
                closed[holder] += 1
        return closed

    def _holder(self, file: int) -> str:
        """The address whose connection a file is; empty where it is none that was taken in at the port."""
        try:
            opened = socket.socket(fileno=file)
        except OSError:
            return ""
        try:
            if opened.family not in (socket.AF_INET, socket.AF_INET6):
                return ""
            return holder(opened.getpeername()[0]) if opened.getsockname()[1] == self._port else ""
        except OSError:
            # It listens, or has ended.
            return ""
        finally:
            # It stays gRPC's.
            opened.detach()


def holder(address: str) -> str:
    """Whose connections are counted together: an address, of version 6 its first 64 bits."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(found), _PREFIX), strict=False))


def _sockets() -> dict[int, int]:
    """The process's open files that are sockets, by the socket's number in the system."""
    found = {}
    with os.scandir(_FILES) as files:
        for each in files:
            # What was listed may be closed by now.
            with suppress(OSError):
                status = os.fstat(int(each.name))
                if stat.S_ISSOCK(status.st_mode):
                    found[status.st_ino] = int(each.name)
    return found


def _ended(file: int, number: int) -> bool:
    """End a connection, unless the file has become another one meanwhile."""
    try:
        with socket.socket(fileno=os.dup(file)) as own:
            if os.fstat(own.fileno()).st_ino != number:
                return False
            own.shutdown(socket.SHUT_RDWR)
            return True
    except OSError:
        return False
