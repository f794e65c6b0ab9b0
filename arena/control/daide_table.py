"""DAIDE clients, in a control file: their players' own settings, and [daide], where they dial in."""

from typing import Any

from arena.control import values
from arena.control.table import Table
from arena.lobby.addresses import InvalidAddress
from arena.players.daide.address import Address
from arena.players.daide.parameters import MAX_LATE_TURNS, DaideParameters


def parameters(table: Table) -> dict[str, Any]:
    """What a DAIDE player's table says besides what all players' do. Raises ControlError."""
    plain = DaideParameters()
    return {
        "client": table.take("client", values.text, plain.client),
        "reconnect_seconds": table.take(
            "reconnect_seconds", values.number(0, 86_400), plain.reconnect_seconds
        ),
        "late_turns": table.take("late_turns", values.whole(1, MAX_LATE_TURNS), plain.late_turns),
    }


def address(table: Table | None) -> Address:
    """Where clients dial in. Raises ControlError."""
    if table is None:
        return Address()
    said = table.take("address", values.text, str(Address()))
    table.finish()
    try:
        return Address.read(said)
    except InvalidAddress as error:
        table.fail("address", str(error))
