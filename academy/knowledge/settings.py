"""The settings of a game's libraries."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, Self

__all__ = [
    "GREATEST",
    "GREATEST_NUMBER",
    "LEAST",
    "GameKind",
    "InvalidSettingsError",
    "Library",
    "LibrarySettings",
]


class InvalidSettingsError(ValueError):
    """A library setting of another kind or out of its range; the message names it."""


class Library(Enum):
    """The three sections of a game's knowledge."""

    OPENING = "opening"
    MIDDLE_GAME = "middle-game"
    ENDGAME = "endgame"


class GameKind(Enum):
    """What games have in common that gain by the same knowledge."""

    # Stones come to any empty cell of a square board and stay, as in Go.
    STONES = "stones"
    # Stones fall down a column, and a row of them wins, as in connect four.
    FALLING = "falling"
    # Pieces go from cell to cell, and may be worth more or less, as in draughts.
    PIECES = "pieces"
    OTHER = "other"


# What whole numbers may be, but for those of `GREATEST`: a consultation is due before every fourth own move,
# three replies and three own moves later; all tesujis are one record.
GREATEST_NUMBER: Final = 1_000_000
GREATEST: Final = {"opening_plies_ahead": 6, "tesuji_capacity": 100_000, "evaluation_patterns": 50_000}
LEAST: Final = {"opening_moves_per_consultation": 1}
_KINDS: Final[Mapping[object, tuple[tuple[type, ...], str]]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
}


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """Capacities and thresholds of one game, with LUDAE's numbers as defaults.

    Attributes:
        opening_capacity: How many nodes the opening tree keeps.
        middle_game_capacity: How many patterns the library of the middle game keeps.
        endgame_capacity: How many patterns the library of the endgame keeps.
        max_merged_cells: How many cells a merge may change.
        prune_below: Leaves of the opening tree are pruned where all are worth less, 0.0 to 1.0.
        prune_factor: What a pruned node's value is multiplied by, 0.0 to 1.0.
        forget_after: After this number of contests without use a pattern counts half for eviction; 0: never.
        max_submissions_per_contest: How many patterns a player may propose in one contest.
        analysed_patterns: How many patterns ACADEMY itself cuts from each contest for each player.
        least_information: A merge that would leave less, in bits, is not made; a proposal that leaves cells
            open must say as much.
        opening_plies_ahead: How many plies of replies and recommended moves come with a recommended one.
            They come in pairs: an odd number means one less.
        tesuji_capacity: How many tesujis are kept, learnt from every contest; 0 switches them off.
        evaluation: Whether every contest teaches what positions are worth.
        evaluation_patterns: How many anchored patterns have a weight in that; 0: features alone.
        local_weights: Whether players may download weights of tesujis and evaluation.
        opening_moves_per_consultation: Players may consult openings before one own move in this number.
        pattern_value_limit: They may consult patterns where they expect this or less, 0.0 to 1.0.
        elo_margin: They get only knowledge of a mean Elo above their own minus this.
        consult_share: The share of their contests in which they may consult, 0.0 to 1.0.
        removed_days: For this number of days what admins removed can be restored.
        removed_records: Up to this number of removed records are kept for that.

    Raises:
        InvalidSettingsError: A setting is of another kind, or out of its range.
    """

    opening_capacity: int = 1_000
    middle_game_capacity: int = 1_000
    endgame_capacity: int = 5_000
    max_merged_cells: int = 1
    prune_below: float = 0.33
    prune_factor: float = 0.5
    forget_after: int = 0
    max_submissions_per_contest: int = 10
    analysed_patterns: int = 0
    least_information: int = 8
    opening_plies_ahead: int = 0
    tesuji_capacity: int = 0
    evaluation: bool = False
    evaluation_patterns: int = 0
    local_weights: bool = False
    opening_moves_per_consultation: int = 4
    pattern_value_limit: float = 0.33
    elo_margin: int = 200
    consult_share: float = 1.0
    removed_days: int = 30
    removed_records: int = 20_000

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            kinds, rule = _KINDS[setting.type]
            # True is a whole number to Python.
            fits = isinstance(value, kinds) and isinstance(value, bool) is (setting.type is bool)
            if not fits:
                raise InvalidSettingsError(f"{setting.name} {value!r}: it must be {rule}")
            greatest = GREATEST.get(setting.name, 1.0 if setting.type is float else GREATEST_NUMBER)
            least = LEAST.get(setting.name, 0)
            if not (math.isfinite(value) and least <= value <= greatest):
                raise InvalidSettingsError(
                    f"{setting.name} {value!r}: it must be from {least} to {greatest:,}"
                )

    @classmethod
    def for_kind(cls, players: int, kind: GameKind = GameKind.OTHER) -> Self:
        """Return the defaults of a game; which measurements they follow is in how-learning-works.md.

        Args:
            players: How many play the game. With more than two, `prune_below` has the same ratio to an even
                share of the win as for two.
            kind: What makes it like others that were measured.
        """
        if players > 2:
            return cls(prune_below=round(2 * cls().prune_below / players, 4))
        tesujis = kind in (GameKind.STONES, GameKind.FALLING)
        return cls(tesuji_capacity=1_000 if tesujis else 0, evaluation=kind is GameKind.PIECES)

    def capacity(self, library: Library) -> int:
        """Return how many patterns or nodes a library may hold.

        Args:
            library: The section.
        """
        return {
            Library.OPENING: self.opening_capacity,
            Library.MIDDLE_GAME: self.middle_game_capacity,
            Library.ENDGAME: self.endgame_capacity,
        }[library]
