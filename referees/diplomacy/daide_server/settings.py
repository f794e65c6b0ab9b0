"""What control files and setups say of DAIDE: a player's client, and where clients dial in."""

import ipaddress
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from arena.players.player import InvalidPlayerParametersError, check_known
from arena.players.protocols import Setting

PROTOCOL: Final = "daide"
# The port of the DAIDE servers, which their clients try first.
DEFAULT_PORT: Final = 16713
MAX_LATE_TURNS: Final = 100_000


@dataclass(frozen=True)
class DaideAddress:
    """A host and a port; 0 lets the system choose one."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def read(cls, text: object) -> Self:
        """Read `host:port` (`[::1]:16713`, too). Raises ValueError."""
        host, colon, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
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


def _number(least: float, most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not math.isfinite(value)
            or not least <= value <= most
        ):
            raise ValueError(f"must be a number from {least:g} to {most:g}, not {value!r}")
        return float(value)

    return read


def _late_turns(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_LATE_TURNS:
        raise ValueError(f"must be a whole number from 1 to {MAX_LATE_TURNS}, not {value!r}")
    return value


def _client(value: object) -> str:
    """A name that a client can have: DAIDE has the characters of ASCII alone."""
    if not isinstance(value, str) or not value or not value.isascii() or not value.isprintable():
        raise ValueError(
            f"{value!r} is no name that a DAIDE client can say: give printable characters of ASCII, "
            "'*' for any name, or leave this out if it is the player's"
        )
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


# DAIDE gives times as whole numbers of seconds, of which this is the greatest.
read_move_seconds: Final = _number(1, 8191)
PLAYER_SETTINGS: Final = {
    "client": Setting("", _client),
    "reconnect_seconds": Setting(15.0, _number(0, 86_400)),
    "late_turns": Setting(3, _late_turns),
}
LISTENER_SETTINGS: Final = {
    "address": Setting(DaideAddress(), DaideAddress.read),
    "insecure": Setting(False, _flag),
}


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
        """Read a setup's parameters. Raises InvalidPlayerParametersError."""
        check_known(parameters, [field.name for field in fields(cls)], "a player that speaks DAIDE")
        read = cls(**parameters)
        for name, value in asdict(read).items():
            if name in PLAYER_SETTINGS and value != PLAYER_SETTINGS[name].default:
                try:
                    PLAYER_SETTINGS[name].read(value)
                except ValueError as error:
                    raise InvalidPlayerParametersError(f"{name}: {error}") from None
        return read

    def client_of(self, player: str) -> str:
        """The client's name; of a player that sits twice the second is called NAME#2."""
        return self.client or player.partition("#")[0]
