"""The settings of a game of Go, and where handicap stones stand that no player places.

The points are those of the Go Text Protocol, version 2, section 4.1.1.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Final, Self

from referees.api import InvalidSettingError, MissingSettingError
from referees.go.board import MAX_SIZE, MIN_SIZE
from referees.settings import Check, read_enum, read_flag, read_settings, read_whole_number

MIN_HANDICAP: Final = 2

# (row, column) of each stone on the low (0), middle (1) and high (2) handicap line, counted from the
# lower left corner, in the order in which they are added.
_CORNERS: Final = ((0, 0), (2, 2), (2, 0), (0, 2))
_SIDES: Final = ((1, 0), (1, 2), (0, 1), (2, 1))
_CENTRE: Final = ((1, 1),)


def max_fixed_handicap(size: int) -> int:
    """How many stones can be placed on a board of `size` rows; 0 where there is no layout."""
    if size < 7:
        return 0
    return 9 if size % 2 and size > 7 else 4


def fixed_handicap(stones: int, size: int) -> frozenset[int]:
    """The points of that many handicap stones.

    Raises InvalidSettingError where the board has no such layout.
    """
    highest = max_fixed_handicap(size)
    if not MIN_HANDICAP <= stones <= highest:
        allowed = f"{MIN_HANDICAP} to {highest} stones" if highest else "no fixed handicap"
        raise InvalidSettingError("handicap", f"{stones} stones: a board of size {size} allows {allowed}")
    edge = 2 if size < 13 else 3
    lines = (edge, size // 2, size - 1 - edge)
    layout = _CORNERS[:stones] + _SIDES[: (stones - 4) // 2 * 2 if stones > 4 else 0]
    if stones > 4 and stones % 2:
        layout += _CENTRE
    return frozenset((size - 1 - lines[row]) * size + lines[column] for row, column in layout)


def free_handicap(stones: int, size: int) -> frozenset[int]:
    """That many stones where those of a free handicap stand if their player does not place them.

    The fixed layout as far as it goes, then every other point. Raises InvalidSettingError where the board
    has no room for them and a move.
    """
    if not MIN_HANDICAP <= stones < size * size:
        raise InvalidSettingError(
            "handicap", f"{stones} stones: a board of size {size} allows 2 to {size * size - 1} free stones"
        )
    highest = max_fixed_handicap(size)
    layout = fixed_handicap(min(stones, highest), size) if highest else frozenset()
    others = sorted(set(range(size * size)) - layout, key=lambda point: (sum(divmod(point, size)) % 2, point))
    return layout | frozenset(others[: stones - len(layout)])


class Ko(Enum):
    """Which repetitions are forbidden: the recapture in a ko, or every position that has stood before."""

    SIMPLE = "simple"
    POSITIONAL_SUPERKO = "positional_superko"


class Compensation(Enum):
    """The points White gets for Black's handicap stones: none, one for each, or for each but the first."""

    NO = "no"
    FULL = "full"
    SHORT = "short"


class HandicapStyle(Enum):
    """Who places the handicap stones: the standard layout does (`fixed`), or Black (`free`)."""

    FIXED = "fixed"
    FREE = "free"


@dataclass(frozen=True)
class GoSettings:
    """What a game of Go is played under.

    `board_size` is in rows, `komi` in points for White, `handicap` in stones for Black (None or at
    least 2; of free ones Black may place fewer). `self_capture` allows moves that take off the
    mover's own group.
    """

    board_size: int
    komi: float = 7.5
    handicap: int | None = None
    handicap_style: HandicapStyle = HandicapStyle.FIXED
    handicap_compensation: Compensation = Compensation.FULL
    ko: Ko = Ko.SIMPLE
    self_capture: bool = True

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Check every setting.

        Raises InvalidSettingError, which names the setting, its value and the rule.
        """
        read = read_settings("Go", settings, SETTINGS)
        if "board_size" not in read:
            raise MissingSettingError("board_size", 9, f"a size from {MIN_SIZE} to {MAX_SIZE}")
        chosen = cls(**read)
        if chosen.handicap is not None:
            layout = fixed_handicap if chosen.free_handicap is None else free_handicap
            layout(chosen.handicap, chosen.board_size)
        return chosen

    @property
    def free_handicap(self) -> int | None:
        """How many stones Black may place; None without a free handicap."""
        return self.handicap if self.handicap_style is HandicapStyle.FREE else None

    def compensation(self, stones: int) -> int:
        """White's points for a number of handicap stones on the board."""
        if not stones or self.handicap_compensation is Compensation.NO:
            return 0
        return stones - (self.handicap_compensation is Compensation.SHORT)


def _read_komi(setting: str, value: object) -> float:
    # The comparison is false for not-a-number, and holds no surprise for an integer of 400 digits.
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value) + 0.0  # -0.0 becomes 0.0
    raise InvalidSettingError(setting, f"{value!r} is not a finite number of points")


def _read_handicap(setting: str, value: object) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidSettingError(setting, f"{value!r} is not a whole number of stones")
    return value


SETTINGS: Final[Mapping[str, Check]] = {
    "board_size": partial(read_whole_number, least=MIN_SIZE, most=MAX_SIZE),
    "komi": _read_komi,
    "handicap": _read_handicap,
    "handicap_style": partial(read_enum, kind=HandicapStyle),
    "handicap_compensation": partial(read_enum, kind=Compensation),
    "ko": partial(read_enum, kind=Ko),
    "self_capture": read_flag,
}
