"""What control files say of DAIDE: `[players.NAME]` of protocol `"daide"`, and `[daide]`."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from arena.control.player_tables import PlayerTable
from arena.control.table import Table
from arena.control.validation import SettingError
from arena.control.values import Seconds, Text
from referees.diplomacy.daide_server.settings import (
    MAX_LATE_TURNS,
    DaideAddress,
    DaideParameters,
    check_client,
)


class DaideTable(Table):
    """Where players of protocol `"daide"` dial in."""

    address: Text = str(DaideAddress())
    """`host:port`."""
    insecure: bool = False
    """Allow addresses that other machines reach: DAIDE has neither passwords nor encryption."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            address = DaideAddress.read(self.address)
        except ValueError as error:
            raise SettingError("address", str(error)) from None
        if not address.is_local and not self.insecure:
            raise SettingError(
                "address",
                f"{address}: other machines could connect, and DAIDE has neither passwords nor encryption; "
                "listen on 127.0.0.1, or let everybody play who reaches it by insecure = true",
            )
        return self


class DaidePlayerTable(PlayerTable):
    """Players of protocol `"daide"`, which dial in."""

    # DAIDE sends times as whole seconds of at most 8191.
    move_seconds: float = Field(60.0, ge=1, le=8191)
    """How long it may take for each turn."""
    exit_seconds: Seconds = 5.0
    """How long it may take to end."""
    client: Annotated[Text, AfterValidator(check_client)] = DaideParameters.client
    """What its client calls itself, `*` for any name; without it the player's name."""
    reconnect_seconds: float = Field(DaideParameters.reconnect_seconds, ge=0, le=86_400)
    """How long its client may be away."""
    late_turns: int = Field(DaideParameters.late_turns, ge=1, le=MAX_LATE_TURNS)
    """After this number of late turns in a row it is out of the game."""
