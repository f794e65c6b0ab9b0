"""The Elo that each player of a competition began with, kept so that no later answer can change it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select

from arena.results import own_tables as own

CONTROL_FILE: Final = "control file"
ACADEMY: Final = "academy"
NEWCOMER: Final = "newcomer"
EARLIER_GAMES: Final = "earlier games"


@dataclass(frozen=True)
class FirstRating:
    """What a player began with, and why.

    `source` is one of the words above; `game` is what ACADEMY calls the game, where the Elo is ACADEMY's.
    """

    elo: float
    source: str
    game: str = ""

    @property
    def reason(self) -> str:
        """The source in words."""
        return f"ACADEMY's Elo in {self.game}" if self.source == ACADEMY else self.source


def read_first_ratings(connection: Connection, series_id: int) -> dict[str, FirstRating]:
    """What players of a competition began with, by name, as far as it was stored."""
    table = own.FIRST_RATING
    rows = connection.execute(select(table).filter_by(SeriesId=series_id).order_by(table.c.Name))
    return {row.Name: FirstRating(row.Elo, row.Source, row.Game) for row in rows}


def keep_first_ratings(connection: Connection, series_id: int, ratings: Mapping[str, FirstRating]) -> None:
    """Store what players begin with that have nothing stored yet."""
    rows = [
        {"SeriesId": series_id, "Name": name, "Elo": rating.elo, "Source": rating.source, "Game": rating.game}
        for name, rating in ratings.items()
    ]
    if rows:
        connection.execute(insert(own.FIRST_RATING), rows)


def elo_before_first_games(connection: Connection, series_id: int) -> dict[str, float]:
    """The Elo of all who have finished games, as it was before the first of them."""
    rating, detail = own.RATING.c, own.GAME_DETAIL.c
    query = (
        select(rating.Name, rating.EloBefore)
        .join_from(own.RATING, own.GAME_DETAIL, detail.GameId == rating.GameId)
        .where(detail.SeriesId == series_id)
        .order_by(detail.GameId.desc())
    )
    return {row.Name: row.EloBefore for row in connection.execute(query)}
