"""Running totals of each player and pair of a competition, so that a table of 100,000 games takes no time.

They change in the transaction that stores a game.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Table, TextClause, text

from arena.ratings.elo import EloRules
from arena.results import own_tables as own
from arena.results.games import FinishedGame
from arena.results.standings import Score, Standings

_Row = Mapping[str, Any]
_RESULT: Final = ("Wins", "Draws", "Losses", "Unknown")
# What a game adds, of each kind of row; `Elo` is set.
_SUMS: Final = {
    own.STANDING.name: (*_RESULT, "Points", "Forfeits", "TimeLosses", "Faults", "CpuSeconds", "CpuGames"),
    own.PAIR.name: _RESULT,
}
_KEYS: Final = {own.STANDING.name: ("SeriesId", "Name"), own.PAIR.name: ("SeriesId", "Name", "Opponent")}


def add_to_totals(connection: Connection, series_id: int, game: FinishedGame) -> None:
    """Count a game that has been stored in this transaction."""
    counted = Standings((), EloRules(), [game])
    players = [
        {
            "SeriesId": series_id,
            "Name": player.name,
            **_results(player.score),
            "Points": player.points,
            "Forfeits": player.forfeits,
            "TimeLosses": player.time_losses,
            "Faults": player.fault_games,
            "CpuSeconds": player.cpu_seconds,
            "CpuGames": player.cpu_games,
            "Elo": player.elo,
        }
        for player in counted.table()
    ]
    pairs = [
        {"SeriesId": series_id, "Name": name, "Opponent": opponent, **_results(score)}
        for (name, opponent), score in counted.pairs.items()
    ]
    _add(connection, own.STANDING, players)
    _add(connection, own.PAIR, pairs)


def _results(score: Score) -> dict[str, int]:
    return dict(zip(_RESULT, (score.wins, score.draws, score.losses, score.unknown), strict=True))


def _add(connection: Connection, table: Table, rows: Sequence[_Row]) -> None:
    if rows:
        connection.execute(_ADDITIONS[table.name], rows)


def _addition(table: Table) -> TextClause:
    """Adds to the sums of a row, or adds the row: SQLite and PostgreSQL write it alike."""
    columns = [column.name for column in table.columns]
    changes = [f'"{name}" = "{table.name}"."{name}" + excluded."{name}"' for name in _SUMS[table.name]]
    if "Elo" in columns:
        changes.append('"Elo" = excluded."Elo"')
    values = ", ".join(f":{name}" for name in columns)
    return text(
        f'INSERT INTO "{table.name}" ({_quoted(columns)}) VALUES ({values}) '
        f"ON CONFLICT ({_quoted(_KEYS[table.name])}) DO UPDATE SET {', '.join(changes)}"
    )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


_ADDITIONS: Final = {table.name: _addition(table) for table in (own.STANDING, own.PAIR)}

_WINNERS: Final = 'SELECT "GameId", SUM("Winner") AS winners FROM "SAGA_Player" GROUP BY "GameId"'
_COUNT_STANDINGS: Final = f"""
INSERT INTO "ARENA_Standing" ("SeriesId", "Name", "Wins", "Draws", "Losses", "Unknown", "Points", "Forfeits",
  "TimeLosses", "Faults", "CpuSeconds", "CpuGames", "Elo")
SELECT g."SeriesId", s."Name",
  SUM(CASE WHEN p."Winner" = 1 AND w.winners = 1 THEN 1 ELSE 0 END),
  SUM(CASE WHEN p."Winner" = 1 AND w.winners > 1 THEN 1 ELSE 0 END),
  SUM(CASE WHEN p."Winner" = 0 AND w.winners > 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN w.winners = 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN p."Winner" = 1 THEN 1.0 / w.winners ELSE 0.0 END),
  SUM(CASE WHEN g."Termination" = 'forfeit' AND p."Winner" = 0 AND w.winners > 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN g."Termination" = 'forfeit' AND p."Winner" = 0 AND w.winners > 0 AND s."Fault" = 'late'
    THEN 1 ELSE 0 END),
  SUM(CASE WHEN s."Fault" <> 'none' THEN 1 ELSE 0 END),
  COALESCE(SUM(p."Cpu"), 0.0), COUNT(p."Cpu"),
  (SELECT r."EloAfter" FROM "ARENA_Rating" r JOIN "ARENA_Game" h ON h."GameId" = r."GameId"
    WHERE r."Name" = s."Name" AND h."SeriesId" = g."SeriesId" ORDER BY r."GameId" DESC, r."Seat" DESC LIMIT 1)
FROM "ARENA_Game" g
JOIN "ARENA_Seat" s ON s."GameId" = g."GameId"
JOIN "SAGA_Player" p ON p."GameId" = s."GameId" AND p."PowerId" = s."PowerId"
JOIN ({_WINNERS}) w ON w."GameId" = g."GameId"
GROUP BY g."SeriesId", s."Name"
"""
_COUNT_PAIRS: Final = f"""
INSERT INTO "ARENA_Pair" ("SeriesId", "Name", "Opponent", "Wins", "Draws", "Losses", "Unknown")
SELECT g."SeriesId", s."Name", t."Name",
  SUM(CASE WHEN p."Winner" > q."Winner" THEN 1 ELSE 0 END),
  SUM(CASE WHEN p."Winner" = q."Winner" AND w.winners > 0 THEN 1 ELSE 0 END),
  SUM(CASE WHEN p."Winner" < q."Winner" THEN 1 ELSE 0 END),
  SUM(CASE WHEN w.winners = 0 THEN 1 ELSE 0 END)
FROM "ARENA_Game" g
JOIN "ARENA_Seat" s ON s."GameId" = g."GameId"
JOIN "SAGA_Player" p ON p."GameId" = s."GameId" AND p."PowerId" = s."PowerId"
JOIN "ARENA_Seat" t ON t."GameId" = g."GameId" AND t."Name" <> s."Name"
JOIN "SAGA_Player" q ON q."GameId" = t."GameId" AND q."PowerId" = t."PowerId"
JOIN ({_WINNERS}) w ON w."GameId" = g."GameId"
GROUP BY g."SeriesId", s."Name", t."Name"
"""


def count_totals(connection: Connection) -> None:
    """Count all games of a database, whose totals are not counted yet or wrong."""
    for table in (own.STANDING, own.PAIR):
        connection.execute(table.delete())
    for statement in (_COUNT_STANDINGS, _COUNT_PAIRS):
        connection.exec_driver_sql(statement)
