"""The settings of a game of Hex, as control files give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Self

from referees.api import InvalidSettingError, MissingSettingError
from referees.hex.board import MAX_SIZE, MIN_SIZE
from referees.settings import Check, read_flag, read_settings, read_whole_number

_LENGTH: Final = partial(read_whole_number, least=MIN_SIZE, most=MAX_SIZE)
SETTINGS: Final[Mapping[str, Check]] = {"board_size": _LENGTH, "columns": _LENGTH, "swap": read_flag}


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
        read = read_settings("Hex", settings, SETTINGS)
        if "board_size" not in read:
            raise MissingSettingError("board_size", 7, f"a size from {MIN_SIZE} to {MAX_SIZE}")
        rows = read.pop("board_size")
        chosen = cls(rows, **{"columns": rows, **read})
        if chosen.swap and not chosen.square:
            raise InvalidSettingError(
                "swap",
                f"a board of {rows} rows and {chosen.columns} columns has no mirror: both must be alike",
            )
        return chosen

    @property
    def square(self) -> bool:
        """Whether there are as many rows as columns, so that both players have as far to go."""
        return self.rows == self.columns
