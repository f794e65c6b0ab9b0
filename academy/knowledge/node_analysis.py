"""What analysts' searches find out about positions of the opening tree, and how much each counts."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

__all__ = ["MAX_BUDGET", "MOST_VISITS", "NodeAnalysis", "SearchKind"]

# No search of a node is that long.
MAX_BUDGET: Final = 1_000_000_000
# What the longest search counts as.
MOST_VISITS: Final = 30
# From these budgets on a search counts as that; half the random games, or a ply less, count half.
_FULL_GAMES: Final = 2_000
_FULL_PLIES: Final = 8


class SearchKind(IntEnum):
    """How a position was searched: what its budget counts."""

    RANDOM_GAMES = 1
    PLIES = 2

    @property
    def fewest(self) -> int:
        """The least budget that is worth keeping: it counts as three visits."""
        return 200 if self is SearchKind.RANDOM_GAMES else 5

    @property
    def unit(self) -> str:
        """What a budget is a number of."""
        return "random games" if self is SearchKind.RANDOM_GAMES else "plies of alpha-beta"


@dataclass(frozen=True, slots=True)
class NodeAnalysis:
    """What an analyst's search found out about a position: computed, where contests are shared experience.

    Attributes:
        value_millionths: What the player whose move leads there may expect, from 0 to 1,000,000.
        budget: How much was searched, in what its kind counts.
        analyst: Who searched: the name of a token.
        kind: How it was searched.
    """

    value_millionths: int
    budget: int
    analyst: str
    kind: SearchKind = SearchKind.RANDOM_GAMES

    @property
    def visits(self) -> int:
        """How many visits it counts as."""
        if self.kind is SearchKind.RANDOM_GAMES:
            return max(1, min(MOST_VISITS, MOST_VISITS * self.budget // _FULL_GAMES))
        return max(1, MOST_VISITS >> max(0, _FULL_PLIES - self.budget))

    @property
    def is_short(self) -> bool:
        """Whether it is too short to be worth keeping."""
        return self.budget < self.kind.fewest

    def replaces(self, other: "NodeAnalysis | None") -> bool:
        """Return whether it is kept instead of another: of one kind, the larger budget.

        Args:
            other: What is known so far; None for nothing. Budgets of different kinds cannot be compared, so
                the first stays; but what is too short to be kept today was kept before there were kinds.
        """
        if other is None or other.is_short > self.is_short:
            return True
        return self.kind is other.kind and self.budget > other.budget
