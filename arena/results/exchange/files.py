"""Tables as files: a SQLite database, or a folder with a CSV file for each table.

CSV is RFC 4180 in UTF-8 with a line of column names. Times are ISO 8601, truths 0 or 1; an empty field is
NULL, or empty text in a column that must not be NULL.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, MetaData, Table, create_engine, insert, inspect, select
from sqlalchemy.exc import DatabaseError

from arena.results.database import ResultsError, sqlite_url

Row = Mapping[str, Any]

MOST_ROWS: Final = 50_000_000
_BATCH: Final = 1000
_SQLITE_NAMES: Final = (".sqlite", ".sqlite3", ".db")
_TRUTHS: Final = {"1": True, "-1": True, "true": True, "0": False, "false": False}
_READERS: Final[Mapping[type, Callable[[str], Any]]] = {
    bool: lambda text: _TRUTHS[text.lower()],
    int: int,
    float: lambda text: _finite(float(text)),
    datetime: datetime.fromisoformat,
}


def write_tables(target: Path, metadata: MetaData, contents: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """Write tables to a new SQLite file (by its name: `.sqlite`, `.db`) or else a new folder of CSV files.

    Raises ResultsError if the target exists.
    """
    if target.exists() and (target.suffix in _SQLITE_NAMES or not target.is_dir() or any(target.iterdir())):
        raise ResultsError(f"{target} exists already: nothing was exported; choose another name")
    if target.suffix in _SQLITE_NAMES:
        _write_sqlite(target, metadata, contents)
        return
    target.mkdir(parents=True, exist_ok=True)
    for name, rows in contents:
        _write_csv(target / f"{name}.csv", metadata.tables[name], rows)


def table_names(source: Path) -> set[str]:
    """The tables that a SQLite file or folder has. Raises ResultsError if it is neither."""
    if source.is_dir():
        return {file.stem for file in source.glob("*.csv")}
    if not source.is_file():
        raise ResultsError(f"there is no file or folder {source}")
    try:
        with _connected(source) as connection:
            return set(inspect(connection).get_table_names())
    except DatabaseError as error:
        raise ResultsError(
            f"{source} is neither a SQLite database nor a folder of CSV: {error.orig}"
        ) from error


@contextmanager
def _connected(file: Path) -> Iterator[Connection]:
    engine = create_engine(sqlite_url(file))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def read_table(source: Path, table: Table) -> Iterator[Row]:
    """The rows of a table, values in the types of its columns, in no certain order.

    Raises ResultsError for missing columns and for values that are not of their column's type.
    """
    rows = _read_csv(source / f"{table.name}.csv", table) if source.is_dir() else _read_sqlite(source, table)
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise ResultsError(f"{table.name} has more than {MOST_ROWS} rows")
        yield row


def _write_sqlite(target: Path, metadata: MetaData, contents: Iterable[tuple[str, Iterable[Row]]]) -> None:
    with _connected(target) as connection:
        metadata.create_all(connection)
        for name, rows in contents:
            for batch in batches(rows):
                connection.execute(insert(metadata.tables[name]), batch)


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows, a thousand at a time."""
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _write_csv(path: Path, table: Table, rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        names = [column.name for column in table.columns]
        writer.writerow(names)
        writer.writerows([_text(row[name]) for name in names] for row in rows)


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "1" if value else "0"
        case datetime():
            return value.isoformat()
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)


def _read_sqlite(source: Path, table: Table) -> Iterator[Row]:
    try:
        with _connected(source) as connection:
            have = {column["name"] for column in inspect(connection).get_columns(table.name)}
            _check_columns(str(source), table, have)
            for row in connection.execute(select(table)).mappings():
                for column in table.columns:
                    _check_value(row[column.name], column, f"{source}, table {table.name}")
                yield dict(row)
    except (DatabaseError, ValueError, TypeError) as error:
        raise ResultsError(f"{source}, table {table.name}: can't be read: {error}") from error


def _read_csv(path: Path, table: Table) -> Iterator[Row]:
    try:
        file = path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}") from error
    with file:
        reader = csv.DictReader(file, strict=True)
        try:
            _check_columns(str(path), table, set(reader.fieldnames or ()))
            for row in reader:
                yield {
                    column.name: _value(row[column.name], column, f"{path}, line {reader.line_num}")
                    for column in table.columns
                }
        except (csv.Error, UnicodeDecodeError) as error:
            raise ResultsError(f"{path}, line {reader.line_num}: {error}") from error


def _check_columns(source: str, table: Table, have: set[str]) -> None:
    missing = [column.name for column in table.columns if column.name not in have]
    if missing:
        raise ResultsError(f"{source}: {table.name} has no column {', '.join(missing)}")


def _value(text: str | None, column: Column[Any], place: str) -> Any:
    if text is None:
        raise ResultsError(f"{place}: there is no field for {column.name}")
    read = _READERS.get(column.type.python_type)
    try:
        empty = text == "" and (column.nullable or read is not None)
        value = None if empty else text if read is None else read(text)
    except (ValueError, KeyError):
        raise ResultsError(f"{place}: {column.name} can't be {text!r}") from None
    _check_value(value, column, place)
    return value


def _check_value(value: Any, column: Column[Any], place: str) -> None:
    """Raise ResultsError for an empty key, and for what is no whole number where one is wanted."""
    rule = ""
    if value is None:
        rule = "a key is never empty" if column.primary_key else ""
    elif column.type.python_type is int and not (isinstance(value, int | float) and abs(value) < 1 << 31):
        # As PostgreSQL's have; and new keys are counted on from those that are there.
        rule = "a whole number has 32 bits at most"
    if rule:
        raise ResultsError(f"{place}: {column.name} can't be {value!r}: {rule}; correct it there")


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(number)
    return number
