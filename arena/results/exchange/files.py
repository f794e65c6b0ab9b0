"""Tables as files: a SQLite database, or a folder with a CSV file for each table.

CSV is RFC 4180 in UTF-8 with a line of column names. Times are ISO 8601, in UTC where they have no offset,
truths 0 or 1; an empty field is NULL, or empty text in a column that must not be NULL.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Connection, MetaData, Table, create_engine, insert, inspect, select
from sqlalchemy.exc import DatabaseError

from arena.results.database import ResultsError, sqlite_url

Row = Mapping[str, Any]

MOST_ROWS: Final = 50_000_000
# More than the texts of any control file, of which the longest are a player's start-up commands.
_MOST_CHARACTERS: Final = 1 << 26
_BATCH: Final = 1000
_SQLITE_NAMES: Final = (".sqlite", ".sqlite3", ".db")
_TRUTHS: Final = {"1": True, "-1": True, "true": True, "0": False, "false": False}
_READERS: Final[Mapping[type, Callable[[str], Any]]] = {
    bool: lambda text: _TRUTHS[text.lower()],
    int: lambda text: int(_digits(text)),
    float: lambda text: float(_digits(text)),
    datetime: lambda text: _in_utc(datetime.fromisoformat(text)),
}
_RULES: Final = {
    bool: "it must be 0 or 1",
    int: "it must be a whole number",
    float: "it must be a finite number",
    datetime: "it must be a time in ISO 8601",
    str: "it must be text",
}


def write_tables(target: Path, metadata: MetaData, contents: Iterable[tuple[str, Iterable[Row]]]) -> None:
    """Write tables to a new SQLite file (by its name: `.sqlite`, `.db`) or else a new folder of CSV files.

    Raises ResultsError if the target exists, or cannot be made.
    """
    if target.exists() and (target.suffix in _SQLITE_NAMES or not target.is_dir() or any(target.iterdir())):
        raise ResultsError(f"{target} exists already: nothing was exported; choose another name")
    in_sqlite = target.suffix in _SQLITE_NAMES
    try:
        if in_sqlite:
            # SQLite does not say what it could not open, and why.
            target.touch()
        else:
            target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{target}: cannot be written ({error.strerror})") from None
    if in_sqlite:
        _write_sqlite(target, metadata, contents)
        return
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

    Raises ResultsError for missing columns, for values that are not of their column's type, and for a row
    whose key another one has.
    """
    rows = _read_csv(source / f"{table.name}.csv", table) if source.is_dir() else _read_sqlite(source, table)
    names = [column.name for column in table.primary_key.columns]
    keys = set()
    for row in rows:
        key = tuple(row[name] for name in names)
        if key in keys:
            raise ResultsError(
                f"{source}: {table.name} {', '.join(map(str, key))} is there twice; remove one of the rows"
            )
        keys.add(key)
        if len(keys) > MOST_ROWS:
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
                key = ", ".join(f"{column.name} {row[column.name]}" for column in table.primary_key.columns)
                for column in table.columns:
                    _check_value(row[column.name], column, f"{source}, table {table.name}, {key}")
                yield {
                    name: _in_utc(value) if isinstance(value, datetime) else value
                    for name, value in row.items()
                }
    except (DatabaseError, ValueError, TypeError, OverflowError) as error:
        raise ResultsError(f"{source}, table {table.name}: can't be read: {error}") from error


def _read_csv(path: Path, table: Table) -> Iterator[Row]:
    try:
        file = path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise ResultsError(f"{path} can't be read: {error.strerror}") from error
    csv.field_size_limit(_MOST_CHARACTERS)
    with file:
        reader = csv.DictReader(file, strict=True)
        try:
            _check_columns(str(path), table, set(reader.fieldnames or ()))
            for row in reader:
                place = f"{path}, line {reader.line_num}"
                if None in row:
                    raise ResultsError(
                        f"{place}: there are more fields than the {len(reader.fieldnames or ())} columns; "
                        "remove them, or quote the field that has a comma"
                    )
                yield {column.name: _value(row[column.name], column, place) for column in table.columns}
        except (csv.Error, UnicodeDecodeError) as error:
            raise ResultsError(f"{path}, after line {reader.line_num}: {error}; correct it there") from error


def _check_columns(source: str, table: Table, have: set[str]) -> None:
    missing = [column.name for column in table.columns if column.name not in have]
    if missing:
        raise ResultsError(f"{source}: {table.name} has no column {', '.join(missing)}")


def _value(text: str | None, column: Column[Any], place: str) -> Any:
    if text is None:
        raise ResultsError(f"{place}: there is no field for {column.name}")
    read = _READERS.get(column.type.python_type)
    value: Any = text
    if text == "" and (column.nullable or read is not None):
        value = None
    elif read is not None:
        # What can't be read stays text, which the check refuses.
        with suppress(ValueError, KeyError, OverflowError):
            value = read(text)
    _check_value(value, column, place)
    return value


def _check_value(value: Any, column: Column[Any], place: str) -> None:
    """Raise ResultsError for an empty key, and for a value that is not of its column's type."""
    kind, rule = column.type.python_type, ""
    if value is None:
        rule = "a key is never empty" if column.primary_key else ""
    elif not _is_a(kind, value):
        rule = _RULES[kind]
    elif kind is int and abs(value) >= 1 << 31:
        # As PostgreSQL's have; and new keys are counted on from those that are there.
        rule = "a whole number has 32 bits at most"
    if rule:
        shown = repr(value) if len(repr(value)) <= 200 else f"{repr(value)[:200]}..."
        raise ResultsError(f"{place}: {column.name} can't be {shown}: {rule}; correct it there")


def _is_a(kind: type, value: Any) -> bool:
    if kind not in (int, float):
        return isinstance(value, kind)
    # SQLite keeps whole numbers as they are in columns of real ones, and the other way round.
    return isinstance(value, int | float) and math.isfinite(value) and (kind is float or value == int(value))


def _digits(text: str) -> str:
    """The text of a number; Python takes underscores and the digits of other scripts, too."""
    if not set(text) <= set("0123456789+-.eE "):
        raise ValueError(text)
    return text


def _in_utc(time: datetime) -> datetime:
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
