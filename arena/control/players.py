"""Players of a control file, `[players.NAME]` and a tuner's `[candidate]`, ready to be started."""

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from arena.control.player_tables import PLAYERS, PlayerTable, ProgramTable, StartedTable
from arena.control.schema import ClockTable
from arena.control.validation import Place, choose, read
from arena.jobs import PlayerSetup, Resources, TimeControl
from arena.players.protocols import added_protocols, dial_in_protocol

_SETUP: Final = {field.name for field in fields(PlayerSetup)}
_RATING: Final = {"elo", "fixed_elo"}


def read_player(table: Any, place: Place, folder: Path) -> PlayerTable:
    """The settings of a player, by its protocol. Raises ControlError."""
    added = added_protocols()
    protocol = choose([*PLAYERS, *added], "protocol", "gtp", table, place)
    if protocol not in added:
        return read(PLAYERS[protocol], table, place, folder)
    model = dial_in_protocol(protocol).player_settings()
    assert issubclass(model, PlayerTable)
    return read(model, table, place, folder)


def setup_player(
    name: str, player: PlayerTable, folder: Path, everybodys_clock: TimeControl | None
) -> PlayerSetup:
    """A player of these settings; what `PlayerSetup` has no field for are parameters of the protocol."""
    settings: dict[str, Any] = dict(player)
    if isinstance(player, ProgramTable):
        settings["memory_bytes"] = settings.pop("memory")
    if isinstance(player, StartedTable):
        settings["working_directory"] = settings["working_directory"] or str(folder)
        needs = player.resources
        settings["resources"] = Resources(
            needs.cpus, needs.gpus, needs.memory or 0, dict(needs.custom), dict(needs.labels)
        )
    own_clock = settings.pop("time_control", None)
    added = player.protocol in added_protocols()
    if not added:
        settings["time_control"] = everybodys_clock if own_clock is None else clock(own_clock)
    parameters = {
        setting: str(value) if isinstance(value, Path) else value
        for setting, value in settings.items()
        if setting not in _SETUP | _RATING and (added or value != type(player).model_fields[setting].default)
    }
    setup = {setting: value for setting, value in settings.items() if setting in _SETUP}
    return PlayerSetup(**{"name": name, "command": (), "parameters": parameters, **setup})


def clock(table: ClockTable) -> TimeControl:
    """The clock of a table."""
    return TimeControl(**dict(table))
