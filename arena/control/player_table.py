"""Players in a control file: [players.NAME], and a tuner's [candidate]."""

from pathlib import Path
from typing import Any, Final

from arena.control import policy_table, protocol_tables, remote_table, values
from arena.control.academy_table import ELO
from arena.control.locations import located, path_from
from arena.control.table import ControlError, TomlTable
from arena.jobs import PlayerSetup, TimeControl
from arena.players.lines import CRASHES, MAX_LATE_TURNS
from arena.players.protocols import DialInProtocol, added_protocols, dial_in_protocol

# The letters of the cross-table go from A to ZZ.
MAX_PLAYERS: Final = 702
PROTOCOLS: Final = ("gtp", "lines", "python", "policy", "grpc", *added_protocols())
_SECONDS: Final = values.number(0.001, 1e6)
_CLOCK_SECONDS: Final = values.number(0, 1e7)


def players(
    table: TomlTable, folder: Path, clock: TimeControl | None
) -> tuple[dict[str, PlayerSetup], dict[str, float], dict[str, float]]:
    """All players by name, the Elo of those whose Elo is fixed, and of those that begin with one.

    Raises ControlError.
    """
    found, fixed, begin = {}, {}, {}
    for name, definition in table.tables().items():
        try:
            values.identifier(name)
        except ValueError as error:
            table.fail(name, str(error))
        found[name] = player(name, definition, folder, clock)
        elo = definition.take("fixed_elo", ELO, None)
        if elo is not None:
            fixed[name] = elo
        elo = definition.take("elo", ELO, None)
        if elo is not None:
            if name in fixed:
                definition.fail("elo", "elo and fixed_elo exclude each other: give one of them")
            begin[name] = elo
        definition.finish()
    if len(found) > MAX_PLAYERS:
        raise ControlError(f"players: {len(found)} tables, at most {MAX_PLAYERS} are allowed")
    return found, fixed, begin


def player(name: str, table: TomlTable, folder: Path, clock: TimeControl | None) -> PlayerSetup:
    """A player; `clock` is everybody's, unless he has one of his own. Raises ControlError."""
    plain = PlayerSetup(name, ())
    protocol = table.take("protocol", values.choice(*PROTOCOLS), plain.protocol)
    if protocol == "grpc":
        return _remote_player(name, table, folder, clock)
    if (added := dial_in_protocol(protocol)) is not None:
        return _dial_in_player(name, table, added)
    working_directory = table.take("working_directory", values.text, None)
    own_clock = table.table("time_control")
    return PlayerSetup(
        name,
        command=located(table.need("command", values.command), folder),
        protocol=protocol,
        working_directory=str(folder if working_directory is None else path_from(folder, working_directory)),
        environment=table.take("environment", values.by_name(values.text), {}),
        discard_stderr=table.take("discard_stderr", values.flag, plain.discard_stderr),
        start_seconds=table.take("start_seconds", _SECONDS, plain.start_seconds),
        move_seconds=table.take("move_seconds", _SECONDS, plain.move_seconds),
        exit_seconds=table.take("exit_seconds", _SECONDS, plain.exit_seconds),
        memory_bytes=table.take("memory", values.memory_size, None),
        time_control=clock if own_clock is None else time_control(own_clock),
        restart=table.take("restart", values.flag, plain.restart),
        parameters=policy_table.parameters(table, folder) if protocol == "policy" else _parameters(table),
    )


def _remote_player(name: str, table: TomlTable, folder: Path, clock: TimeControl | None) -> PlayerSetup:
    plain = PlayerSetup(name, ())
    own_clock = table.table("time_control")
    return PlayerSetup(
        name,
        command=(),
        protocol="grpc",
        start_seconds=table.take("start_seconds", _SECONDS, plain.start_seconds),
        move_seconds=table.take("move_seconds", _SECONDS, plain.move_seconds),
        time_control=clock if own_clock is None else time_control(own_clock),
        parameters=remote_table.parameters(table, folder),
    )


def _dial_in_player(name: str, table: TomlTable, protocol: DialInProtocol) -> PlayerSetup:
    plain = PlayerSetup(name, ())
    return PlayerSetup(
        name,
        command=(),
        protocol=table.take("protocol", values.text, plain.protocol),
        start_seconds=table.take("start_seconds", _SECONDS, plain.start_seconds),
        move_seconds=table.take("move_seconds", protocol.read_move_seconds, plain.move_seconds),
        exit_seconds=table.take("exit_seconds", _SECONDS, plain.exit_seconds),
        parameters=protocol_tables.read_settings(table, protocol.player_settings),
    )


def time_control(table: TomlTable) -> TimeControl:
    """A clock. Raises ControlError."""
    plain = TimeControl()
    clock = TimeControl(
        main_seconds=table.take("main_seconds", _CLOCK_SECONDS, plain.main_seconds),
        increment_seconds=table.take("increment_seconds", _CLOCK_SECONDS, plain.increment_seconds),
        byo_yomi_seconds=table.take("byo_yomi_seconds", _CLOCK_SECONDS, plain.byo_yomi_seconds),
        byo_yomi_stones=table.take("byo_yomi_stones", values.whole(1, 10_000), plain.byo_yomi_stones),
        most_seconds=table.take("most_seconds", _CLOCK_SECONDS, None),
        margin_seconds=table.take("margin_seconds", _CLOCK_SECONDS, plain.margin_seconds),
    )
    if not clock.main_seconds and not clock.byo_yomi_seconds:
        table.fail("main_seconds", "give main_seconds or byo_yomi_seconds above 0: nobody could move at all")
    table.finish()
    return clock


def _parameters(table: TomlTable) -> dict[str, Any]:
    given = {
        "startup_commands": table.take("startup_commands", values.several(startup_command, 1000), ()),
        "aliases": table.take("aliases", values.by_name(values.text), {}),
        "reliable_scorer": table.take("reliable_scorer", values.flag, True),
        "allow_claim": table.take("allow_claim", values.flag, False),
        "name_from_gtp": table.take("name_from_gtp", values.flag, True),
        "dialogue": table.take("dialogue", values.text, ""),
        "crash": table.take("crash", values.choice(*CRASHES), "pass"),
        "late_turns": table.take("late_turns", values.whole(1, MAX_LATE_TURNS), 3),
    }
    plain = {
        "startup_commands": (),
        "aliases": {},
        "reliable_scorer": True,
        "allow_claim": False,
        "name_from_gtp": True,
        "dialogue": "",
        "crash": "pass",
        "late_turns": 3,
    }
    return {name: value for name, value in given.items() if value != plain[name]}


def startup_command(value: object) -> str:
    """A command as one text, or as a list of its words. Raises ValueError."""
    if isinstance(value, list | tuple):
        return " ".join(values.several(values.text, 100)(list(value)))
    return values.text(value)
