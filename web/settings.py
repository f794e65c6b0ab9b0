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
        action_seconds: The seconds that what a form asks for may take.
        download_seconds: The seconds that a backup may take to arrive.
        form_bytes: The bytes of a form.
        connections: How many visitors are served at once, besides the watchers and those who send forms.
        forms: How many forms are sent at once.
        watchers: How many pages follow games in progress, or what is learnt, at once.
        idle_seconds: The seconds until a connection without a whole head of a request is closed.
    """

    address_bytes: int = 8_192
    page_seconds: float = 15.0
    action_seconds: float = 120.0
    download_seconds: float = 3_600.0
    form_bytes: int = 262_144
    connections: int = 256
    forms: int = 64
    watchers: int = 1_200
    idle_seconds: int = 15


@dataclass(frozen=True)
class WebSettings:
    """Where the pages are served.

    Attributes:
        address: The TCP address.
        public: Whether everybody who reaches it may read. Otherwise the address is this machine's own, and
            requests that name another host are refused.
        members: Whether visitors sign in before they read anything, each with a token of their own.
        own_arena: Whether the competitions are those of a folder, for which there are no tokens.
        behind_proxy: Whether a proxy stands before it that speaks TLS.
        certificate: The PEM file of the certificate; None without TLS.
        key: The PEM file of its private key.
        limits: The bounds on what a visitor sends.

    Raises:
        UnsafeAddressError: Others can reach the address, and it is for neither everybody nor members, or
            nothing encrypts it.
        InvalidAddressError: A certificate without a key, the path of a Unix socket, or pages that are for
            everybody and for members.
    """

    address: ServerAddress
    public: bool = False
    members: bool = False
    own_arena: bool = False
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
        if self.public and self.members:
            raise InvalidAddressError("give --public or --sign-in, not both")
        if self.is_for_others and not (self.public or self.members):
            raise UnsafeAddressError(
                f"{self.address}: everybody who reaches these pages reads all that ACADEMY knows; say "
                "--public if that is meant, or --sign-in to ask each visitor for a token"
            )

    @property
    def is_for_others(self) -> bool:
        """Whether others than this machine's users may reach the pages."""
        return self.public or self.behind_proxy or not self.address.is_local

    @property
    def encrypted(self) -> bool:
        """Whether visitors reach the pages over TLS."""
        return self.certificate is not None or self.behind_proxy
