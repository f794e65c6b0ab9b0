"""Results databases of earlier schema versions brought up to date, version by version."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, inspect, select, text, update

from arena.results import schema as saga
from arena.results.own_tables import EXCLUSION, FIRST_RATING, SEAT
from arena.results.schema import METADATA

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

_NEW_IN_6: Final = {
    "ARENA_Game": {
        "Plies": "INTEGER NOT NULL DEFAULT '0'",
        "OpeningFile": "TEXT",
        "OpeningNumber": "INTEGER",
        "OpeningName": "TEXT",
    },
    "ARENA_Seat": {"Clock": "TEXT"},
}
_SINCE_5: Final = frozenset({*_NEW_IN_6["ARENA_Seat"], "OwnMoves"})
_COUNT_PLIES: Final = {
    "sqlite": """UPDATE "ARENA_Game" SET "Plies" = json_array_length("Moves")""",
    "postgresql": """UPDATE "ARENA_Game" SET "Plies" = json_array_length("Moves"::json)""",
}

# Openings' moves are no player's own, and took no time.
_COUNT_OWN_MOVES: Final = {
    "sqlite": """UPDATE "ARENA_Seat" SET "OwnMoves" = (
      SELECT COUNT(*) FROM "ARENA_Game" g, json_each(g."Moves") m WHERE g."GameId" = "ARENA_Seat"."GameId"
        AND json_extract(m.value, '$[0]') = "ARENA_Seat"."Seat" AND json_extract(m.value, '$[5]') IS NULL)""",
    "postgresql": """UPDATE "ARENA_Seat" SET "OwnMoves" = (
      SELECT COUNT(*) FROM "ARENA_Game" g CROSS JOIN LATERAL json_array_elements(g."Moves"::json) AS m (value)
      WHERE g."GameId" = "ARENA_Seat"."GameId"
        AND (m.value ->> 0)::int = "ARENA_Seat"."Seat" AND m.value ->> 5 IS NULL)""",
}


def _from_3(connection: Connection) -> None:
    """A game's moves become one value, a mission's series rows of their own, inhibitions a competition's."""
    connection.exec_driver_sql("""ALTER TABLE "ARENA_Game" ADD COLUMN "Moves" TEXT NOT NULL DEFAULT '[]'""")
    for game_id, moves in _moves_by_game(connection):
        connection.execute(
            text('UPDATE "ARENA_Game" SET "Moves" = :moves WHERE "GameId" = :game'),
            {"game": game_id, "moves": json.dumps(moves, separators=(",", ":"))},
        )
    for table in ("ARENA_MoveValue", "ARENA_Move"):
        connection.exec_driver_sql(f'DROP TABLE "{table}"')
    METADATA.create_all(connection)
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


def _from_4(connection: Connection) -> None:
    """Seats name their power, and powers are called by their token names."""
    # SQLite can't add a column that must not be empty.
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE seat AS {_SEATS}")
    connection.exec_driver_sql('DROP TABLE "ARENA_Seat"')
    SEAT.create(connection)
    # The table is made as it is now, with columns that later steps would add.
    columns = ", ".join(f'"{column.name}"' for column in SEAT.columns if column.name not in _SINCE_5)
    connection.exec_driver_sql(f'INSERT INTO "ARENA_Seat" ({columns}) SELECT {columns} FROM seat')
    connection.exec_driver_sql("DROP TABLE seat")
    name_numbered_powers(connection)


def _add_first_ratings(connection: Connection) -> None:
    """Store with which Elo players began; for players with games it is known from their first."""
    FIRST_RATING.create(connection, checkfirst=True)


def _from_5(connection: Connection) -> None:
    """Add a game's opening and number of moves, and a seat's clock; earlier games have none of them."""
    for table, columns in _NEW_IN_6.items():
        _add_columns(connection, table, columns)
    connection.exec_driver_sql(_COUNT_PLIES[connection.dialect.name])
    _add_first_ratings(connection)


def _add_columns(connection: Connection, table: str, columns: Mapping[str, str]) -> None:
    """Add those columns, by name with their SQL types, that the table has not got."""
    known = {column["name"] for column in inspect(connection).get_columns(table)}
    for name, kind in columns.items():
        if name not in known:
            connection.exec_driver_sql(f'ALTER TABLE "{table}" ADD COLUMN "{name}" {kind}')


def _from_6(connection: Connection) -> None:
    """Add the table of exclusions, which is empty: earlier releases left out no player."""
    EXCLUSION.create(connection, checkfirst=True)


def _from_7(connection: Connection) -> None:
    """Seats store how many moves their time was for; in earlier games without a move that lost on time."""
    _add_columns(connection, "ARENA_Seat", {"OwnMoves": "INTEGER NOT NULL DEFAULT '0'"})
    connection.exec_driver_sql(_COUNT_OWN_MOVES[connection.dialect.name])


MIGRATIONS: Final[Mapping[int, Callable[[Connection], None]]] = {
    3: _from_3,
    4: _from_4,
    5: _from_5,
    6: _from_6,
    7: _from_7,
}
"""What brings a database from one version to the next."""


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
