"""What games have cost: time, CPU and memory, by player and in all; and what players call themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from arena.jobs import Fault
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase


@dataclass(frozen=True)
class PlayerTotals:
    """What a player has used in all its games; None where it is not known in any.

    CPU and wall time are means in seconds a game; the peak of memory, in bytes, is the largest.
    """

    games: int
    cpu_seconds: float | None
    wall_seconds: float
    peak_memory_bytes: int | None


@dataclass(frozen=True)
class LastFault:
    """What a player last did wrong: in which game, of which kind, and what happened."""

    game_id: str
    fault: Fault
    remark: str


@dataclass(frozen=True)
class Duration:
    """When a competition was played, in UTC, and the seconds its games took.

    `total_seconds` has those of void games and of games that were broken off, too.
    """

    first_started: datetime
    last_finished: datetime
    setup_seconds: float
    play_seconds: float
    total_seconds: float


def player_usage(database: ResultsDatabase, series_id: int) -> Mapping[str, PlayerTotals]:
    """What each player has used, by name."""
    seat, player, game = own.SEAT.c, saga.PLAYER.c, own.GAME_DETAIL.c
    query = (
        select(
            seat.Name,
            func.count(),
            func.avg(player.Cpu),
            func.avg(seat.WallSeconds),
            func.max(seat.PeakMemoryBytes),
        )
        .join_from(own.SEAT, own.GAME_DETAIL, game.GameId == seat.GameId)
        .join(saga.PLAYER, (player.GameId == seat.GameId) & (player.PowerId == seat.PowerId))
        .where(game.SeriesId == series_id)
        .group_by(seat.Name)
    )
    with database.transaction() as connection:
        return {
            name: PlayerTotals(int(games), cpu, float(wall), memory)
            for name, games, cpu, wall, memory in connection.execute(query)
        }


def player_descriptions(database: ResultsDatabase, series_id: int) -> Mapping[str, str]:
    """What each player last said it is, at length or else in short."""
    seat, game = own.SEAT.c, own.GAME_DETAIL.c
    last = (
        select(seat.Name, func.max(seat.GameId).label("GameId"))
        .join_from(own.SEAT, own.GAME_DETAIL, game.GameId == seat.GameId)
        .where(game.SeriesId == series_id, (seat.EngineDescription != "") | (seat.EngineName != ""))
        .group_by(seat.Name)
        .subquery()
    )
    query = select(seat.Name, seat.EngineName, seat.EngineDescription).join(
        last, (last.c.GameId == seat.GameId) & (last.c.Name == seat.Name)
    )
    with database.transaction() as connection:
        return {name: long or short for name, short, long in connection.execute(query)}


def last_faults(database: ResultsDatabase, series_id: int) -> Mapping[str, LastFault]:
    """What each player last did wrong, by name, the latest last; players without a fault are not there."""
    seat, game = own.SEAT.c, own.GAME_DETAIL.c
    last = (
        select(seat.Name, func.max(seat.GameId).label("GameId"))
        .join_from(own.SEAT, own.GAME_DETAIL, game.GameId == seat.GameId)
        .where(game.SeriesId == series_id, seat.Fault != Fault.NONE.value)
        .group_by(seat.Name)
        .subquery()
    )
    query = (
        select(seat.Name, game.Name.label("GameName"), seat.Fault, seat.Remark)
        .join_from(own.SEAT, last, (last.c.GameId == seat.GameId) & (last.c.Name == seat.Name))
        .join(own.GAME_DETAIL, game.GameId == seat.GameId)
        .where(seat.Fault != Fault.NONE.value)
        .order_by(seat.GameId)
    )
    with database.transaction() as connection:
        return {
            name: LastFault(game_id, Fault(fault), remark)
            for name, game_id, fault, remark in connection.execute(query)
        }


def duration(database: ResultsDatabase, series_id: int) -> Duration | None:
    """How long the games have taken; None before the first one."""
    game, detail, void = saga.GAME.c, own.GAME_DETAIL.c, own.VOID.c
    query = (
        select(
            func.min(detail.Started),
            func.max(game.Finished),
            func.sum(game.SetupTime),
            func.sum(game.PlayTime),
            func.sum(game.TotalTime),
        )
        .join_from(saga.GAME, own.GAME_DETAIL, game.GameId == detail.GameId)
        .where(detail.SeriesId == series_id)
    )
    # What void attempts took is part of the TotalTime of their game, once that is finished.
    finished = select(detail.GameId).where(detail.SeriesId == void.SeriesId, detail.Name == void.Name)
    lost = select(func.coalesce(func.sum(void.Seconds), 0.0)).where(
        void.SeriesId == series_id, ~finished.exists()
    )
    with database.transaction() as connection:
        row = connection.execute(query).one()
        if row[0] is None:
            return None
        unfinished = float(connection.execute(lost).scalar_one())
    return Duration(row[0], row[1], float(row[2]), float(row[3]), float(row[4]) + unfinished)
