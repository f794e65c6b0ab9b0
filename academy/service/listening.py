"""Binding a gRPC server to its address."""

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import grpc
from grpc import aio

from academy.service.addresses import Address, InvalidAddress
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


def bind(server: aio.Server, address: Address, credentials: grpc.ServerCredentials | None) -> Address:
    """Bind, and return the address with the port the system chose. Raises InvalidAddress."""
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
        raise InvalidAddress(
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
    """Raise InvalidAddress where a socket cannot be made, or another process listens on it."""
    if not path.parent.is_dir():
        raise InvalidAddress(f"unix:{path}: there is no folder {path.parent}")
    if not path.exists():
        return
    if not path.is_socket():
        raise InvalidAddress(f"unix:{path}: there is a file of that name that is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            # Left behind by a server that was killed.
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InvalidAddress(f"unix:{path}: {error.strerror}") from error
        else:
            raise InvalidAddress(f"unix:{path}: another server listens there")
