"""Running totals of each player and pair of a competition, so that a table of 100,000 games takes no time.

They change in the transaction that stores a game.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Index, Table, TextClause, text

from arena.jobs import Fault
from arena.results import own_tables as own
from arena.results.games import FinishedGame

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
    players: dict[str, dict[str, Any]] = {}
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    winners = game.outcome.winners
    for seat, name in enumerate(game.players, start=1):
        fault, cpu = game.faults[seat - 1], game.cpu_seconds[seat - 1]
        forfeited = game.is_forfeited_by(seat)
        player = players.setdefault(name, {"SeriesId": series_id, "Name": name, **_nothing(own.STANDING)})
        player[_result(game, game.share(seat))] += 1
        player["Points"] += game.share(seat)
        player["Forfeits"] += forfeited
        player["TimeLosses"] += forfeited and fault is Fault.LATE
        player["Faults"] += fault is not Fault.NONE
        player["CpuSeconds"] += cpu or 0.0
        player["CpuGames"] += cpu is not None
        player["Elo"] = game.elo_after[seat - 1]
        for other, opponent in enumerate(game.players, start=1):
            if opponent != name:
                key = {"SeriesId": series_id, "Name": name, "Opponent": opponent}
                pair = pairs.setdefault((name, opponent), {**key, **_nothing(own.PAIR)})
                won, beaten = seat in winners, other in winners
                pair[_result(game, 0.5 if won == beaten else float(won))] += 1
    _add(connection, own.STANDING, list(players.values()))
    _add(connection, own.PAIR, list(pairs.values()))


def _nothing(table: Table) -> dict[str, Any]:
    return dict.fromkeys(_SUMS[table.name], 0)


def _result(game: FinishedGame, points: float) -> str:
    if not game.outcome.winners:
        return "Unknown"
    return {1.0: "Wins", 0.0: "Losses"}.get(points, "Draws")


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


def make_indexes(connection: Connection) -> None:
    """Make the indexes that tables of earlier versions lack."""
    for table in (own.GAME_DETAIL, own.SEAT, own.RATING):
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            assert isinstance(index, Index)
            index.create(connection, checkfirst=True)
    connection.execute(own.INDEX_OF_FAULTS)
    connection.execute(own.INDEX_OF_WAITING)
