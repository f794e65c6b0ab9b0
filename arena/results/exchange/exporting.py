"""The results database as SAGA, for other programs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, MetaData, Select, Table, select

from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.exchange.files import Row, write_tables
from arena.results.exchange.saga1 import SAGA1
from arena.results.registration import find_series, series_of

Edition = Literal["saga1", "saga2"]
"""SAGA 1.0, the `Dip_` tables, or SAGA 2.0, the `SAGA_` tables."""


def _saga2() -> MetaData:
    metadata = MetaData()
    for table in saga.METADATA.sorted_tables:
        if table.name.startswith("SAGA_"):
            table.to_metadata(metadata)
    return metadata


SAGA2: Final = _saga2()
_SAGA1_KEYS: Final = {
    "Dip_Bot": ("Id", "ContestantId"),
    "Dip_Game": ("Id", "GameId"),
    "Dip_Player": ("Game", "GameId"),
    "Dip_Power": ("Variant", "VariantId"),
    "Dip_Variant": ("Id", "VariantId"),
}


def export(database: ResultsDatabase, target: Path, edition: Edition, series: str | None = None) -> None:
    """Write SAGA's tables to a new SQLite file (`.sqlite`, `.db`) or a new folder of CSV files.

    With `series` only the rows that a series of this name needs, else all. Raises ResultsError if there
    is no such series or the target exists.
    """
    with database.transaction() as connection:
        metadata = SAGA1 if edition == "saga1" else SAGA2
        wanted = None if series is None else _Closure(connection, find_series(connection, series))
        contents = ((table.name, _rows(connection, table, wanted)) for table in metadata.sorted_tables)
        write_tables(target, metadata, contents)


class _Closure:
    """The keys of all rows that one series needs, by the columns that hold them."""

    def __init__(self, connection: Connection, series_id: int) -> None:
        def keys(query: Select[Any]) -> frozenset[int]:
            return frozenset(int(key) for key in connection.execute(query).scalars() if key is not None)

        every = frozenset({series_id, *series_of(connection, series_id)})
        contestants, in_series = saga.SERIES_CONTESTANT.c, saga.SERIES_SETTING.c
        mine = keys(select(contestants.ContestantId).where(contestants.SeriesId.in_(every)))
        settings = keys(select(in_series.SettingId).where(in_series.SeriesId.in_(every)))
        contestant, setting = saga.CONTESTANT.c, saga.SETTING.c
        of_mine, of_settings = contestant.ContestantId.in_(mine), setting.SettingId.in_(settings)
        self.keys: Mapping[str, frozenset[int]] = {
            "SeriesId": every,
            "GameId": keys(select(saga.GAME.c.GameId).where(saga.GAME.c.SeriesId.in_(every))),
            "SettingId": settings,
            "ContestantId": mine,
            "ClientId": keys(select(contestant.ClientId).where(of_mine)),
            "VariantId": keys(select(setting.VariantId).where(of_settings)),
            "PlatformId": keys(select(setting.PlatformId).where(of_settings))
            | keys(select(contestant.PlatformId).where(of_mine)),
        }

    def wants(self, table: str, row: Mapping[str, Any]) -> bool:
        """Whether the series needs a row."""
        if table in _SAGA1_KEYS:
            column, key = _SAGA1_KEYS[table]
            return row[column] in self.keys[key]
        return all(row.get(column) is None or row[column] in among for column, among in self.keys.items())


def _rows(connection: Connection, table: Table, wanted: _Closure | None) -> Iterator[Row]:
    query = select(table).order_by(*table.primary_key.columns)
    for row in connection.execute(query).mappings():
        if wanted is None or wanted.wants(table.name, dict(row)):
            yield dict(row)
