"""Rows of any table: added, or found by their values."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Insert, Table, func, insert, select

# "ARENA": any number that other programs are unlikely to lock.
_LOCK: Final = 0x4152454E41


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


def find_or_add(
    connection: Connection, table: Table, values: Mapping[str, Any], others: Mapping[str, Any] | None = None
) -> int:
    """The row with these values, added with the `others` where there is none.

    Returns the first column of its key.
    """
    key = next(iter(table.primary_key.columns))
    conditions = [table.c[name].is_not_distinct_from(value) for name, value in values.items()]
    query = select(key).where(*conditions)
    found = connection.execute(query).scalar()
    if found is None:
        # Another competition of the same database may be about to add the same.
        lock_for_changes(connection)
        found = connection.execute(query).scalar()
    return add(connection, table, {**values, **(others or {})}) if found is None else int(found)


def lock_for_changes(connection: Connection) -> None:
    """Let no other transaction that asks for the same go on before this one has ended.

    SQLite has one writer at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
