"""The game settings of a ringmaster's control file."""

from collections.abc import Mapping
from typing import Any, Final

from arena.control import values
from arena.control.game import GameSettings
from arena.control.ringmaster.settings_table import SettingsTable, or_none
from referees.api import InvalidSettingError, referee

_NUMBER: Final = values.number(-1e9, 1e9)
# The ringmaster's names of settings that the referee calls otherwise.
_NAMES: Final = {"handicap_compensation": "internal_scorer_handicap_compensation"}
_READERS: Final[Mapping[str, values.Reader[Any]]] = {
    "board_size": values.whole(2, 25),
    "komi": _NUMBER,
    "handicap": or_none(values.whole(2, 624)),
    "handicap_style": values.choice("fixed", "free"),
    "move_limit": values.whole(1, 1_000_000),
    "scorer": values.choice("players", "internal"),
    "internal_scorer_handicap_compensation": values.choice("no", "full", "short"),
}


def given(table: SettingsTable, with_handicap: bool = True) -> Mapping[str, Any]:
    """The game settings that a part of the file gives. Raises ControlError, with their path there."""
    return {
        name: table.take(name, reader, None)
        for name, reader in _READERS.items()
        if (with_handicap or not name.startswith("handicap")) and table.has(name)
    }


def game(
    file: SettingsTable,
    defaults: Mapping[str, Any],
    own: Mapping[str, Any] | None = None,
    whose: str = "",
) -> GameSettings:
    """The game of the file's settings and those that the part of it called `whose` has of its own.

    Raises ControlError, with the setting's path.
    """
    read = {**defaults, **(own or {})}
    for name in ("board_size", "komi"):
        if name not in read:
            file.need(name, _READERS[name])
    settings: dict[str, Any] = {
        "board_size": read["board_size"],
        "komi": read["komi"],
        "handicap_compensation": read.get("internal_scorer_handicap_compensation", "full"),
    }
    if read.get("handicap") is not None:
        settings |= {"handicap": read["handicap"], "handicap_style": read.get("handicap_style", "fixed")}
    try:
        referee("go").from_settings(settings)
    except InvalidSettingError as error:
        name = _NAMES.get(error.setting, error.setting)
        # What does not fit together is of the whole matchup, where that has a part in it.
        SettingsTable({}, whose if own else "").fail(name, str(error).removeprefix(f"{error.setting!r}: "))
    return GameSettings("go", settings, read.get("move_limit", 1000), read.get("scorer", "players"))
