"""How the pages are served: the address, who may read, and the limits."""

from dataclasses import dataclass
from pathlib import Path

from academy.wire.addresses import InvalidAddressError, ServerAddress

__all__ = ["UnsafeAddressError", "WebLimits", "WebSettings"]


class UnsafeAddressError(ValueError):
    """An address that others can reach, without protection; the message says what to add."""


@dataclass(frozen=True)
class WebLimits:
    """Every bound on what a visitor sends.

    Attributes:
        address_bytes: The bytes of a page's address with its query.
        page_seconds: The seconds that a page may take.
        connections: How many visitors are served at once, besides the watchers.
        watchers: How many pages follow games in progress at once.
        idle_seconds: The seconds until a connection without a question is closed.
    """

    address_bytes: int = 8_192
    page_seconds: float = 15.0
    connections: int = 256
    watchers: int = 1_200
    idle_seconds: int = 15


@dataclass(frozen=True)
class WebSettings:
    """Where the pages are served.

    Attributes:
        address: The TCP address.
        public: Whether everybody who reaches it may read. Otherwise the address is this machine's own, and
            requests that name another host are refused.
        behind_proxy: Whether a proxy stands before it that speaks TLS.
        certificate: The PEM file of the certificate; None without TLS.
        key: The PEM file of its private key.
        limits: The bounds on what a visitor sends.

    Raises:
        UnsafeAddressError: Others can reach the address, and it is not public or nothing encrypts it.
        InvalidAddressError: A certificate without a key, or the path of a Unix socket.
    """

    address: ServerAddress
    public: bool = False
    behind_proxy: bool = False
    certificate: Path | None = None
    key: Path | None = None
    limits: WebLimits = WebLimits()

    def __post_init__(self) -> None:
        if self.address.path:
            raise InvalidAddressError(f"{self.address}: browsers need host:port")
        if (self.certificate is None) != (self.key is None):
            raise InvalidAddressError("TLS needs a certificate and its key: give both files or neither")
        if not self.address.is_local and not self.encrypted:
            raise UnsafeAddressError(
                f"{self.address}: others on the way could read and change the pages; listen on 127.0.0.1, "
                "give --tls-cert and --tls-key, or say --behind-proxy where a proxy before it speaks TLS"
            )
        if (self.behind_proxy or not self.address.is_local) and not self.public:
            raise UnsafeAddressError(
                f"{self.address}: everybody who reaches these pages reads all that ACADEMY knows; say "
                "--public if that is meant"
            )

    @property
    def encrypted(self) -> bool:
        """Whether visitors reach the pages over TLS."""
        return self.certificate is not None or self.behind_proxy
