"""The settings of a game's libraries."""

import math
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, Self

__all__ = ["GREATEST", "LEAST", "GameKind", "InvalidSettingsError", "Library", "LibrarySettings"]


class InvalidSettingsError(ValueError):
    """A library setting out of its range; the message names it."""


class Library(Enum):
    """The three sections of a game's knowledge."""

    OPENING = "opening"
    MIDDLE_GAME = "middle-game"
    ENDGAME = "endgame"


class GameKind(Enum):
    """What games have in common that gain by the same knowledge."""

    # Stones come to any empty cell of a square board and stay, as in Go.
    STONES = "stones"
    # Pieces go from cell to cell, and may be worth more or less, as in draughts.
    PIECES = "pieces"
    OTHER = "other"


# Of settings that may be less than others: a consultation is due before every fourth own move, three replies
# and three own moves later; all tesujis are one record.
GREATEST: Final = {"opening_plies_ahead": 6, "tesuji_capacity": 100_000, "evaluation_patterns": 50_000}
LEAST: Final = {"opening_moves_per_consultation": 1}


@dataclass(frozen=True, slots=True)
class LibrarySettings:
    """Capacities and thresholds of one game, with the seed's numbers as defaults.

    `max_merged_cells` bounds how many cells a merge may change; `prune_below` and `prune_factor`
    rule the opening tree's pruning; an unused pattern's strength is halved for eviction every
    `forget_after` contests (0: never); of each contest ACADEMY itself cuts up to `analysed_patterns` patterns
    for each player (0: none); a merge that would leave less than `least_information` bits is not made, and
    a proposal that leaves cells open must say as much; with a recommended opening move come
    `opening_plies_ahead` plies of replies and recommended moves (0: none); from every contest ACADEMY
    learns which surroundings of a cell to move into, and keeps `tesuji_capacity` of them (0: none), and
    where `evaluation` is set what positions are worth, by features and up to `evaluation_patterns` anchored
    patterns; `local_weights` says whether players may download both in contests; in
    contests players may consult openings before one own move in `opening_moves_per_consultation`, patterns
    where they expect `pattern_value_limit` or less, and all of it of players above their own Elo less
    `elo_margin`, in a share `consult_share` of their contests; up to `removed_records` that admins removed
    can be restored for `removed_days`.

    Raises:
        InvalidSettingsError: A setting is out of its range.
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
            greatest = GREATEST.get(setting.name, 1.0 if setting.type is float else 1_000_000)
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
        return cls(
            tesuji_capacity=1_000 if kind is GameKind.STONES else 0, evaluation=kind is GameKind.PIECES
        )

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
