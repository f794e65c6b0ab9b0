"""What control files and setups say of DAIDE: a player's client, and where clients dial in."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from arena.players.player import check_known

PROTOCOL: Final = "daide"
# The port of the DAIDE servers, which their clients try first.
DEFAULT_PORT: Final = 16713
MAX_LATE_TURNS: Final = 100_000
MAX_NAME_CHARACTERS: Final = 64


@dataclass(frozen=True)
class DaideAddress:
    """A host and a port; 0 lets the system choose one."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `host:port` (`[::1]:16713`, too). Raises ValueError."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
            raise ValueError(f"{text!r}: write host:port, port 0 to 65535")
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


def check_client(name: str) -> str:
    """Return a name that a client can have: DAIDE has the characters of ASCII alone. Raises ValueError."""
    if not name or not name.isascii() or not name.isprintable():
        raise ValueError(
            f"{name!r} is not a name that a DAIDE client can say: give printable characters of ASCII, "
            "'*' for any name, or leave this out if it is the player's"
        )
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f"{name!r} has {len(name)} characters, {MAX_NAME_CHARACTERS} at most: shorten it")
    return name


@dataclass(frozen=True)
class DaideParameters:
    """The parameters of a player that dials in and speaks DAIDE.

    `client` is the name that its client says (NME), empty for the player's own, `*` for any name that is
    no other player's. A power whose client is disconnected for `reconnect_seconds`, or late in
    `late_turns` turns one after the other, is out of the game. `listener` is the path of the socket where
    games ask for clients.
    """

    client: str = ""
    reconnect_seconds: float = 15.0
    late_turns: int = 3
    listener: str = ""

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters, whose values `DaidePlayerTable` has checked."""
        check_known(parameters, [field.name for field in fields(cls)], "a player that speaks DAIDE")
        return cls(**parameters)

    def client_of(self, player: str) -> str:
        """The client's name; of a player that sits twice the second is called NAME#2."""
        return self.client or player.partition("#")[0]
