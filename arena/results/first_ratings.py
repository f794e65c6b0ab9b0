"""The Elo that each player of a competition began with, kept so that no later answer can change it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from arena.control.settings import Control

CONTROL_FILE: Final = "control file"
ACADEMY: Final = "academy"
NEWCOMER: Final = "newcomer"
EARLIER_GAMES: Final = "earlier games"


@dataclass(frozen=True)
class FirstRating:
    """What a player began with, and why.

    `source` is one of the words above; `game` is what ACADEMY calls the game, where the Elo is ACADEMY's or,
    of earlier games, a league's.
    """

    elo: float
    source: str
    game: str = ""

    @property
    def reason(self) -> str:
        """The source in words."""
        if not self.game:
            return self.source
        return f"{'ACADEMY' if self.source == ACADEMY else 'the league'}'s Elo in {self.game}"


def with_first_ratings(control: Control, first_ratings: Mapping[str, FirstRating]) -> Control:
    """The control file with the Elo that players began with."""
    begin = {player: rating.elo for player, rating in first_ratings.items()}
    return replace(control, elo=replace(control.elo, begin=begin))
