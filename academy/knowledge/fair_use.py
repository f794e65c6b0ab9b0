"""How much a player may lean on the libraries during a contest.

From LUDAE: openings for 25 % of the moves, middle-game and endgame only in positions of very low
expected value, and only knowledge of a mean Elo above one's own minus 200. A game's settings may have
other numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self, overload

from academy.knowledge.error_details import WithDetails
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.votes import ELO_SCALE, digest

if TYPE_CHECKING:
    # Bots and arenas need these rules, and most of them no arrays.
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "LUDAE_FAIR_USE",
    "FairUse",
    "FairUseExceededError",
    "LooserRuleError",
    "PlaysAloneError",
    "ValueNotLowError",
    "acceptable",
]


class FairUseExceededError(WithDetails, RuntimeError):
    """All consultations of the opening tree that a player had so far are used up.

    `consultations` were made; before move number `own_move` only `allowed` may have been, this one included.
    """

    def __init__(self, consultations: int, own_move: int, rules: "FairUse") -> None:
        allowed = rules.opening_allowance(own_move)
        super().__init__(
            f"{consultations} opening consultations made; before own move {own_move} the rule allows "
            f"{allowed} in all (one for every {rules.opening_moves_per_consultation} moves, the first "
            "included)",
            consultations=consultations,
            own_move=own_move,
            allowed=allowed,
        )


class ValueNotLowError(WithDetails, RuntimeError):
    """Patterns were asked for in a position that is not bad enough, or without saying how bad it is."""

    def __init__(self, value: float | None, rules: "FairUse") -> None:
        statement = (
            "no expected value was stated" if value is None else f"the stated expected value is {value:.4g}"
        )
        super().__init__(
            f"{statement}; in a contest patterns are returned only for positions whose expected value the "
            f"player states to be at most {rules.pattern_value_limit}",
            value=value,
            limit=rules.pattern_value_limit,
        )


_STRICTER_IF_MORE: Final = ("opening_moves_per_consultation",)


class LooserRuleError(WithDetails, ValueError):
    """A rule of a contest that would allow more than the game's.

    `field` is the rule as `fair_use.NAME`, `value` what the contest would have, `limit` what the game has.
    """

    def __init__(self, name: str, value: float, limit: float) -> None:
        bound = "at least" if name in _STRICTER_IF_MORE else "at most"
        wanted, own = _written(value), _written(limit)
        remedy = own if isinstance(limit, bool) else f"{bound} {own}"
        super().__init__(
            f"fair_use.{name} {wanted}: the game has {own}, and a contest may only be stricter; "
            f"give {remedy}, or have an admin change the game's setting",
            field=f"fair_use.{name}",
            value=wanted,
            limit=own,
        )


def _written(value: float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"


class PlaysAloneError(WithDetails, RuntimeError):
    """A seat may not consult in this contest: it is one of those that the player plays by itself."""

    def __init__(self, contest_id: str, seat: int, share: float) -> None:
        super().__init__(
            f"seat {seat} plays contest {contest_id!r} without consulting: by the contest's rules, which are "
            f"the game's or stricter, players consult in a share of {share:g} of their contests, and this "
            "contest was drawn as one without; proposals are still accepted",
            seat=seat,
            consult_share=f"{share:g}",
        )


@dataclass(frozen=True, slots=True)
class FairUse:
    """The rules of a game for players in contests, with LUDAE's numbers as defaults.

    They have the names of the settings that make them.

    Attributes:
        opening_moves_per_consultation: The opening tree may be consulted once in this many own moves.
        pattern_value_limit: Patterns may be consulted where the player expects this or less, 0.0 to 1.0.
        elo_margin: A player gets only knowledge of a mean Elo above its own minus this.
        opening_plies_ahead: How many plies of recommended moves and replies follow a recommended move.
        consult_share: The share of contests in which a player may consult, 0.0 to 1.0.
        local_weights: Whether players may download the weights of tesujis and evaluation.
    """

    opening_moves_per_consultation: int = 4
    pattern_value_limit: float = 0.33
    elo_margin: float = 200.0
    opening_plies_ahead: int = 0
    consult_share: float = 1.0
    local_weights: bool = False

    @classmethod
    def of(cls, settings: LibrarySettings) -> Self:
        """Return the rules that a game's settings make.

        Args:
            settings: The game's settings.
        """
        return cls(**{rule.name: getattr(settings, rule.name) for rule in fields(cls)})

    def restricted(self, stricter: Mapping[str, float]) -> Self:
        """Return these rules with some of them stricter, as a competition may have them.

        Args:
            stricter: The rules, by name.

        Raises:
            InvalidSettingsError: A rule is out of its range.
            LooserRuleError: A rule would allow more than these rules.
        """
        # Checks the ranges.
        LibrarySettings(**stricter)  # type: ignore[arg-type]
        for name, value in stricter.items():
            own = getattr(self, name)
            allows_more = value < own if name in _STRICTER_IF_MORE else value > own
            if allows_more:
                raise LooserRuleError(name, value, own)
        return replace(self, **dict[str, Any](stricter))

    def plays_alone(self, contest_id: str, seat: int) -> bool:
        """Return whether a seat must play a contest without consulting, as `consult_share` has it.

        Args:
            contest_id: The contest; the same contest and seat always give the same answer.
            seat: The seat, from 1.
        """
        return digest(f"{contest_id} {seat}") / 2**64 >= self.consult_share

    def opening_allowance(self, own_move: int) -> int:
        """Return how many consultations of the opening tree are allowed (seed: for 25 % of the moves).

        Args:
            own_move: The number of the player's next own move, from 1.

        Returns:
            The consultations allowed in all up to that move, the first included.
        """
        return math.ceil(own_move / self.opening_moves_per_consultation)

    def check_opening(self, consultations: int, own_move: int) -> None:
        """Check that a player may consult the opening tree once more.

        Args:
            consultations: How many the player has made.
            own_move: The number of the player's next own move, from 1.

        Raises:
            FairUseExceededError: They are all that `opening_allowance` allows.
        """
        if consultations >= self.opening_allowance(own_move):
            raise FairUseExceededError(consultations, own_move, self)

    def allows_patterns(self, value: float | None) -> bool:
        """Return whether a player may ask for patterns (seed: only in positions of very low expected value).

        Args:
            value: The expected value that the player states, 0.0 to 1.0; None where it states none.
        """
        return value is not None and value <= self.pattern_value_limit

    def check_patterns(self, value: float | None) -> None:
        """Check that a player may ask for patterns.

        Args:
            value: As in `allows_patterns`.

        Raises:
            ValueNotLowError: It is above the limit, or there is none.
        """
        if not self.allows_patterns(value):
            raise ValueNotLowError(value, self)

    def least_elo(self, player_elo: float) -> float:
        """Return the Elo above which a player accepts knowledge (seed: its own minus 200).

        Args:
            player_elo: The player's Elo.
        """
        return player_elo - self.elo_margin


LUDAE_FAIR_USE: Final = FairUse()


@overload
def acceptable(knowledge_elo: float, least_elo: float) -> bool: ...


@overload
def acceptable(knowledge_elo: "NDArray[np.float64]", least_elo: float) -> "NDArray[np.bool_]": ...


def acceptable(knowledge_elo: "float | NDArray[np.float64]", least_elo: float) -> "bool | NDArray[np.bool_]":
    """Return whether a player accepts knowledge of an Elo.

    Args:
        knowledge_elo: The mean Elo of one label, or a float64 array of any shape.
        least_elo: `FairUse.least_elo` of the player: it must be above this.

    Returns:
        A bool, or an array of the same shape.
    """
    # In hundredths, rounded: as floats 365.13 - 165.13 may be more or less than 200. A mean of several
    # Elos may lie between two hundredths, and still counts as it is.
    least = round(least_elo * ELO_SCALE)
    if isinstance(knowledge_elo, float | int):
        return round(knowledge_elo * ELO_SCALE, 4) > least
    above: NDArray[np.bool_] = (knowledge_elo * ELO_SCALE).round(4) > least
    return above
