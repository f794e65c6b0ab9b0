"""How bots and the arena reach ACADEMY: address, token, TLS, deadlines and retries."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

import grpc
import grpc.aio
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from academy.wire.tokens import check_token, read_token_file

DEFAULT_TIMEOUT: Final = 5.0
# Where `arena run` and `arena serve` listen by default.
ARENA_ADDRESS: Final = "127.0.0.1:50561"
# These make something new each time. A repeated call would leave two behind where an answer was lost, or come
# with the token that the first call ended.
_ONCE: Final = {
    "academy.v1.LibraryService": ("CreateBackup",),
    "academy.v1.TokenService": ("CreateToken",),
    "arena.v1.CompetitionService": ("CreateToken",),
    "arena.v1.MemberService": ("CreateInvitation", "RotateToken"),
}
# Other methods may be repeated: they only read, or the same again changes nothing.
_RETRIES: Final = {
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        },
        # A method's own entry counts instead of the one for all.
        {
            "name": [
                {"service": service, "method": method}
                for service, methods in _ONCE.items()
                for method in methods
            ]
        },
    ]
}
_OPTIONS: Final[list[tuple[str, Any]]] = [
    ("grpc.enable_retries", 1),
    ("grpc.service_config", json.dumps(_RETRIES)),
    ("grpc.keepalive_time_ms", 300_000),
    # gRPC's own pause between connections would grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5000),
]


class AcademyUnavailableError(ConnectionError):
    """ACADEMY did not answer in time, or not at all.

    Args:
        message: what failed.
        code: the gRPC status.
        reason: the server's word for it; "" where it sent none.
    """

    def __init__(self, message: str, code: str = "UNAVAILABLE", reason: str = ""):
        super().__init__(message)
        self.code = code
        self.reason = reason


class AcademyRefusedError(RuntimeError):
    """ACADEMY refused a call.

    Args:
        code: the gRPC status.
        message: why, for people.
        reason: the rule, such as RATE_EXCEEDED.
        metadata: the rule's numbers by name.
        retry_after: the seconds after which to ask again; None where the server named none.
    """

    def __init__(
        self,
        code: str,
        message: str,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ):
        super().__init__(f"{message} [{reason or code}]")
        self.code = code
        self.reason = reason
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after


def _token_in(variables: Mapping[str, str], name: str) -> str:
    """The token in a variable, "" for none. Raises ValueError."""
    text = variables.get(name, "")
    return check_token(text, name) if text else ""


@dataclass(frozen=True)
class Connection:
    """Where ACADEMY or an arena is, and who asks.

    Args:
        address: `host:port` or `unix:PATH`.
        token: the bearer token or ticket; "" for none.
        ca: the file of the certificate authority that signed the server's certificate; the connection is
            then encrypted.
        certificate: the file of the client's own certificate. Without `ca` gRPC's own authorities check the
            server.
        key: the file of the certificate's private key.
        timeout: the seconds that a call may take, retries included.

    Raises:
        ValueError: a certificate without a key, or a key without a certificate.
    """

    address: str
    token: str = field(default="", repr=False)
    ca: str | Path | None = None
    certificate: str | Path | None = None
    key: str | Path | None = None
    timeout: float = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            given = self.certificate or self.key
            raise ValueError(f"a client's certificate and its key go together, but only {given} is given")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Connection | None":
        """Read the address of ACADEMY that the arena gives its players.

        Args:
            environment: variables by name; None for those of this process. ACADEMY_ADDRESS, ACADEMY_TOKEN and
                for TLS the files ACADEMY_TLS_CA, ACADEMY_TLS_CERT and ACADEMY_TLS_KEY are read.

        Returns:
            The connection; None without an address.

        Raises:
            ValueError: one of ACADEMY_TLS_CERT and ACADEMY_TLS_KEY is missing, or ACADEMY_TOKEN holds no
                token.
        """
        variables = os.environ if environment is None else environment
        address = variables.get("ACADEMY_ADDRESS")
        return cls(address).with_environment(variables) if address else None

    def with_environment(self, environment: Mapping[str, str] | None = None) -> "Connection":
        """Return this address with the environment's token and files for TLS.

        Args:
            environment: as for `from_environment`.

        Raises:
            ValueError: as for `from_environment`.
        """
        variables = os.environ if environment is None else environment
        return replace(
            self,
            token=_token_in(variables, "ACADEMY_TOKEN"),
            ca=variables.get("ACADEMY_TLS_CA") or None,
            certificate=variables.get("ACADEMY_TLS_CERT") or None,
            key=variables.get("ACADEMY_TLS_KEY") or None,
        )

    @classmethod
    def to_arena(cls, address: str = "", *, token_file: str | Path | None = None) -> "Connection":
        """Return where a bot dials in, or a service is asked, with the token for it.

        Args:
            address: `host:port` or `unix:PATH`; "" for ARENA_ADDRESS, else 127.0.0.1:50561.
            token_file: the file of the token, such as `arena run` makes; None for ARENA_TOKEN (the token
                itself) or ARENA_TOKEN_FILE. ARENA_TLS_CA is the file of the authority for TLS.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file or variable holds no token.
        """
        token = "" if token_file is not None else _token_in(os.environ, "ARENA_TOKEN")
        file = token_file or os.environ.get("ARENA_TOKEN_FILE")
        if not token and file is not None:
            token = read_token_file(Path(file))
        return cls(
            address or os.environ.get("ARENA_ADDRESS") or ARENA_ADDRESS,
            token,
            os.environ.get("ARENA_TLS_CA") or None,
        )

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of each call: the token."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def channel(self) -> grpc.Channel:
        """Return a new channel for blocking calls.

        Returns:
            The channel, which the caller closes.

        Raises:
            OSError: a certificate cannot be read.
        """
        channel: grpc.Channel = self._open(grpc)
        return channel

    def asyncio_channel(self) -> grpc.aio.Channel:
        """Return a new channel for asyncio.

        Returns:
            The channel, which the caller closes.

        Raises:
            OSError: a certificate cannot be read.
        """
        channel: grpc.aio.Channel = self._open(grpc.aio)
        return channel

    def _open(self, library: Any) -> Any:
        if self.ca is None and self.certificate is None:
            return library.insecure_channel(self.address, options=_OPTIONS)
        ca, key, certificate = (
            Path(file).read_bytes() if file else None for file in (self.ca, self.key, self.certificate)
        )
        credentials = grpc.ssl_channel_credentials(ca, key, certificate)
        return library.secure_channel(self.address, credentials, options=_OPTIONS)


# What grpc.aio says of a stream that was written to just as its connection broke, for any reason. A fault
# of the server has another text.
_BROKEN_WHILE_WRITING: Final = (grpc.StatusCode.INTERNAL, "Internal error from Core")


def to_client_error(error: grpc.RpcError, doing: str = "") -> AcademyUnavailableError | AcademyRefusedError:
    """Turn a failed call into one of our two errors, whose message begins with what was being done."""
    code, message = error.code(), error.details() or ""
    if (code, message) == _BROKEN_WHILE_WRITING:
        code, message = grpc.StatusCode.UNAVAILABLE, "the connection broke"
    if doing:
        message = f"{doing}: {message}"
    # A failed call is a grpc.Call as well, blocking or not; the stubs don't say so.
    status = rpc_status.from_call(cast(grpc.Call, error))
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    retry_after = None
    for detail in status.details if status else ():
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToMicroseconds() / 1e6
        else:
            detail.Unpack(info)
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED):
        return AcademyUnavailableError(f"{message} [{info.reason or code.name}]", code.name, info.reason)
    return AcademyRefusedError(code.name, message, info.reason, info.metadata, retry_after)
