"""Players that are policies, in a control file: their own settings."""

from pathlib import Path
from typing import Any

from arena.control import values
from arena.control.locations import located
from arena.control.table import TomlTable
from arena.players.policy import FAULTS, MAX_LATE_TURNS


def parameters(table: TomlTable, folder: Path) -> dict[str, Any]:
    """What a policy's table says besides what all players' do. Raises ControlError."""
    interpreter = table.take("interpreter", values.text, None)
    given = {
        "interpreter": None if interpreter is None else located((interpreter,), folder)[0],
        "arguments": table.take("arguments", values.by_name(_argument), None),
        "faults": table.take("faults", values.choice(*FAULTS), None),
        "late_turns": table.take("late_turns", values.whole(1, MAX_LATE_TURNS), None),
    }
    return {name: value for name, value in given.items() if value is not None}


def _argument(value: object) -> object:
    """Anything that a TOML file and JSON both have. Raises ValueError."""
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        return [_argument(each) for each in value]
    if isinstance(value, dict):
        return {name: _argument(each) for name, each in value.items()}
    raise ValueError(f"must be a text, number, truth value, list or table, not {value!r}")
