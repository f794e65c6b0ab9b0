"""DAIDE clients, in a control file: their players' own settings, and [daide], where they dial in."""

from typing import Any, Final

from academy.wire.addresses import InvalidAddressError
from arena.control import values
from arena.control.table import TomlTable
from arena.players.daide.address import DaideAddress
from arena.players.daide.parameters import MAX_LATE_TURNS, DaideParameters


def parameters(table: TomlTable) -> dict[str, Any]:
    """What a DAIDE player's table says besides what all players' do. Raises ControlError."""
    plain = DaideParameters()
    return {
        "client": table.take("client", _client, plain.client),
        "reconnect_seconds": table.take(
            "reconnect_seconds", values.number(0, 86_400), plain.reconnect_seconds
        ),
        "late_turns": table.take("late_turns", values.whole(1, MAX_LATE_TURNS), plain.late_turns),
    }


# DAIDE tells times as whole numbers of seconds, of which this is the greatest.
MOVE_SECONDS: Final = values.number(1, 8191)


def _client(value: object) -> str:
    """What a client can call itself: DAIDE has the characters of ASCII alone."""
    name = values.text(value)
    if not name or not name.isascii() or not name.isprintable():
        raise ValueError(
            f"{name!r} is no name that a DAIDE client can say: give printable characters of ASCII, "
            "'*' for any name, or leave this out if it is the player's"
        )
    return name


def address(table: TomlTable | None) -> DaideAddress:
    """Where clients dial in. Raises ControlError."""
    if table is None:
        return DaideAddress()
    text = table.take("address", values.text, str(DaideAddress()))
    insecure = table.take("insecure", values.flag, False)
    table.finish()
    try:
        read = DaideAddress.read(text)
    except InvalidAddressError as error:
        table.fail("address", str(error))
    if not read.is_local and not insecure:
        table.fail(
            "address",
            f"{read}: other machines could connect, and DAIDE has neither passwords nor encryption; listen "
            "on 127.0.0.1, or let whoever reaches it play by insecure = true",
        )
    return read
