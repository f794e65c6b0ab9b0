"""Where a server listens and a client connects: `host:port` or `unix:PATH`."""

import ipaddress
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import grpc
    from grpc import aio

# A Unix socket's path must fit into sockaddr_un.
MAX_SOCKET_PATH: Final = 107
LARGEST_PORT: Final = 65_535
DEFAULT_ADDRESS: Final = "127.0.0.1:50551"
_HOST: Final = re.compile(r"[^][/\s]+")
_PORT: Final = re.compile(r"[0-9]{1,5}")
_NOT_IN_ADDRESSES: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
# Letters of a wrong address that its refusal repeats.
_SHOWN: Final = 200


class InvalidAddressError(ValueError):
    """An address that cannot be listened on or connected to; the message says why."""


@dataclass(frozen=True)
class ServerAddress:
    """A TCP host and port, or the path of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> "ServerAddress":
        """Read `host:port`, `[::1]:port` or `unix:PATH`. Raises InvalidAddressError."""
        shown = repr(text[:_SHOWN])
        if _NOT_IN_ADDRESSES.search(text):
            raise InvalidAddressError(
                f"{shown}: an address has no control characters and is of UTF-8; use other names"
            )
        if text.startswith("unix:"):
            path = text.removeprefix("unix:").removeprefix("//")
            if path.startswith("//"):
                path = "/" + path.lstrip("/")
            if not path or len(path.encode()) > MAX_SOCKET_PATH:
                raise InvalidAddressError(
                    f"{shown}: a Unix socket's path has 1 to {MAX_SOCKET_PATH} bytes, this one "
                    f"{len(path.encode())}; use a shorter folder name"
                )
            return cls(path=path)
        host, _, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        if not _HOST.fullmatch(host) or not _PORT.fullmatch(port) or int(port) > LARGEST_PORT:
            raise InvalidAddressError(f"{shown}: write host:port (port 0 to 65535) or unix:PATH")
        return cls(host=host, port=int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.path or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def with_port(self, port: int) -> "ServerAddress":
        """The same address with the port that the system chose."""
        return self if self.path else ServerAddress(host=self.host, port=port)

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def bind(
    server: "aio.Server", address: ServerAddress, credentials: "grpc.ServerCredentials | None"
) -> ServerAddress:
    """Bind a server; return the address with the port the system chose. Raises InvalidAddressError."""
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
    """Raise InvalidAddressError if a socket cannot be made, or if another process listens on it."""
    if not path.parent.is_dir():
        raise InvalidAddressError(f"unix:{path}: there is no folder {path.parent}")
    if not path.exists():
        return
    if not path.is_socket():
        raise InvalidAddressError(f"unix:{path}: there is a file of that name that is not a socket")
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
