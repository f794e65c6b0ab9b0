"""Which of a competition's games a list shows."""

from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import ColumnElement, and_, select, text

from arena.results import own_tables as own

_RESULTS: Final = {"won": "win", "drew": "draw", "lost": "loss"}


@dataclass(frozen=True)
class GameFilter:
    """Conditions that all must hold; one that is "", 0, None or False holds for every game.

    The `player` took part, and so did the `opponent`; `outcome` is how the player fared. `opening` is an
    opening's name. With `faults` somebody did something wrong: the player, where one is named.
    """

    player: str = ""
    opponent: str = ""
    outcome: Literal["won", "drew", "lost"] | None = None
    termination: str = ""
    opening: str = ""
    min_moves: int = 0
    max_moves: int = 0
    faults: bool = False

    def condition(self, series_id: int) -> ColumnElement[bool]:
        """The condition for the games of a series."""
        detail = own.GAME_DETAIL.c
        conditions = [detail.SeriesId == series_id]
        if self.termination:
            conditions.append(detail.Termination == self.termination)
        if self.opening:
            conditions.append(detail.OpeningName == self.opening)
        if self.min_moves:
            conditions.append(detail.Plies >= self.min_moves)
        if self.max_moves:
            conditions.append(detail.Plies <= self.max_moves)
        if self.player or self.faults:
            conditions.append(self._seat(self.player, faults=self.faults, outcome=self.outcome))
        if self.opponent:
            conditions.append(self._seat(self.opponent))
        return and_(*conditions)

    def _seat(self, name: str, *, faults: bool = False, outcome: str | None = None) -> ColumnElement[bool]:
        """The condition that a game has a seat of this kind."""
        seat = own.SEAT.c
        query = select(seat.GameId)
        if name:
            query = query.where(seat.Name == name)
        if faults:
            # As text: indexes of a part of a table are used where the condition is the index's own.
            query = query.where(text("\"Fault\" <> 'none'"))
        if outcome is not None:
            query = query.where(seat.Result == _RESULTS[outcome])
        # Found once, not looked for in each game.
        return own.GAME_DETAIL.c.GameId.in_(query)
