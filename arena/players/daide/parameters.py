"""What the setup of a player that speaks DAIDE may say."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from arena.players.player import InvalidPlayerParametersError

PROTOCOL: Final = "daide"
MAX_LATE_TURNS: Final = 100_000


@dataclass(frozen=True)
class DaideParameters:
    """The parameters of a player that dials in and speaks DAIDE.

    `client` is the name that its client says (NME), empty for the player's own, `*` for any name that is
    no other player's. A power whose client is disconnected for `reconnect_seconds`, or late in
    `late_turns` turns one after the other, is out of the game. `door` is the socket where games ask for
    clients.
    """

    client: str = ""
    reconnect_seconds: float = 15.0
    late_turns: int = 3
    door: str = ""

    @classmethod
    def read(cls, parameters: Mapping[str, Any]) -> Self:
        """Read a setup's parameters. Raises InvalidPlayerParametersError."""
        unknown = set(parameters) - {field.name for field in fields(cls)}
        if unknown:
            raise InvalidPlayerParametersError(
                f"{sorted(unknown)[0]!r} is no parameter of a player that speaks DAIDE"
            )
        read = cls(**parameters)
        if not isinstance(read.client, str) or not isinstance(read.door, str):
            raise InvalidPlayerParametersError("client and door are texts")
        if not isinstance(read.reconnect_seconds, int | float) or not 0 <= read.reconnect_seconds <= 86_400:
            raise InvalidPlayerParametersError(
                f"reconnect_seconds: {read.reconnect_seconds!r} is not a number from 0 to 86400"
            )
        if not isinstance(read.late_turns, int) or not 1 <= read.late_turns <= MAX_LATE_TURNS:
            raise InvalidPlayerParametersError(
                f"late_turns: {read.late_turns!r} is not a whole number from 1 to {MAX_LATE_TURNS}"
            )
        return read

    def client_of(self, player: str) -> str:
        """The client's name; of a player that sits twice the second is called NAME#2."""
        return self.client or player.partition("#")[0]
