"""TLS: the certificates that a server or a client shows, and when a server may do without."""

import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from academy.wire.addresses import InvalidAddressError, ServerAddress, bind

if TYPE_CHECKING:
    import grpc
    from grpc import aio


# OpenSSL's number.
_CERTIFICATE_HAS_EXPIRED: Final = 10


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
            [(read_pem(self.key, "PRIVATE KEY"), read_pem(self.certificate, "CERTIFICATE"))],
            root_certificates=read_pem(self.authority, "CERTIFICATE") if self.authority else None,
            require_client_auth=self.authority is not None,
        )
        self._check()
        if _has_ended(self.certificate, self.key):
            raise InvalidAddressError(f"{self.certificate}: the certificate has ended; renew it")
        return credentials

    def channel_credentials(self) -> "grpc.ChannelCredentials":
        """Return a client's credentials. Raises InvalidAddressError."""
        import grpc

        credentials: grpc.ChannelCredentials = grpc.ssl_channel_credentials(
            root_certificates=read_pem(self.authority, "CERTIFICATE") if self.authority else None,
            private_key=read_pem(self.key, "PRIVATE KEY") if self.key else None,
            certificate_chain=read_pem(self.certificate, "CERTIFICATE") if self.certificate else None,
        )
        self._check()
        return credentials

    def _check(self) -> None:
        """Raise InvalidAddressError for files that TLS cannot use: gRPC does not say what is wrong."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # What is too weak is for gRPC to say, which has a TLS library of its own.
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        try:
            if self.authority is not None:
                context.load_verify_locations(self.authority)
        except ssl.SSLError as error:
            raise InvalidAddressError(
                f"{self.authority}: no certificate of an authority ({error.reason or 'unreadable'}); "
                "give one in PEM"
            ) from error
        try:
            if self.certificate is not None:
                # Without a password OpenSSL would prompt for one.
                context.load_cert_chain(self.certificate, self.key, password="")
        except ssl.SSLError as error:
            raise InvalidAddressError(
                f"{self.certificate} and {self.key}: no certificate with its key "
                f"({error.reason or 'unreadable'}); give both in PEM, the key without a password"
            ) from error


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, and the certificates it shows.

    Without TLS it listens only to its own machine unless `insecure` is set: others could read tokens.
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
        return bind(server, self.address, self.credentials())


def _has_ended(certificate: Path, key: Path) -> bool:
    """Whether a certificate's time is over, of which `ssl` speaks in a handshake alone."""
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (server, client):
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
    server.load_cert_chain(certificate, key, password="")
    client.load_verify_locations(certificate)
    # The certificate is its own authority here.
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.check_hostname = False
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server)
    try:
        for side in (asking, server.wrap_bio(to_server, to_client, server_side=True), asking):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return error.verify_code == _CERTIFICATE_HAS_EXPIRED
    except ssl.SSLError:
        # Whatever else is wrong with it, those who connect say.
        return False
    return False


def read_pem(path: Path, what: str) -> bytes:
    """Return a file's content, which has a PEM block of some kind. Raises InvalidAddressError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidAddressError(f"{path}: cannot be read ({error.strerror})") from error
    if f"{what}-----".encode() not in content:
        raise InvalidAddressError(f"{path}: holds no PEM block {what!r}")
    return content
