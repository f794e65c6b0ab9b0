"""Views of the results database: results, standings, moves, SAGA 1.0's tables, and DAIDE's scores.

`arena_results` has a row for each game and player, `arena_standings` one for each competition and player:
what people ask most. Their names are of small letters, so that no database wants them in quotes. The score
is the player's share of the win; `elo_before` and `elo_after` are live Elo, NULL in a tuner's games;
`opponent` names all others.
What a tuner's candidates, a game or two each, come to is in its report: they are in no standings.

`ARENA_Move` and `ARENA_MoveValue` have a row for each move, and for each expected value that was reported
with it; they are taken from the packed moves of `ARENA_Game`. `LegalMoves`, `Interaction` and `Board` are
NULL where ACADEMY is not in use; `ClockSeconds` and `ClockStones` are left on the mover's clock afterwards,
NULL without one; `Opening` marks moves that were given, not chosen.

`ARENA_Score` gives each player's score of a game: what its winners share of a pot into which every
seat pays one, less the stake; games without a result return it.

`Dip_Bot`, `Dip_Game`, `Dip_Player`, `Dip_Power` and `Dip_Variant` are SAGA's old format. A bot is a
contestant, a tournament a series, `Kill` the stasis limit. SAGA 1.0 does not say who won: its readers
take the player with more than half of `MaxSC` for a soloist, and in draws those without `Years` for
winners. So that this is true of any game, `MaxSC` is the number of the variant's supply centres; in
variants that have no fixed number of them a win is the only centre (`MaxSC` 1), and losing is being
eliminated at the end.

Strength, Tenacity and Fitness are moving averages of a bot within its tournament, those after the
game: each game moves them by a tenth towards what the bot took of a pot shared by the game's leaders,
survivors and winners; all begin with 1 (see `arena.ratings.moving_averages`).
"""

from typing import Final

from sqlalchemy import Connection, inspect


def _rated(elo: str) -> str:
    """Nobody is rated by games against a tuner's candidates."""
    return f"CASE WHEN k.\"Kind\" NOT IN ('mc_tuner', 'ce_tuner') THEN {elo} END"


_PLAYED: Final = f"""
SELECT c."Name" AS competition, k."Kind" AS kind, g."GameId" AS number, g."Name" AS game,
  g."Matchup" AS matchup, a."Finished" AS date, s."Name" AS name, s."Seat" AS seat, w."Name" AS side,
  CAST(CASE WHEN a."Winners" > 0 THEN 1.0 * p."Winner" / a."Winners" END AS DOUBLE PRECISION) AS score,
  CASE WHEN a."Winners" = 0 THEN 'unknown' WHEN p."Winner" = 0 THEN 'loss'
       WHEN a."Winners" = 1 THEN 'win' ELSE 'draw' END AS result,
  p."Supplies" AS points, g."Summary" AS summary, g."Termination" AS termination, g."Detail" AS detail,
  s."Fault" AS fault, s."Remark" AS remark, {_rated('r."EloBefore"')} AS elo_before,
  {_rated('r."EloAfter"')} AS elo_after,
  g."Plies" AS plies, s."OwnMoves" AS own_moves, s."WallSeconds" AS seconds, p."Cpu" AS cpu_seconds,
  s."Clock" AS clock,
  g."OpeningNumber" || CASE WHEN g."OpeningName" = '' THEN '' ELSE ' ' || g."OpeningName" END AS opening,
  g."OpeningFile" AS opening_file, g."OpeningNumber" AS opening_number
FROM "ARENA_Seat" s
JOIN "ARENA_Game" g ON g."GameId" = s."GameId"
JOIN "SAGA_Game" a ON a."GameId" = s."GameId"
JOIN "SAGA_Series" c ON c."SeriesId" = g."SeriesId"
JOIN "ARENA_Competition" k ON k."SeriesId" = g."SeriesId"
JOIN "SAGA_Player" p ON p."GameId" = s."GameId" AND p."PowerId" = s."PowerId"
JOIN "SAGA_Power" w ON w."PowerId" = s."PowerId"
JOIN "ARENA_Rating" r ON r."GameId" = s."GameId" AND r."Seat" = s."Seat"
"""

_RESULTS: Final = f"""
SELECT competition, number, game, matchup, date, name,
  (SELECT %s) AS opponent,
  seat, side, score, result, points, summary, termination, detail, fault, remark, elo_before, elo_after,
  plies, own_moves, seconds, cpu_seconds, clock, opening, opening_file, opening_number
FROM ({_PLAYED}) AS played
"""
_OPPONENTS: Final = {
    "sqlite": """GROUP_CONCAT(o."Name", ', ') FROM (SELECT "Name" FROM "ARENA_Seat"
    WHERE "GameId" = played.number AND "Seat" <> played.seat ORDER BY "Seat") o""",
    "postgresql": """STRING_AGG(o."Name", ', ' ORDER BY o."Seat") FROM "ARENA_Seat" o
    WHERE o."GameId" = played.number AND o."Seat" <> played.seat""",
}

_STANDINGS: Final = f"""
SELECT competition, name, COUNT(*) AS games,
  SUM(CASE WHEN result = 'win' THEN 1 ELSE 0 END) AS wins,
  SUM(CASE WHEN result = 'draw' THEN 1 ELSE 0 END) AS draws,
  SUM(CASE WHEN result = 'loss' THEN 1 ELSE 0 END) AS losses,
  SUM(CASE WHEN result = 'unknown' THEN 1 ELSE 0 END) AS unknown,
  COALESCE(SUM(score), 0.0) AS points,
  SUM(CASE WHEN result = 'loss' AND termination = 'forfeit' THEN 1 ELSE 0 END) AS forfeits,
  SUM(CASE WHEN result = 'loss' AND termination = 'forfeit' AND fault = 'late' THEN 1 ELSE 0 END)
    AS time_losses,
  SUM(CASE WHEN fault <> 'none' THEN 1 ELSE 0 END) AS faults,
  MAX(CASE WHEN latest = 1 THEN elo_after END) AS elo
FROM (SELECT played.*,
    ROW_NUMBER() OVER (PARTITION BY competition, name ORDER BY number DESC, seat DESC) AS latest
  FROM ({_PLAYED}) AS played
  WHERE kind NOT IN ('mc_tuner', 'ce_tuner') OR REPLACE(name, '#', '') = name) AS numbered
GROUP BY competition, name
"""

_SCORE: Final = """
SELECT p."GameId", p."PowerId",
  CASE WHEN g."Winners" = 0 THEN 0.0
       WHEN p."Winner" = 1 THEN 1.0 * v."Powers" / g."Winners" - 1.0
       ELSE -1.0 END AS "Score"
FROM "SAGA_Player" p
JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
"""

_BOT: Final = """
SELECT c."ContestantId" AS "Id",
  l."Family" || CASE WHEN l."Release" = '' THEN '' ELSE ' ' || l."Release" END
    || CASE WHEN c."Personality" = '' THEN '' ELSE '~' || c."Personality" END AS "Name",
  CASE WHEN l."Name" = '' THEN l."Family" ELSE l."Name" END
    || CASE WHEN l."Version" = '' THEN '' ELSE ' ' || l."Version" END AS "Title"
FROM "SAGA_Contestant" c
JOIN "SAGA_Client" l ON l."ClientId" = c."ClientId"
"""

_GAME: Final = """
SELECT g."GameId" AS "Id", e."Name" AS "Tournament", g."Finished", g."SetupTime", g."PlayTime", g."TotalTime",
  g."Years", g."Survivors", g."Leaders", g."Winners", COALESCE(v."Supplies", 1) AS "MaxSC",
  s."VariantId" AS "Variant", s."Level", s."SL" AS "Kill", s."PTL", s."MTL", s."RTL", s."BTL",
  s."AOA", s."NPR", s."NPB"
FROM "SAGA_Game" g
JOIN "SAGA_Series" e ON e."SeriesId" = g."SeriesId"
JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
"""

_PLAYER: Final = """
WITH RECURSIVE play AS (
  SELECT g."SeriesId" AS series, p."ContestantId" AS bot, p."GameId" AS game, p."PowerId" AS power,
    CASE WHEN v."Supplies" IS NULL THEN p."Winner" ELSE p."Supplies" END AS sc,
    CASE WHEN p."Elimination" IS NOT NULL THEN p."Elimination"
         WHEN v."Supplies" IS NULL AND p."Winner" = 0 AND g."Winners" > 0 THEN g."Years" END AS years,
    p."Winner" AS won,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" = g."MaxSupplies" THEN 1 ELSE 0 END AS led,
    CASE WHEN g."MaxSupplies" IS NULL THEN p."Winner"
         WHEN p."Supplies" > 0 THEN 1 ELSE 0 END AS survived,
    CASE WHEN g."Winners" = 0 THEN 0 ELSE 1 END AS decided,
    ROW_NUMBER() OVER (PARTITION BY g."SeriesId", p."ContestantId" ORDER BY p."GameId", p."PowerId") AS number
  FROM "SAGA_Player" p
  JOIN "SAGA_Game" g ON g."GameId" = p."GameId"
  JOIN "SAGA_Setting" s ON s."SettingId" = g."SettingId"
  JOIN "SAGA_Variant" v ON v."VariantId" = s."VariantId"
), taken AS MATERIALIZED (
  SELECT series, bot, game, power, sc, years, number, decided,
    1.0 * led * COUNT(*) OVER pot / NULLIF(SUM(led) OVER pot, 0) AS leader,
    1.0 * survived * COUNT(*) OVER pot / NULLIF(SUM(survived) OVER pot, 0) AS survivor,
    1.0 * won * COUNT(*) OVER pot / NULLIF(SUM(won) OVER pot, 0) AS winner
  FROM play WINDOW pot AS (PARTITION BY game)
), averages AS (
  SELECT series, bot, CAST(0 AS BIGINT) AS number, CAST(1.0 AS DOUBLE PRECISION) AS strength,
    CAST(1.0 AS DOUBLE PRECISION) AS tenacity, CAST(1.0 AS DOUBLE PRECISION) AS fitness
  FROM taken WHERE number = 1
  UNION ALL
  SELECT a.series, a.bot, t.number,
    CASE WHEN t.decided = 0 THEN a.strength ELSE 0.9 * a.strength + 0.1 * t.leader END,
    CASE WHEN t.decided = 0 THEN a.tenacity ELSE 0.9 * a.tenacity + 0.1 * t.survivor END,
    CASE WHEN t.decided = 0 THEN a.fitness ELSE 0.9 * a.fitness + 0.1 * t.winner END
  FROM averages a JOIN taken t ON t.series = a.series AND t.bot = a.bot AND t.number = a.number + 1
)
SELECT t.game AS "Game", t.power AS "Power", t.bot AS "Bot", t.sc AS "SC", t.years AS "Years",
  a.strength AS "Strength", a.tenacity AS "Tenacity", a.fitness AS "Fitness"
FROM taken t
JOIN averages a ON a.series = t.series AND a.bot = t.bot AND a.number = t.number
"""

_POWER: Final = """
SELECT "PowerId" AS "Id", "VariantId" AS "Variant", "Code" FROM "SAGA_Power"
"""

_VARIANT: Final = """
SELECT "VariantId" AS "Id", "Name", "Powers", "Supplies" AS "SC", "FirstYear" AS "Year0",
  "FirstSeason" AS "Season0"
FROM "SAGA_Variant"
"""

# The places of a move's columns, in braces, are those of `arena.results.game_rows`.
_MOVE_COLUMNS: Final = """
  CAST({0} AS INTEGER) AS "Seat", {1} AS "Text", CAST({2} AS DOUBLE PRECISION) AS "Seconds",
  CAST({8} AS INTEGER) AS "LegalMoves", CAST({9} AS BOOLEAN) AS "Interaction", {10} AS "Board",
  COALESCE({4}, '') AS "Comment", CAST({6} AS DOUBLE PRECISION) AS "ClockSeconds",
  CAST({7} AS INTEGER) AS "ClockStones", {5} IS NOT NULL AS "Opening"
"""
_MOVES: Final = {
    "sqlite": f"""
SELECT g."GameId", m.key + 1 AS "Ply",
{_MOVE_COLUMNS.format(*(f"json_extract(m.value, '$[{place}]')" for place in range(11)))}
FROM "ARENA_Game" g, json_each(g."Moves") m
""",
    "postgresql": f"""
SELECT g."GameId", m.ply AS "Ply",
{_MOVE_COLUMNS.format(*(f"(m.value ->> {place})" for place in range(11)))}
FROM "ARENA_Game" g CROSS JOIN LATERAL json_array_elements(g."Moves"::json) WITH ORDINALITY AS m (value, ply)
""",
}
_MOVE_VALUES: Final = {
    "sqlite": """
SELECT g."GameId", m.key + 1 AS "Ply", CAST(v.key AS INTEGER) AS "Seat", v.value AS "Value"
FROM "ARENA_Game" g, json_each(g."Moves") m, json_each(m.value, '$[3]') v
WHERE v.type <> 'null'
""",
    "postgresql": """
SELECT g."GameId", m.ply AS "Ply", v.key::int AS "Seat", v.value::float AS "Value"
FROM "ARENA_Game" g CROSS JOIN LATERAL json_array_elements(g."Moves"::json) WITH ORDINALITY AS m (value, ply)
CROSS JOIN LATERAL json_each_text(CASE json_typeof(m.value -> 3) WHEN 'object' THEN m.value -> 3 END) v
""",
}

VIEWS: Final = {
    "arena_standings": _STANDINGS,
    "ARENA_Score": _SCORE,
    "Dip_Bot": _BOT,
    "Dip_Game": _GAME,
    "Dip_Player": _PLAYER,
    "Dip_Power": _POWER,
    "Dip_Variant": _VARIANT,
}
BY_DIALECT: Final = {
    "arena_results": {dialect: _RESULTS % others for dialect, others in _OPPONENTS.items()},
    "ARENA_Move": _MOVES,
    "ARENA_MoveValue": _MOVE_VALUES,
}


def create_views(connection: Connection) -> None:
    """Make all views in a database that has the tables."""
    dialect = connection.dialect.name
    queries = {**VIEWS, **{name: by_dialect[dialect] for name, by_dialect in BY_DIALECT.items()}}
    for name, query in queries.items():
        connection.exec_driver_sql(f'CREATE VIEW "{name}" AS {query}')


def drop_views(connection: Connection) -> None:
    """Remove all views that there are of ours."""
    for name in set(inspect(connection).get_view_names()) & {*VIEWS, *BY_DIALECT}:
        connection.exec_driver_sql(f'DROP VIEW "{name}"')
