"""Where a server listens and a client connects: `host:port` or `unix:PATH`, with or without TLS."""

import ipaddress
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import grpc
    from grpc import aio

# A Unix socket's path must fit into sockaddr_un.
MAX_SOCKET_PATH: Final = 107
LARGEST_PORT: Final = 65_535
DEFAULT_ADDRESS: Final = "127.0.0.1:50551"


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
        if text.startswith("unix:"):
            path = text.removeprefix("unix:")
            if path.startswith("//"):
                path = path.removeprefix("//")
            if path.startswith("//"):
                path = "/" + path.lstrip("/")
            if not path or len(path.encode()) > MAX_SOCKET_PATH:
                raise InvalidAddressError(
                    f"{text!r}: a Unix socket's path has 1 to {MAX_SOCKET_PATH} bytes, this one "
                    f"{len(path.encode())}; use a shorter folder name"
                )
            return cls(path=path)
        host, colon, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        stray = "[" in host or "]" in host
        if (
            not colon
            or not host
            or stray
            or not port.isascii()
            or not port.isdigit()
            or int(port) > LARGEST_PORT
        ):
            raise InvalidAddressError(f"{text!r}: write host:port (port 0 to 65535) or unix:PATH")
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


@dataclass(frozen=True)
class Certificates:
    """PEM files of one side of a TLS connection.

    `authority` is what the other side's certificate is checked against; a server that has it asks its
    clients for certificates (mutual TLS).
    """

    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise InvalidAddressError("TLS needs a certificate and its key: give both files or neither")

    def server_credentials(self) -> "grpc.ServerCredentials | None":
        """Return a server's credentials, None without TLS. Raises InvalidAddressError."""
        if self.certificate is None or self.key is None:
            if self.authority is not None:
                raise InvalidAddressError("mutual TLS needs the server's own certificate and key too")
            return None
        import grpc

        credentials: grpc.ServerCredentials = grpc.ssl_server_credentials(
            [(_pem(self.key, "PRIVATE KEY"), _pem(self.certificate, "CERTIFICATE"))],
            root_certificates=_pem(self.authority, "CERTIFICATE") if self.authority else None,
            require_client_auth=self.authority is not None,
        )
        return credentials

    def channel_credentials(self) -> "grpc.ChannelCredentials":
        """Return a client's credentials. Raises InvalidAddressError."""
        import grpc

        credentials: grpc.ChannelCredentials = grpc.ssl_channel_credentials(
            root_certificates=_pem(self.authority, "CERTIFICATE") if self.authority else None,
            private_key=_pem(self.key, "PRIVATE KEY") if self.key else None,
            certificate_chain=_pem(self.certificate, "CERTIFICATE") if self.certificate else None,
        )
        return credentials


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, and the certificates it shows.

    Without TLS it listens to its own machine alone unless `insecure` is set: others could read tokens.
    """

    address: ServerAddress
    certificates: Certificates = field(default_factory=Certificates)
    insecure: bool = False

    def credentials(self) -> "grpc.ServerCredentials | None":
        """Return a server's credentials, None without TLS.

        Raises InvalidAddressError if the address needs TLS.
        """
        credentials = self.certificates.server_credentials()
        if credentials is None and not self.address.is_local and not self.insecure:
            raise InvalidAddressError(
                f"{self.address}: without TLS tokens could be read on the way; give a certificate and its "
                "key (--tls-cert and --tls-key), listen on 127.0.0.1 or a Unix socket, or allow --insecure"
            )
        return credentials

    def bind(self, server: "aio.Server") -> ServerAddress:
        """Bind a server; return the address with the port the system chose. Raises InvalidAddressError."""
        credentials = self.credentials()
        if self.address.path:
            _check_socket(Path(self.address.path))
        try:
            with _private_files():
                port = (
                    server.add_insecure_port(str(self.address))
                    if credentials is None
                    else server.add_secure_port(str(self.address), credentials)
                )
        except RuntimeError as error:
            raise InvalidAddressError(
                f"{self.address}: cannot listen there; another server may, or it is not this "
                "machine's address"
            ) from error
        return self.address.with_port(port)


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


def _pem(path: Path, what: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidAddressError(f"{path}: cannot be read ({error.strerror})") from error
    if f"{what}-----".encode() not in content:
        raise InvalidAddressError(f"{path}: holds no PEM block {what!r}")
    return content
