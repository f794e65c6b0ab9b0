"""The settings of a game of Hex, as control files give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Self

from referees.api import InvalidSettingError
from referees.hex.board import MAX_SIZE, MIN_SIZE

SETTINGS: Final = ("board_size", "columns", "swap")


@dataclass(frozen=True)
class HexSettings:
    """What a game of Hex is played under: the board, and whether White may answer with a swap."""

    rows: int
    columns: int
    swap: bool = False

    @classmethod
    def read(cls, settings: Mapping[str, object]) -> Self:
        """Check every setting. Raises InvalidSettingError, which names the setting, its value and the rule.

        `board_size` is the number of rows, and of columns unless `columns` says otherwise.
        """
        for setting in settings:
            if setting not in SETTINGS:
                near = get_close_matches(setting, SETTINGS, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(SETTINGS)}"
                raise InvalidSettingError(setting, f"Hex has no such setting; {hint}")
        if "board_size" not in settings:
            raise InvalidSettingError("board_size", f"is missing: give a size from {MIN_SIZE} to {MAX_SIZE}")
        rows = _length("board_size", settings["board_size"])
        columns = _length("columns", settings.get("columns", rows))
        swap = settings.get("swap", False)
        if not isinstance(swap, bool):
            raise InvalidSettingError("swap", f"{swap!r} is neither true nor false")
        if swap and rows != columns:
            raise InvalidSettingError(
                "swap", f"a board of {rows} rows and {columns} columns has no mirror: both must be alike"
            )
        return cls(rows, columns, swap)

    @property
    def square(self) -> bool:
        """Whether there are as many rows as columns, so that both players have as far to go."""
        return self.rows == self.columns


def _length(setting: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not MIN_SIZE <= value <= MAX_SIZE:
        raise InvalidSettingError(setting, f"{value!r} is not a whole number from {MIN_SIZE} to {MAX_SIZE}")
    return value
