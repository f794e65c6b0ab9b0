"""Rows of any table: added, or found by their values."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Table, insert, select


@cache
def insertion(table: Table) -> Insert:
    """The statement that adds to a table, built once: building it takes longer than running it."""
    return insert(table)


def add(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    """Add a row; return the first column of its primary key."""
    # Values beside the statement, not in it: so it is built and compiled once.
    key = connection.execute(insertion(table), values).inserted_primary_key
    assert key is not None
    return int(key[0])


def add_all(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add rows that have all columns of the table in their order, with values as the driver takes them.

    SQLAlchemy would look at each value of each row, which takes several times as long as adding them.
    """
    if not rows:
        return
    statement, positional = _of_driver(table, connection.dialect)
    if positional:
        connection.exec_driver_sql(statement, list(rows))
    else:
        names = table.columns.keys()
        connection.exec_driver_sql(statement, [dict(zip(names, row, strict=True)) for row in rows])


@lru_cache(maxsize=16)
def _of_driver(table: Table, dialect: Dialect) -> tuple[str, bool]:
    return str(insert(table).compile(dialect=dialect)), dialect.positional


def find_or_add(
    connection: Connection, table: Table, values: Mapping[str, Any], others: Mapping[str, Any] | None = None
) -> int:
    """The row with these values, added with the `others` where there is none.

    Returns the first column of its key.
    """
    key = next(iter(table.primary_key.columns))
    conditions = [table.c[name].is_not_distinct_from(value) for name, value in values.items()]
    found = connection.execute(select(key).where(*conditions)).scalar()
    return add(connection, table, {**values, **(others or {})}) if found is None else int(found)
