"""Settings of games, as control files give them: which a game has, and which values each takes."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any

from referees.api import InvalidSettingError

Check = Callable[[str, object], Any]
"""Returns a setting's value, given its name and what was written. Raises InvalidSettingError."""


def read_settings(game: str, settings: Mapping[str, object], checks: Mapping[str, Check]) -> dict[str, Any]:
    """The values of the settings that are given.

    Raises InvalidSettingError, which names the setting, its value and the rule.
    """
    for setting in settings:
        if setting not in checks:
            near = get_close_matches(setting, checks, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(checks)}"
            raise InvalidSettingError(setting, f"{game} has no such setting; {hint}")
    return {setting: checks[setting](setting, value) for setting, value in settings.items()}


def read_flag(setting: str, value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidSettingError(setting, f"{value!r} is neither true nor false")
    return value


def read_whole_number(
    setting: str, value: object, least: int, most: int, what: str = "a whole number"
) -> int:
    """A whole number within limits."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidSettingError(setting, f"{value!r} is not {what} from {least} to {most}")
    return value


def read_choice(setting: str, value: object, choices: Mapping[str, Any]) -> Any:
    """What a word of several stands for."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidSettingError(setting, f"{value!r} is not one of {', '.join(map(repr, choices))}")
    return choices[value]


def read_enum(setting: str, value: object, kind: type[Enum]) -> Any:
    """The member with that value."""
    return read_choice(setting, value, {choice.value: choice for choice in kind})
