"""Seasons of a league: spans of time, each with a table by the likeliest ratings of its own games."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import CTE, Float, Select, and_, case, cast, delete, func, insert, select, update

from arena.league.database import LeagueDatabase
from arena.league.errors import InvalidSeasonError, SeasonConflictError, UnknownSeasonError
from arena.league.lists import LeagueReader
from arena.league.tables import GAME, PLAYER, SEASON, SEAT
from arena.ratings.bradley_terry import PRIOR, Pairings, likeliest
from arena.results.database import utc_now

LONGEST_NAME = 64


@dataclass(frozen=True)
class Season:
    """A season; games belong to it that end from `begins` on and before `ends`."""

    name: str
    begins: datetime
    ends: datetime | None


@dataclass(frozen=True)
class SeasonLine:
    """A player's line in the table of a season, by its games with a result."""

    name: str
    version: str
    games: int
    points: float
    elo: float
    error: float


class Seasons:
    """The seasons of a league. Methods wait for the database."""

    def __init__(self, league: LeagueDatabase) -> None:
        self._league = league

    def all(self) -> list[Season]:
        """All seasons, in the order in which they began."""
        query = select(SEASON).order_by(SEASON.c.Begins, SEASON.c.Name)
        return [Season(*row) for row in self._league.rows(query)]

    def named(self, name: str) -> Season:
        """The season of a name. Raises UnknownSeasonError."""
        for season in self.all():
            if season.name == name:
                return season
        raise UnknownSeasonError(f"there is no season {name[:80]!r}", name=name)

    def begin(self, name: str, begins: datetime | None, ends: datetime | None) -> Season:
        """Begin a season. Raises InvalidSeasonError and SeasonConflictError."""
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise InvalidSeasonError("name", f"write 1 to {LONGEST_NAME} characters in one line")
        begins = begins or utc_now()
        if ends is not None and ends <= begins:
            raise InvalidSeasonError("ends", "it must be after the season's beginning")
        with self._league.sole_transaction() as connection:
            if connection.execute(select(SEASON).where(SEASON.c.Name == name)).first():
                raise SeasonConflictError(f"there is a season {name!r} already", name=name)
            connection.execute(insert(SEASON).values(Name=name, Begins=begins, Ends=ends))
        return self.named(name)

    def end(self, name: str) -> Season:
        """End a season now; one that has ended stays as it is.

        Raises UnknownSeasonError, and InvalidSeasonError for one that has not begun.
        """
        season, now = self.named(name), utc_now()
        if season.begins > now:
            raise InvalidSeasonError("name", f"{name!r} has not begun: remove it")
        if season.ends is None or season.ends > now:
            with self._league.sole_transaction() as connection:
                connection.execute(update(SEASON).where(SEASON.c.Name == name).values(Ends=now))
        return self.named(name)

    def remove(self, name: str) -> None:
        """Forget a season; games and ratings stay. Raises UnknownSeasonError."""
        with self._league.sole_transaction() as connection:
            if not connection.execute(delete(SEASON).where(SEASON.c.Name == name)).rowcount:
                raise UnknownSeasonError(f"there is no season {name[:80]!r}", name=name)

    def table(self, name: str, game: str) -> list[SeasonLine]:
        """The table of a game, the best first. Raises UnknownSeasonError and NoResultsYetError."""
        season = self.named(name)
        within = [GAME.c.Game == game, GAME.c.Known, GAME.c.Finished >= season.begins]
        if season.ends is not None:
            within.append(GAME.c.Finished < season.ends)
        mine = (
            select(SEAT.c.GameId, SEAT.c.PlayerId, SEAT.c.Score)
            .join_from(SEAT, GAME, GAME.c.GameId == SEAT.c.GameId)
            .where(*within)
            .cte("mine")
        )
        sums = (
            select(mine.c.PlayerId, func.count().label("games"), func.sum(mine.c.Score).label("points"))
            .group_by(mine.c.PlayerId)
            .subquery()
        )
        query = (
            select(PLAYER.c.PlayerId, PLAYER.c.Name, PLAYER.c.Version, sums.c.games, sums.c.points)
            .join_from(sums, PLAYER, PLAYER.c.PlayerId == sums.c.PlayerId)
            .order_by(PLAYER.c.PlayerId)
        )
        # Games of players who came in between would be of nobody.
        with self._league.snapshot() as connection:
            rows, met = connection.execute(query).all(), connection.execute(_pairs(mine)).all()
        if not rows:
            # An empty table is one of a game that the league has.
            LeagueReader(self._league).ratings(game, 1)
            return []
        keys = np.array([row.PlayerId for row in rows], dtype=np.int64)
        strengths = likeliest(
            Pairings.of_rows(np.array([tuple(row) for row in met], dtype=np.float64).reshape(-1, 4), keys),
            np.full(len(rows), -1, dtype=np.int64),
            np.full(len(rows), np.nan),
            np.full(len(rows), PRIOR),
        )
        lines = [
            SeasonLine(row.Name, row.Version, row.games, float(row.points), float(elo), float(error))
            for row, elo, error in zip(rows, strengths.elo, strengths.error, strict=True)
        ]
        return sorted(lines, key=lambda line: (-line.elo, line.name))


def _pairs(mine: CTE) -> Select[Any]:
    """Each two of these seats' players who met, the first one's points, and their games.

    A game counts as one for each of its players: less for each two of them where they are many.
    """
    left, right, size = mine.alias("one"), mine.alias("other"), mine.alias("size")
    seats = select(size.c.GameId, func.count().label("seats")).group_by(size.c.GameId).subquery("seats")
    better = case((left.c.Score > right.c.Score, 1.0), (left.c.Score < right.c.Score, 0.0), else_=0.5)
    share = 1.0 / cast(seats.c.seats - 1, Float)
    return (
        select(left.c.PlayerId, right.c.PlayerId.label("Other"), func.sum(better * share), func.sum(share))
        .join_from(left, right, and_(left.c.GameId == right.c.GameId, left.c.PlayerId < right.c.PlayerId))
        .join(seats, seats.c.GameId == left.c.GameId)
        .group_by(left.c.PlayerId, right.c.PlayerId)
    )
