"""Where DAIDE clients dial in."""

import ipaddress
from dataclasses import dataclass
from typing import Final, Self

from academy.wire.addresses import InvalidAddressError

# The port of the DAIDE servers, which their clients try first.
DEFAULT_PORT: Final = 16713


@dataclass(frozen=True)
class DaideAddress:
    """A host and a port; 0 lets the system choose one."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `host:port` (`[::1]:16713`, too). Raises InvalidAddressError."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
            raise InvalidAddressError(f"{text!r}: write host:port, port 0 to 65535")
        return cls(host, int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
