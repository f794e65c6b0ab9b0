"""The settings of a game of WarLight, as control files give them."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Final, Self

from referees.api import InvalidSettingError
from referees.warlight.turn import UNIT, CombatRules

ROUNDINGS: Final = ("weighted_random", "straight")
MOVE_ORDERS: Final = ("random", "cyclic", "fewer_armies", "paired")
MAX_ARMIES: Final = 1000
MAX_TURNS: Final = 10_000
MAX_STARTS: Final = 100
# How long a game lasts changes no opening and no pattern; the map has its place in the name.
_UNNAMED: Final = ("map", "turn_limit")
_LONGEST_NAME: Final = 64


@dataclass(frozen=True)
class WarSettings:
    """What a game is played under; docs/reference/warlight.md says what each setting means.

    Rates and luck are numbers from 0 to 1 with at most three decimals.
    """

    map: str = "double_earth"
    fog: bool = True
    luck: float = 0.0
    rounding: str = "weighted_random"
    move_order: str = "random"
    offence: float = 0.6
    defence: float = 0.7
    starts: int = 3
    start_armies: int = 5
    neutral_armies: int = 2
    income: int = 5
    turn_limit: int = 200
    stack_armies: int = 10

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Check every setting.

        Raises InvalidSettingError, which names the setting, its value and the rule.
        """
        known = [field.name for field in fields(cls)]
        for setting in settings:
            if setting not in known:
                near = get_close_matches(setting, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
                raise InvalidSettingError(setting, f"WarLight has no such setting; {hint}")
        read: dict[str, Any] = {
            setting: _CHECKS[setting](setting, value) for setting, value in settings.items()
        }
        return cls(**read)

    def game_id(self, map_name: str) -> str:
        """The game's name at ACADEMY: the map, and the settings that change how it is best played."""
        changed = [
            f"-{field.name}.{getattr(self, field.name)}"
            for field in fields(self)
            if field.name not in _UNNAMED and getattr(self, field.name) != field.default
        ]
        name = re.sub(r"[^A-Za-z0-9._-]", "-", f"warlight-{map_name}{''.join(changed)}")
        if len(name) <= _LONGEST_NAME:
            return name
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        return f"{name[: _LONGEST_NAME - 9]}-{digest}"

    @property
    def combat(self) -> CombatRules:
        """The rules of combat."""
        return CombatRules(
            round(self.offence * UNIT),
            round(self.defence * UNIT),
            round(self.luck * UNIT),
            self.rounding == "weighted_random",
        )


def _text(setting: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidSettingError(setting, f"{value!r} is no text")
    return value


def _flag(setting: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidSettingError(setting, f"{value!r} is neither true nor false")
    return value


def _share(setting: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidSettingError(setting, f"{value!r} is not a number from 0 to 1")
    if abs(value * UNIT - round(value * UNIT)) > 1e-9:
        raise InvalidSettingError(setting, f"{value!r} has more than three decimals")
    return float(value)


class _Whole:
    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, setting: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not self._least <= value <= self._most:
            raise InvalidSettingError(
                setting, f"{value!r} is not a whole number from {self._least} to {self._most}"
            )
        return value


class _Choice:
    def __init__(self, *choices: str) -> None:
        self._choices = choices

    def __call__(self, setting: str, value: object) -> str:
        if not isinstance(value, str) or value not in self._choices:
            raise InvalidSettingError(setting, f"{value!r} is not one of {', '.join(self._choices)}")
        return value


_CHECKS: Final[dict[str, Callable[[str, object], object]]] = {
    "map": _text,
    "fog": _flag,
    "luck": _share,
    "rounding": _Choice(*ROUNDINGS),
    "move_order": _Choice(*MOVE_ORDERS),
    "offence": _share,
    "defence": _share,
    "starts": _Whole(1, MAX_STARTS),
    "start_armies": _Whole(1, MAX_ARMIES),
    "neutral_armies": _Whole(0, MAX_ARMIES),
    "income": _Whole(0, MAX_ARMIES),
    "turn_limit": _Whole(1, MAX_TURNS),
    "stack_armies": _Whole(2, MAX_ARMIES),
}
