"""Rows of any table: added, or found by their values."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, insert, select


def add(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    """Add a row; return the first column of its primary key."""
    # Values beside the statement, not in it: so it is built and compiled once.
    key = connection.execute(insert(table), values).inserted_primary_key
    assert key is not None
    return int(key[0])


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
