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

DEFAULT_TIMEOUT: Final = 5.0
# Where `arena run` and `arena serve` listen unless they are told otherwise.
ARENA_ADDRESS: Final = "127.0.0.1:50561"
_MAX_TOKEN: Final = 512
# Every method may be repeated: reports and proposals are idempotent, the rest only read.
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
        }
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

    `code` is the gRPC status, `reason` the server's word for it ("" where it sent none).
    """

    def __init__(self, message: str, code: str = "UNAVAILABLE", reason: str = ""):
        super().__init__(message)
        self.code = code
        self.reason = reason


class AcademyRefusedError(RuntimeError):
    """ACADEMY refused: `code` is the gRPC status, `reason` and `metadata` name the rule and its numbers.

    `retry_after` is the seconds after which it wants to be asked again, None where it did not say.
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


@dataclass(frozen=True)
class Connection:
    """Where ACADEMY is and who asks.

    `address` is `host:port` or `unix:PATH`. With `ca` (the file of a certificate authority) the
    connection is encrypted; with `certificate` and `key` as well the client shows who it is. (With
    these alone the server is checked by the authorities that gRPC brings along.) `timeout` is the
    seconds a call may take, retries included. Raises ValueError for a certificate or key alone.
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
    def from_environment(cls) -> "Connection | None":
        """What the arena tells its players; None without an address.

        ACADEMY_ADDRESS, ACADEMY_TOKEN, and for TLS the files ACADEMY_TLS_CA, ACADEMY_TLS_CERT and
        ACADEMY_TLS_KEY. Raises ValueError where one of the last two is missing.
        """
        address = os.environ.get("ACADEMY_ADDRESS")
        return cls(address).with_environment() if address else None

    def with_environment(self) -> "Connection":
        """This address with the environment's token and files for TLS. Raises ValueError as for a new one."""
        return replace(
            self,
            token=os.environ.get("ACADEMY_TOKEN", ""),
            ca=os.environ.get("ACADEMY_TLS_CA") or None,
            certificate=os.environ.get("ACADEMY_TLS_CERT") or None,
            key=os.environ.get("ACADEMY_TLS_KEY") or None,
        )

    @classmethod
    def to_arena(cls, address: str = "", *, token_file: str | Path | None = None) -> "Connection":
        """Where a bot dials in, or a service is asked, with the token that is needed there.

        What is not given comes from ARENA_ADDRESS (else 127.0.0.1:50561), ARENA_TOKEN (the token itself),
        ARENA_TOKEN_FILE (its file, such as `arena run` makes) and, for TLS, ARENA_TLS_CA. Raises OSError for
        a file that cannot be read and ValueError for one without a token.
        """
        token = "" if token_file is not None else os.environ.get("ARENA_TOKEN", "")
        file = token_file or os.environ.get("ARENA_TOKEN_FILE")
        if not token and file is not None:
            with Path(file).open(encoding="ascii", errors="replace") as kept:
                token = kept.read(_MAX_TOKEN + 2).strip()
            if not 0 < len(token) <= _MAX_TOKEN or not token.isascii():
                raise ValueError(f"{file}: holds no token")
        return cls(
            address or os.environ.get("ARENA_ADDRESS") or ARENA_ADDRESS,
            token,
            os.environ.get("ARENA_TLS_CA") or None,
        )

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What each call carries."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def channel(self) -> grpc.Channel:
        """A channel for blocking calls. Raises OSError for certificates that can't be read."""
        credentials = self._credentials()
        if credentials is None:
            return grpc.insecure_channel(self.address, options=_OPTIONS)
        return grpc.secure_channel(self.address, credentials, options=_OPTIONS)

    def asyncio_channel(self) -> grpc.aio.Channel:
        """A channel for asyncio. Raises OSError for certificates that can't be read."""
        credentials = self._credentials()
        if credentials is None:
            return grpc.aio.insecure_channel(self.address, options=_OPTIONS)
        return grpc.aio.secure_channel(self.address, credentials, options=_OPTIONS)

    def _credentials(self) -> grpc.ChannelCredentials | None:
        if self.ca is None and self.certificate is None:
            return None
        return grpc.ssl_channel_credentials(
            root_certificates=Path(self.ca).read_bytes() if self.ca else None,
            private_key=Path(self.key).read_bytes() if self.key else None,
            certificate_chain=Path(self.certificate).read_bytes() if self.certificate else None,
        )


# What grpc.aio says of a stream that was written to just as its connection broke, whatever broke it. A fault
# of the server has another text.
_BROKEN_WHILE_WRITING: Final = (grpc.StatusCode.INTERNAL, "Internal error from Core")


def explained(error: grpc.RpcError, doing: str = "") -> AcademyUnavailableError | AcademyRefusedError:
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
