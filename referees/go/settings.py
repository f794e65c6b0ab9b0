"""The settings of a game of Go, and where handicap stones stand that no player places.

The points are those of the Go Text Protocol, version 2, section 4.1.1.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import Enum
from typing import Final, Self, TypeVar

from referees.api import InvalidSettingError
from referees.go.board import MAX_SIZE, MIN_SIZE

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
    layout = _CORNERS[: min(stones, 4)] + _SIDES[: (stones - 4) // 2 * 2 if stones > 4 else 0]
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


Choice = TypeVar("Choice", bound=Enum)


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
        known = [field.name for field in fields(cls)]
        for setting in settings:
            if setting not in known:
                near = get_close_matches(setting, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
                raise InvalidSettingError(setting, f"Go has no such setting; {hint}")
        if "board_size" not in settings:
            raise InvalidSettingError("board_size", f"is missing: give a size from {MIN_SIZE} to {MAX_SIZE}")
        size = _board_size(settings["board_size"])
        style = _choice(settings, "handicap_style", cls.handicap_style)
        return cls(
            board_size=size,
            komi=_komi(settings.get("komi", cls.komi)),
            handicap=_handicap(settings.get("handicap"), size, style),
            handicap_style=style,
            handicap_compensation=_choice(settings, "handicap_compensation", cls.handicap_compensation),
            ko=_choice(settings, "ko", cls.ko),
            self_capture=_self_capture(settings.get("self_capture", cls.self_capture)),
        )

    @property
    def free_handicap(self) -> int | None:
        """How many stones Black may place; None without a free handicap."""
        return self.handicap if self.handicap_style is HandicapStyle.FREE else None

    def compensation(self, stones: int) -> int:
        """White's points for a number of handicap stones on the board."""
        if not stones or self.handicap_compensation is Compensation.NO:
            return 0
        return stones - (self.handicap_compensation is Compensation.SHORT)


def _board_size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not MIN_SIZE <= value <= MAX_SIZE:
        raise InvalidSettingError(
            "board_size", f"{value!r} is not a whole number from {MIN_SIZE} to {MAX_SIZE}"
        )
    return value


def _komi(value: object) -> float:
    # The comparison is false for not-a-number, and holds no surprise for an integer of 400 digits.
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max:
        return float(value) + 0.0  # -0.0 becomes 0.0
    raise InvalidSettingError("komi", f"{value!r} is not a finite number of points")


def _handicap(value: object, size: int, style: HandicapStyle) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidSettingError("handicap", f"{value!r} is not a whole number of stones")
    if style is HandicapStyle.FIXED:
        fixed_handicap(value, size)
    else:
        free_handicap(value, size)
    return value


def _choice(settings: Mapping[str, object], setting: str, default: Choice) -> Choice:
    value = settings.get(setting, default.value)
    for choice in type(default):
        if choice.value == value:
            return choice
    allowed = ", ".join(repr(choice.value) for choice in type(default))
    raise InvalidSettingError(setting, f"{value!r} is not one of {allowed}")


def _self_capture(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidSettingError("self_capture", f"{value!r} is neither true nor false")
    return value
