"""Where a shared log is: `nats://HOST[:PORT][,HOST[:PORT]...][/STREAM]`."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from academy.wire.addresses import InvalidAddressError

DEFAULT_STREAM: Final = "academy"
# More copies than this make writes slower, and outlast no fault that operators plan for.
MOST_REPLICAS: Final = 5
_USUAL_REPLICAS: Final = 3
_MOST_SERVERS: Final = 16
_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# These end or begin other parts of a URL, and what is encoded with % is not decoded.
_NOT_IN_CREDENTIALS: Final = "/@#?[]"
_RULE: Final = "write nats://HOST[:PORT][,HOST[:PORT]...][/STREAM], or tls:// for encrypted connections"


@dataclass(frozen=True, slots=True)
class LogAddress:
    """The servers of NATS, as URLs with the credentials if there are any, and the stream's name."""

    servers: tuple[str, ...]
    stream: str = DEFAULT_STREAM
    replicas: int = 0

    @classmethod
    def parse(cls, text: str, replicas: int = 0) -> "LogAddress":
        """Read an address. Raises InvalidAddressError.

        A stream that is made gets as many `replicas`; 0: one for each server that is named, at most 3.
        """
        scheme, separator, rest = text.partition("://")
        if scheme not in ("nats", "tls") or not separator:
            raise InvalidAddressError(f"{_hidden(text)!r}: {_RULE}")
        credentials, at, places = rest.rpartition("@")
        if set(credentials) & set(_NOT_IN_CREDENTIALS):
            raise InvalidAddressError(
                f"a user and a password for NATS have none of {' '.join(_NOT_IN_CREDENTIALS)}: choose others"
            )
        hosts, _, stream = places.partition("/")
        servers = tuple(f"{scheme}://{credentials}{at}{host}" for host in hosts.split(","))
        if len(servers) > _MOST_SERVERS:
            raise InvalidAddressError(f"{len(servers)} servers: at most {_MOST_SERVERS}; name some of them")
        for server in servers:
            _check_server(server)
        if stream and not _STREAM.fullmatch(stream):
            raise InvalidAddressError(
                f"{stream[:80]!r}: a stream's name has 1 to 64 letters, digits, hyphens and underscores"
            )
        return cls(servers, stream or DEFAULT_STREAM, replicas or min(_USUAL_REPLICAS, len(servers)))

    @property
    def encrypted(self) -> bool:
        """Whether only encrypted connections will do."""
        return self.servers[0].startswith("tls://")

    @property
    def subject(self) -> str:
        """The one subject of the stream."""
        return f"{self.stream}.log"

    @property
    def pass_subject(self) -> str:
        """The subject, outside of the stream, by which servers let each other go first."""
        return f"{self.stream}.pass"

    @property
    def text(self) -> str:
        """The address as it can be read again, with credentials."""
        first, *others = self.servers
        return ",".join([first, *(_host(server) for server in others)]) + f"/{self.stream}"

    def __str__(self) -> str:
        """The address without credentials."""
        scheme = self.servers[0].partition("://")[0]
        return f"{scheme}://{','.join(map(_host, self.servers))}/{self.stream}"


def _check_server(server: str) -> None:
    try:
        parts: SplitResult = urlsplit(server)
        wrong = not parts.hostname or parts.port == 0 or parts.query or parts.fragment
    except ValueError:
        wrong = True
    if wrong:
        raise InvalidAddressError(f"{_hidden(server)!r}: {_RULE}")


def _host(server: str) -> str:
    return server.partition("://")[2].rpartition("@")[2]


def _hidden(text: str) -> str:
    """Leave out what may be a password."""
    return re.sub(r"//.*@", "//", text)[:200]
