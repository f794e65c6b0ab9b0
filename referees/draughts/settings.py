"""The settings of a game of draughts, as control files give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Self

from referees.api import InvalidSettingError, MissingSettingError
from referees.draughts.variants import VARIANTS, Variant
from referees.settings import Check, read_choice, read_flag, read_settings, read_whole_number

MAX_REPETITION: Final = 100
MAX_KING_MOVES: Final = 1000
_NUMBER: Final = partial(read_whole_number, least=0, what="a whole number (0 for no such rule)")
SETTINGS: Final[Mapping[str, Check]] = {
    "variant": partial(read_choice, choices=VARIANTS),
    "repetition": partial(_NUMBER, most=MAX_REPETITION),
    "king_moves": partial(_NUMBER, most=MAX_KING_MOVES),
    "king_endings": read_flag,
}


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
        read = read_settings("draughts", settings, SETTINGS)
        if "variant" not in read:
            names = tuple(VARIANTS)
            raise MissingSettingError("variant", names[0], f"one of {', '.join(map(repr, names))}")
        if read.get("repetition") == 1:
            raise InvalidSettingError(
                "repetition", "1 would end every game at once; give 2 or more, or 0 for none"
            )
        usual = {"repetition": 3, "king_moves": read["variant"].king_moves, "king_endings": True}
        return cls(**{**usual, **read})
