"""Where the arena listens: `host:port` or `unix:PATH`, with TLS or for this machine only."""

import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import grpc
    from grpc import aio

DEFAULT_ADDRESS: Final = "127.0.0.1:50561"


class InvalidAddressError(ValueError):
    """An address that cannot be listened on, or not without TLS; the message says why."""


@dataclass(frozen=True)
class Endpoint:
    """An address to listen on, with the PEM files of the server's certificate and key.

    Without TLS only addresses of this machine are allowed, unless `insecure` is set: tokens could be
    read on the way.
    """

    address: str = DEFAULT_ADDRESS
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it. Raises InvalidAddressError."""
        return _is_local(self.address)

    def check(self) -> "grpc.ServerCredentials | None":
        """What to listen with, None without TLS. Raises InvalidAddressError."""
        if (self.certificate is None) != (self.key is None):
            raise InvalidAddressError("TLS needs a certificate and its key: give both files or neither")
        if self.certificate is None or self.key is None:
            if not self.is_local and not self.insecure:
                raise InvalidAddressError(
                    f"{self.address}: other machines could connect without TLS; give a certificate and its "
                    "key, listen on 127.0.0.1 or a Unix socket, or allow insecure connections"
                )
            return None
        try:
            pair = (self.key.read_bytes(), self.certificate.read_bytes())
        except OSError as error:
            raise InvalidAddressError(f"{error.filename}: cannot be read ({error.strerror})") from error
        import grpc

        credentials: grpc.ServerCredentials = grpc.ssl_server_credentials([pair])
        return credentials

    def bind(self, server: "aio.Server") -> str:
        """Bind a server and return the address with the port the system chose. Raises InvalidAddressError."""
        credentials = self.check()
        try:
            with _private_files():
                if credentials is None:
                    port = server.add_insecure_port(self.address)
                else:
                    port = server.add_secure_port(self.address, credentials)
        except RuntimeError as error:
            raise InvalidAddressError(
                f"{self.address}: cannot listen there; another server may, or it is not this machine's"
            ) from error
        if self.address.startswith("unix:"):
            return self.address
        return f"{self.address.rpartition(':')[0]}:{port}"


def _is_local(address: str) -> bool:
    """Whether only this machine can reach an address. Raises InvalidAddressError for what is none."""
    if address.startswith("unix:"):
        return True
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise InvalidAddressError(f"{address!r}: write host:port (port 0 to 65535) or unix:PATH")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _private_files() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
