"""Player(...) in a ringmaster's control file."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from arena.control import values
from arena.control.locations import located, path_from
from arena.control.player_table import startup_command
from arena.control.ringmaster.settings_table import arguments, or_none
from arena.jobs import PlayerSetup

# The ringmaster waits for ever; nothing here does. These are far above what its players need.
START_SECONDS: Final = 600.0
MOVE_SECONDS: Final = 3600.0
EXIT_SECONDS: Final = 60.0


def player(name: str, definition: object, folder: Path) -> PlayerSetup:
    """The player that a definition describes. Raises ControlError."""
    table = arguments(definition, "Player", f"player {name}")
    environment = table.take("environ", or_none(values.by_name(values.text)), None)
    directory = table.take("cwd", or_none(_file_name), None)
    setup = PlayerSetup(
        name,
        command=located(table.need("command", values.command), folder),
        working_directory=None if directory is None else str(path_from(folder, directory)),
        environment=environment or {},
        discard_stderr=table.take("discard_stderr", values.flag, False),
        start_seconds=START_SECONDS,
        move_seconds=MOVE_SECONDS,
        exit_seconds=EXIT_SECONDS,
        parameters={
            "startup_commands": table.take(
                "startup_gtp_commands", or_none(values.several(startup_command, 10_000)), None
            )
            or (),
            "aliases": table.take("gtp_aliases", or_none(values.by_name(values.text)), None) or {},
            "reliable_scorer": table.take("is_reliable_scorer", values.flag, True),
            "allow_claim": table.take("allow_claim", values.flag, False),
            "name_from_gtp": table.take("sgf_player_name_from_gtp", values.flag, True),
        },
    )
    table.finish()
    return setup


def players(value: object, folder: Path, problem: Callable[[str], NoReturn]) -> dict[str, PlayerSetup]:
    """All players by their codes. Raises ControlError; `problem` says what is wrong with the setting."""
    if not isinstance(value, dict):
        problem("must map codes to Players")
    found = {}
    for code, definition in value.items():
        try:
            name = values.identifier(code)
        except ValueError as error:
            problem(str(error))
        found[name] = player(name, definition, folder)
    return found


def _file_name(value: object) -> str:
    name = values.text(value)
    if not name:
        raise ValueError("is empty: it must name a folder")
    return name
