"""The settings of a game of draughts, as control files give them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Final, Self

from referees.api import InvalidSettingError
from referees.draughts.variants import VARIANTS, Variant

MAX_REPETITION: Final = 100
MAX_KING_MOVES: Final = 1000


@dataclass(frozen=True)
class DraughtsSettings:
    """What a game of draughts is played under.

    `repetition` is how often a position may stand, with the same side to move, until the game is a
    draw; `king_moves` how many moves each side may make without a capture or a man's move;
    `king_endings` whether the variant's limits for a lone king apply. 0 is no such rule.
    """

    variant: Variant
    repetition: int
    king_moves: int
    king_endings: bool

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
                raise InvalidSettingError(setting, f"draughts has no such setting; {hint}")
        variant = _variant(settings.get("variant"))
        king_endings = settings.get("king_endings", True)
        if not isinstance(king_endings, bool):
            raise InvalidSettingError("king_endings", f"{king_endings!r} is neither true nor false")
        repetition = _number("repetition", settings.get("repetition", 3), MAX_REPETITION)
        if repetition == 1:
            raise InvalidSettingError(
                "repetition", "1 would end every game at once; give 2 or more, or 0 for none"
            )
        king_moves = settings.get("king_moves", variant.king_moves)
        return cls(variant, repetition, _number("king_moves", king_moves, MAX_KING_MOVES), king_endings)


def _variant(value: object) -> Variant:
    names = ", ".join(map(repr, VARIANTS))
    if value is None:
        raise InvalidSettingError("variant", f"is missing: give one of {names}")
    if not isinstance(value, str) or value not in VARIANTS:
        raise InvalidSettingError("variant", f"{value!r} is not one of {names}")
    return VARIANTS[value]


def _number(setting: str, value: object, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise InvalidSettingError(setting, f"{value!r} is not a whole number from 0 (no such rule) to {most}")
    return value
