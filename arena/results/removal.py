"""Removing a competition from a database that others may be in as well."""

from sqlalchemy import Connection, delete, select

from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.mission_series import series_of


def holds_others(database: ResultsDatabase, name: str) -> bool:
    """Whether the database holds other series than the competition's own: another one's, or imported ones."""
    with database.transaction() as connection:
        key = saga.SERIES.c.SeriesId
        others = select(key).where(key.not_in(_series_ids(connection, name))).limit(1)
        return connection.execute(others).first() is not None


def remove_series(database: ResultsDatabase, name: str) -> None:
    """Delete a competition, its games and the contestants that no other one has, all or nothing.

    Programs, platforms, variants and settings stay: they are not the competition's own. Where there is
    no competition of the name, or a series of this name that was imported, nothing happens.
    """
    with database.transaction() as connection:
        entered, every = saga.SERIES_CONTESTANT.c, _series_ids(connection, name)
        if not every:
            return
        query = select(entered.ContestantId).where(entered.SeriesId.in_(every))
        contestants = list(connection.execute(query).scalars())
        games = select(saga.GAME.c.GameId).where(saga.GAME.c.SeriesId.in_(every))
        # Rows that refer to others go before those.
        for table in reversed(saga.METADATA.sorted_tables):
            if "SeriesId" in table.c:
                connection.execute(delete(table).where(table.c.SeriesId.in_(every)))
            elif table is own.INHIBITION:
                connection.execute(delete(table).where(table.c.ContestantId.in_(contestants)))
            elif "GameId" in table.c:
                connection.execute(delete(table).where(table.c.GameId.in_(games)))
        others = select(entered.ContestantId).union(select(saga.PLAYER.c.ContestantId))
        mine = saga.CONTESTANT.c.ContestantId
        connection.execute(delete(saga.CONTESTANT).where(mine.in_(contestants), mine.not_in(others)))


def _series_ids(connection: Connection, name: str) -> list[int]:
    played = select(saga.SERIES.c.SeriesId).join(own.COMPETITION).where(saga.SERIES.c.Name == name)
    series_id = connection.execute(played).scalar()
    return [] if series_id is None else [series_id, *series_of(connection, series_id)]
