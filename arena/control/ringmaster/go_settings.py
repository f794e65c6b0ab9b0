"""The game settings of a ringmaster's control file."""

from collections.abc import Mapping
from typing import Any, Final

from arena.control import values
from arena.control.game import GameSettings
from arena.control.ringmaster.settings_table import SettingsTable, or_none
from referees.api import InvalidSetting, referee

_NUMBER: Final = values.number(-1e9, 1e9)
# The ringmaster's names of settings that the referee calls otherwise.
_NAMES: Final = {"handicap_compensation": "internal_scorer_handicap_compensation"}
ALL: Final = (
    "board_size",
    "komi",
    "handicap",
    "handicap_style",
    "move_limit",
    "scorer",
    "internal_scorer_handicap_compensation",
)


def defaults(table: SettingsTable, with_handicap: bool = True) -> Mapping[str, Any]:
    """The game settings that are given, unchecked; matchups may give others."""
    names = [name for name in ALL if with_handicap or not name.startswith("handicap")]
    return {name: value for name in names if (value := table.take(name, _same, _NOTHING)) is not _NOTHING}


def game(given: Mapping[str, Any], whose: str = "") -> GameSettings:
    """The game. Raises ControlError, with the setting's path in the part of the file called `whose`."""
    table = SettingsTable(given, whose)
    settings: dict[str, Any] = {
        "board_size": table.need("board_size", values.whole(2, 25)),
        "komi": table.need("komi", _NUMBER),
        "handicap_compensation": table.take(
            "internal_scorer_handicap_compensation", values.choice("no", "full", "short"), "full"
        ),
    }
    handicap = table.take("handicap", or_none(values.whole(2, 624)), None)
    style = table.take("handicap_style", values.choice("fixed", "free"), "fixed")
    if handicap is not None:
        settings |= {"handicap": handicap, "handicap_style": style}
    limit = table.take("move_limit", values.whole(1, 1_000_000), 1000)
    scorer = table.take("scorer", values.choice("players", "internal"), "players")
    try:
        referee("go").from_settings(settings)
    except InvalidSetting as error:
        name = _NAMES.get(error.setting, error.setting)
        table.fail(name, str(error).removeprefix(f"{error.setting!r}: "))
    return GameSettings("go", settings, limit, scorer)


def _same(value: object) -> object:
    return value


_NOTHING: Final = object()
