"""Which of a competition's games a list shows."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, and_, func, select

from arena.jobs import Fault
from arena.results import own_tables as own
from arena.results import schema as saga


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
        query = select(seat.GameId).where(seat.GameId == own.GAME_DETAIL.c.GameId)
        if name:
            query = query.where(seat.Name == name)
        if faults:
            query = query.where(seat.Fault != Fault.NONE.value)
        if outcome is not None:
            winners, seated = saga.PLAYER.alias("Winners").c, saga.PLAYER.c
            won = select(func.count()).where(winners.GameId == seat.GameId, winners.Winner == 1)
            count = won.scalar_subquery()
            query = query.join(saga.PLAYER, (seated.GameId == seat.GameId) & (seated.PowerId == seat.PowerId))
            match outcome:
                case "won":
                    query = query.where(seated.Winner == 1, count == 1)
                case "drew":
                    query = query.where(seated.Winner == 1, count > 1)
                case _:
                    query = query.where(seated.Winner == 0, count > 0)
        return query.exists()
