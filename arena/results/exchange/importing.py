"""SAGA's tables, of either edition, into a results database."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, func, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError, reason
from arena.results.exchange.exporting import SAGA2
from arena.results.exchange.files import Row, batches, read_table, table_names
from arena.results.exchange.saga1 import SAGA1, saga2_rows
from arena.results.migrations import is_numbered, name_numbered_powers

# Rows that competitions share: found again by what identifies them, and then not added.
_SHARED: Final = {
    "SAGA_Variant": ("Name", "Powers"),
    "SAGA_Power": ("VariantId", "Code"),
    "SAGA_Platform": ("Name", "Fraction", "Quality"),
}


@dataclass(frozen=True)
class ImportedGames:
    """What was imported: the names of the series, and the number of games."""

    series: tuple[str, ...]
    games: int


def import_saga(database: ResultsDatabase, source: Path) -> ImportedGames:
    """Take in all of a SQLite file or a folder of CSV files, or nothing of it.

    It is SAGA 2.0 if it has a table `SAGA_Game`, 1.0 if it has `Dip_Game`. Rows keep their numbers where
    these are free. Variants, powers and platforms that are there already are not added again. Raises
    ResultsError for a series whose name is taken, and for rows that break a rule or cannot be read.
    """
    have = table_names(source)
    edition = SAGA2 if "SAGA_Game" in have else SAGA1
    if edition is SAGA1 and "Dip_Game" not in have:
        raise ResultsError(f"{source} has no table SAGA_Game or Dip_Game: it is not SAGA")
    if missing := sorted(set(edition.tables) - have):
        raise ResultsError(f"{source} has no table {', '.join(missing)}")
    rows: Mapping[str, Iterable[Row]] = (
        saga2_rows(source)
        if edition is SAGA1
        else {name: read_table(source, table) for name, table in SAGA2.tables.items()}
    )
    try:
        with database.transaction() as connection:
            taker = _Taker(connection)
            for table in saga.METADATA.sorted_tables:
                taker.take(table, rows.get(table.name, ()))
            name_numbered_powers(connection)
            return ImportedGames(tuple(taker.series), taker.games)
    except StatementError as error:
        broken = " breaks a rule of SAGA" if isinstance(error, IntegrityError) else ""
        raise ResultsError(f"{source}{broken}, nothing was imported: {reason(error)}") from error


@dataclass
class _Taker:
    """Takes rows in, giving them new numbers where theirs are not free."""

    connection: Connection
    series: list[str] = field(default_factory=list)
    games: int = 0
    # By column that holds a key: what the source's keys became.
    _renamed: dict[str, dict[int, int]] = field(default_factory=dict)

    def take(self, table: Table, rows: Iterable[Row]) -> None:
        """Take in the rows of a table, after those of all tables it refers to."""
        for batch in batches(self._to_add(table, rows)):
            self.connection.execute(insert(table), batch)
        auto = table.autoincrement_column
        if auto is not None and self.connection.dialect.name == "postgresql":
            self._advance(table, auto.name)

    def _to_add(self, table: Table, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows that are new, with their new numbers."""
        auto = table.autoincrement_column
        used = set(self.connection.execute(select(auto)).scalars()) if auto is not None else set()
        next_key = max(used, default=0) + 1
        for row in sorted(rows, key=itemgetter(*(key.name for key in table.primary_key.columns))):
            values = self._with_new_keys(table, row)
            if auto is not None:
                old = values[auto.name]
                known = self._find_shared(table, values)
                key = known if known is not None else old if old not in used else next_key
                self._renamed.setdefault(auto.name, {})[old] = key
                if known is not None:
                    continue
                used.add(key)
                next_key = max(next_key, key + 1)
                values[auto.name] = key
            self._count(table, values)
            yield values

    def _with_new_keys(self, table: Table, row: Row) -> dict[str, Any]:
        values = dict(row)
        for column in table.columns:
            value = values.get(column.name)
            if not column.foreign_keys or value is None:
                continue
            known = self._renamed.get(column.name, {})
            if value not in known:
                key = ", ".join(str(row[part.name]) for part in table.primary_key.columns)
                raise ResultsError(f"{table.name} {key}: there is no {column.name} {value}")
            values[column.name] = known[value]
        return {name: _default(table, name) if value is None else value for name, value in values.items()}

    def _find_shared(self, table: Table, values: Row) -> int | None:
        if table.name not in _SHARED:
            return None
        names = _SHARED[table.name]
        if table is saga.POWER and values.get("Name") and is_numbered(values.get("Code") or ""):
            # From an earlier release, which did not know its token.
            names = ("VariantId", "Name")
        conditions = [table.c[name].is_not_distinct_from(values.get(name)) for name in names]
        key = next(iter(table.primary_key.columns))
        known = self.connection.execute(select(key).where(*conditions)).scalar()
        return None if known is None else int(known)

    def _count(self, table: Table, values: Row) -> None:
        if table is saga.GAME:
            self.games += 1
        if table is not saga.SERIES:
            return
        name = values.get("Name")
        taken = select(func.count()).select_from(table).filter_by(Name=name)
        if self.connection.execute(taken).scalar_one():
            raise ResultsError(f"there is a series {name!r} already; nothing was imported")
        self.series.append(str(name))

    def _advance(self, table: Table, column: str) -> None:
        """Let PostgreSQL count on after the highest number, which was not its own."""
        quoted = f'"{table.name}"'
        self.connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{quoted}', '{column}'), "
                f'GREATEST((SELECT MAX("{column}") FROM {quoted}), 1))'
            )
        )


def _default(table: Table, name: str) -> Any:
    """What an empty column becomes: its default, where it must not be NULL."""
    column = table.c[name]
    return None if column.nullable or column.default is None else column.default.arg  # type: ignore[attr-defined]
