"""The results database as SAGA, for other programs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from sqlalchemy import Connection, MetaData, Select, Table, select, union

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
        wanted: Mapping[str, Select[Any]] = {}
        if series is not None:
            series_id = find_series(connection, series)
            wanted = _closure([series_id, *series_of(connection, series_id)])
        contents = ((table.name, _rows(connection, table, wanted)) for table in metadata.sorted_tables)
        write_tables(target, metadata, contents)


def _closure(every: Sequence[int]) -> Mapping[str, Select[Any]]:
    """The keys of all rows that these series need, by the columns that hold them."""
    mine = select(saga.SERIES_CONTESTANT.c.ContestantId).where(saga.SERIES_CONTESTANT.c.SeriesId.in_(every))
    settings = select(saga.SERIES_SETTING.c.SettingId).where(saga.SERIES_SETTING.c.SeriesId.in_(every))
    contestant, setting = saga.CONTESTANT.c, saga.SETTING.c
    of_mine, of_settings = contestant.ContestantId.in_(mine), setting.SettingId.in_(settings)
    platforms = union(
        select(setting.PlatformId).where(of_settings), select(contestant.PlatformId).where(of_mine)
    )
    return {
        "SeriesId": select(saga.SERIES.c.SeriesId).where(saga.SERIES.c.SeriesId.in_(every)),
        "GameId": select(saga.GAME.c.GameId).where(saga.GAME.c.SeriesId.in_(every)),
        "SettingId": settings,
        "ContestantId": mine,
        "ClientId": select(contestant.ClientId).where(of_mine),
        "VariantId": select(setting.VariantId).where(of_settings),
        "PlatformId": select(platforms.subquery().c.PlatformId),
    }


def _rows(connection: Connection, table: Table, wanted: Mapping[str, Select[Any]]) -> Iterator[Row]:
    query = select(table).order_by(*table.primary_key.columns)
    old_name, old_key = _SAGA1_KEYS.get(table.name, ("", ""))
    for key, among in wanted.items():
        column = table.c.get(key) if not old_key else table.c[old_name] if key == old_key else None
        if column is not None:
            query = query.where(column.is_(None) | column.in_(among))
    return (dict(row) for row in connection.execute(query).mappings())
