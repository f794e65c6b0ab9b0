"""The settings of a game of WarLight, as control files give them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Final, Self

from referees.api import InvalidSettingError
from referees.settings import Check, read_choice, read_flag, read_settings, read_whole_number
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
        return cls(**read_settings("WarLight", settings, SETTINGS))

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


def _read_text(setting: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidSettingError(setting, f"{value!r} is not text")
    return value


def _read_share(setting: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise InvalidSettingError(setting, f"{value!r} is not a number from 0 to 1")
    if abs(value * UNIT - round(value * UNIT)) > 1e-9:
        raise InvalidSettingError(setting, f"{value!r} has more than three decimals")
    return float(value)


SETTINGS: Final[Mapping[str, Check]] = {
    "map": _read_text,
    "fog": read_flag,
    "luck": _read_share,
    "rounding": partial(read_choice, choices={rounding: rounding for rounding in ROUNDINGS}),
    "move_order": partial(read_choice, choices={order: order for order in MOVE_ORDERS}),
    "offence": _read_share,
    "defence": _read_share,
    "starts": partial(read_whole_number, least=1, most=MAX_STARTS),
    "start_armies": partial(read_whole_number, least=1, most=MAX_ARMIES),
    "neutral_armies": partial(read_whole_number, least=0, most=MAX_ARMIES),
    "income": partial(read_whole_number, least=0, most=MAX_ARMIES),
    "turn_limit": partial(read_whole_number, least=1, most=MAX_TURNS),
    "stack_armies": partial(read_whole_number, least=2, most=MAX_ARMIES),
}
