"""Results databases of earlier schema versions brought up to date."""

import json
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Index, inspect, select, text, update
from sqlalchemy.schema import CreateColumn

from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.schema import METADATA
from arena.results.totals import count_totals
from arena.results.views import create_views, drop_views

# The ids of Diplomacy's variants begin so.
_DIPLOMACY: Final = "diplomacy-"
_MOVES: Final = """
SELECT m."GameId", m."Ply", m."Seat", m."Text", m."Seconds", m."Comment", m."Opening", m."ClockSeconds",
  m."ClockStones", m."LegalMoves", m."Interaction", m."Board", v."Seat" AS teller, v."Value"
FROM "ARENA_Move" m
LEFT JOIN "ARENA_MoveValue" v ON v."GameId" = m."GameId" AND v."Ply" = m."Ply"
ORDER BY m."GameId", m."Ply", v."Seat"
"""
# The series of missions that have games, with what the mission says of its series.
_PLAYED_SERIES: Final = """
SELECT DISTINCT c."SeriesId" AS mission, s."Name" AS title, s."Selector" AS selector, g."Matchup" AS name
FROM "ARENA_Competition" c
JOIN "SAGA_Series" s ON s."SeriesId" = c."SeriesId"
JOIN "ARENA_Game" g ON g."SeriesId" = c."SeriesId"
WHERE c."Kind" = 'mars'
ORDER BY 1, 4
"""
# Each takes the games of one series, `:name` of `:mission`, to their own row, `:series`.
_TO_ITS_OWN: Final = (
    """
INSERT INTO "ARENA_Series" ("SeriesId", "MissionId", "Name") VALUES (:series, :mission, :name)
""",
    """
UPDATE "SAGA_Game" SET "SeriesId" = :series WHERE "GameId" IN (
  SELECT "GameId" FROM "ARENA_Game" WHERE "SeriesId" = :mission AND "Matchup" = :name)
""",
    """
INSERT INTO "SAGA_SeriesContestant" ("SeriesId", "ContestantId", "Weight", "Notes")
SELECT :series, "ContestantId", "Weight", "Notes" FROM "SAGA_SeriesContestant" WHERE "SeriesId" = :mission
  AND "ContestantId" IN (SELECT p."ContestantId" FROM "SAGA_Player" p
    JOIN "SAGA_Game" g ON g."GameId" = p."GameId" WHERE g."SeriesId" = :series)
""",
    """
INSERT INTO "SAGA_SeriesSetting" ("SeriesId", "SettingId", "Weight", "Notes")
SELECT :series, "SettingId", "Weight", "Notes" FROM "SAGA_SeriesSetting" WHERE "SeriesId" = :mission
  AND "SettingId" IN (SELECT "SettingId" FROM "SAGA_Game" WHERE "SeriesId" = :series)
""",
)
_INHIBITED: Final = """
INSERT INTO "ARENA_Inhibition" ("ContestantId", "VariantId")
SELECT c."ContestantId", v."VariantId" FROM "SAGA_ClientVariant" v
JOIN "SAGA_Contestant" c ON c."ClientId" = v."ClientId"
JOIN "ARENA_Competitor" r ON r."ContestantId" = c."ContestantId"
JOIN "ARENA_Competition" m ON m."SeriesId" = r."SeriesId"
WHERE v."AutoInhibit" AND r."Current" AND m."Kind" = 'mars'
"""
# Until version 4 a power's code was its seat's number.
_SEATS: Final = """
SELECT s.*, p."PowerId" FROM "ARENA_Seat" s
JOIN "SAGA_Player" p ON p."GameId" = s."GameId"
JOIN "SAGA_Power" w ON w."PowerId" = p."PowerId" AND w."Code" = CAST(s."Seat" AS TEXT)
"""

# For games that were stored before these numbers were.
_COUNT_PLIES: Final = """
UPDATE "ARENA_Game" SET "Plies" = (
  SELECT COUNT(*) FROM "ARENA_Move" m WHERE m."GameId" = "ARENA_Game"."GameId")
"""
# No player chose an opening's moves, and they took no time.
_COUNT_OWN_MOVES: Final = """
UPDATE "ARENA_Seat" SET "OwnMoves" = (
  SELECT COUNT(*) FROM "ARENA_Move" m
  WHERE m."GameId" = "ARENA_Seat"."GameId" AND m."Seat" = "ARENA_Seat"."Seat" AND NOT m."Opening")
"""

_RESULTS: Final = """
UPDATE "ARENA_Seat" SET "Result" = (
  SELECT CASE WHEN COALESCE(g."Winners", 0) = 0 THEN 'unknown' WHEN p."Winner" = 0 THEN 'loss'
    WHEN g."Winners" = 1 THEN 'win' ELSE 'draw' END
  FROM "SAGA_Player" p JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
  WHERE p."GameId" = "ARENA_Seat"."GameId" AND p."PowerId" = "ARENA_Seat"."PowerId")
"""

FIRST_VERSION: Final = 3
"""The earliest version that can be brought up to date."""


def upgrade(connection: Connection, version: int) -> None:
    """Bring a database of an earlier version, from FIRST_VERSION on, up to date."""
    # Views name columns that are yet to be made.
    drop_views(connection)
    METADATA.create_all(connection)
    _add_missing_columns(connection)
    if version < 4:
        _pack_moves_and_split_missions(connection)
    if version < 5:
        _name_powers(connection)
    _make_indexes(connection)
    create_views(connection)
    if version < 6:
        connection.exec_driver_sql(_COUNT_PLIES)
    if version < 8:
        connection.exec_driver_sql(_COUNT_OWN_MOVES)
    if version < 9:
        connection.exec_driver_sql(_RESULTS)
        count_totals(connection)
    connection.execute(update(own.META).filter_by(Key="schema_version").values(Value=str(own.SCHEMA_VERSION)))


def _make_indexes(connection: Connection) -> None:
    """Make the indexes that tables of earlier versions lack."""
    for table in (own.GAME_DETAIL, own.SEAT, own.RATING):
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            assert isinstance(index, Index)
            index.create(connection, checkfirst=True)
    connection.execute(own.INDEX_OF_FAULTS)
    connection.execute(own.INDEX_OF_WAITING)


def _add_missing_columns(connection: Connection) -> None:
    """Add the columns that came later, where a row can be without a value of its own."""
    for table in METADATA.sorted_tables:
        known = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in known and (column.nullable or column.server_default is not None):
                definition = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f'ALTER TABLE "{table.name}" ADD COLUMN {definition}')


def _pack_moves_and_split_missions(connection: Connection) -> None:
    """A game's moves become one value, a mission's series rows of their own, inhibitions a competition's."""
    for game_id, moves in _moves_by_game(connection):
        connection.execute(
            text('UPDATE "ARENA_Game" SET "Moves" = :moves WHERE "GameId" = :game'),
            {"game": game_id, "moves": json.dumps(moves, separators=(",", ":"))},
        )
    for table in ("ARENA_MoveValue", "ARENA_Move"):
        connection.exec_driver_sql(f'DROP TABLE "{table}"')
    for row in connection.execute(text(_PLAYED_SERIES)).all():
        _split_off(connection, row)
    of_missions = 'IN (SELECT "MissionId" FROM "ARENA_Series")'
    connection.exec_driver_sql(f'DELETE FROM "SAGA_SeriesSetting" WHERE "SeriesId" {of_missions}')
    connection.execute(text(_INHIBITED))


def _moves_by_game(connection: Connection) -> Iterator[tuple[int, list[list[Any]]]]:
    rows = connection.execute(text(_MOVES)).mappings()
    for game_id, of_game in groupby(rows, itemgetter("GameId")):
        yield game_id, [_pack_move(list(of_move)) for _, of_move in groupby(of_game, itemgetter("Ply"))]


def _pack_move(rows: list[Any]) -> list[Any]:
    """A move from its rows, one for each value that was reported with it."""
    move = rows[0]
    values = {row["teller"]: row["Value"] for row in rows if row["teller"] is not None}
    packed = [
        *(move["Seat"], move["Text"], move["Seconds"], values or None, move["Comment"] or None),
        *(1 if move["Opening"] else None, move["ClockSeconds"], move["ClockStones"], move["LegalMoves"]),
        *(None if move["Interaction"] is None else bool(move["Interaction"]), move["Board"]),
    ]
    while packed[-1] is None:
        packed.pop()
    return packed


def _split_off(connection: Connection, row: Any) -> None:
    match = re.search(rf"(?:^mars |; ){re.escape(row.name)}: ([^;]+)", row.selector)
    series = connection.execute(
        text(
            'INSERT INTO "SAGA_Series" ("Name", "State", "Weight", "Pure", "Selector", "Notes")'
            """ VALUES (:name, 1, 1.0, :pure, :selector, '') RETURNING "SeriesId" """
        ),
        {"name": f"{row.title}/{row.name}", "pure": True, "selector": match[1] if match else "~"},
    ).scalar_one()
    for statement in _TO_ITS_OWN:
        # Not every statement has all of the names.
        known = {"series": series, "mission": row.mission, "name": row.name}
        connection.execute(text(statement), {key: known[key] for key in known if f":{key}" in statement})


def _name_powers(connection: Connection) -> None:
    """Seats name their power, and powers are called by their token names."""
    # SQLite can't add a column that must not be empty.
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE seat AS {_SEATS}")
    connection.exec_driver_sql('DROP TABLE "ARENA_Seat"')
    own.SEAT.create(connection)
    columns = ", ".join(f'"{column.name}"' for column in own.SEAT.columns)
    connection.exec_driver_sql(f'INSERT INTO "ARENA_Seat" ({columns}) SELECT {columns} FROM seat')
    connection.exec_driver_sql("DROP TABLE seat")
    name_numbered_powers(connection)


def name_numbered_powers(connection: Connection) -> None:
    """Give the powers that an earlier release called by their seat's number the token names they have now."""
    query = select(saga.POWER, saga.VARIANT.c.Name.label("Variant")).join(saga.VARIANT)
    by_variant: dict[int, list[Any]] = {}
    for row in connection.execute(query):
        by_variant.setdefault(row.VariantId, []).append(row)
    for powers in by_variant.values():
        codes = {row.PowerId: _code(row) for row in powers}
        if len({*codes.values()}) == len(powers):
            for key, code in codes.items():
                connection.execute(update(saga.POWER).filter_by(PowerId=key).values(Code=code))


def _code(row: Any) -> str:
    if not is_numbered(row.Code) or not row.Name:
        return str(row.Code)
    return row.Name[:3].upper() if row.Variant.startswith(_DIPLOMACY) else str(row.Name)


def is_numbered(code: str) -> bool:
    """Whether a power's code is a seat's number, as earlier releases wrote it."""
    return code.isdecimal()
