"""What games have cost: time, CPU and memory, by player and in all; and what players call themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select

from arena.jobs import Fault
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.exclusions import Exclusion, exclusions, inhibited
from arena.results.first_ratings import FirstRating, elo_before_first_games, read_first_ratings
from arena.results.game_settings import game_of
from arena.results.games import FinishedGame
from arena.results.outbox import Outbox
from arena.results.registration import CompetitionTerms, competition_terms, find_competition
from referees.api import Outcome, Termination


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
    """Each player's last description of itself, at length or else in short."""
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


@dataclass(frozen=True)
class UnreportedContest:
    """A contest that ACADEMY may hold open: as it was opened, and the report that waits, or None."""

    contest_id: str
    contest: bytes
    report: bytes | None


@dataclass(frozen=True)
class StoredRecord:
    """A game's record file: its id, content and extension."""

    game_id: str
    content: str
    extension: str


class SeriesReader:
    """What is known of a competition. Reading works while it runs."""

    def __init__(self, database: ResultsDatabase, series_id: int) -> None:
        self._database = database
        self._series_id = series_id
        self.outbox = Outbox(database, series_id)

    @classmethod
    def find(cls, database: ResultsDatabase, name: str) -> "SeriesReader":
        """The competition of a name. Raises ResultsError if it has not been run."""
        with database.transaction() as connection:
            return SeriesReader(database, find_competition(connection, name))

    def terms(self) -> CompetitionTerms:
        """What the competition was when it began."""
        with self._database.transaction() as connection:
            return competition_terms(connection, self._series_id)

    def finished_games(self) -> Iterator[FinishedGame]:
        """All games that count, in the order in which they were finished."""
        detail, player, rating, seat = own.GAME_DETAIL.c, saga.PLAYER.c, own.RATING.c, own.SEAT.c
        columns = (
            detail.GameId,
            detail.Name.label("GameName"),
            detail.Matchup,
            detail.Summary,
            detail.Detail,
            detail.Termination,
            own.ATTEMPT.c.Detail.label("Selection"),
            rating.Name,
            rating.EloBefore,
            rating.EloAfter,
            player.Winner,
            player.Supplies,
            player.Elimination,
            player.Cpu,
            seat.Fault,
            saga.GAME.c.Years,
            saga.VARIANT.c.FirstYear,
            saga.SETTING.c.Notes.label("Setting"),
        )
        query = (
            select(*columns)
            .join_from(own.GAME_DETAIL, own.RATING, detail.GameId == rating.GameId)
            .join(own.SEAT, (seat.GameId == rating.GameId) & (seat.Seat == rating.Seat))
            .join(saga.PLAYER, (player.GameId == seat.GameId) & (player.PowerId == seat.PowerId))
            .join(saga.GAME, saga.GAME.c.GameId == detail.GameId)
            .join(saga.SETTING, saga.SETTING.c.SettingId == saga.GAME.c.SettingId)
            .join(saga.VARIANT, saga.VARIANT.c.VariantId == saga.SETTING.c.VariantId)
            .join(own.ATTEMPT, own.ATTEMPT.c.ContestId == detail.ContestId)
            .where(detail.SeriesId == self._series_id)
            .order_by(detail.GameId, rating.Seat)
        )
        with self._database.transaction() as connection:
            rows: list[Any] = []
            for row in connection.execute(query):
                if rows and rows[-1].GameId != row.GameId:
                    yield _finished(rows)
                    rows = []
                rows.append(row)
            if rows:
                yield _finished(rows)

    def inhibited(self) -> set[tuple[str, str]]:
        """The competitors that were inhibited, each with the variant."""
        with self._database.transaction() as connection:
            return inhibited(connection, self._series_id)

    def first_ratings(self) -> dict[str, FirstRating]:
        """What players began with, by name, as far as it is kept."""
        with self._database.transaction() as connection:
            return read_first_ratings(connection, self._series_id)

    def elo_before_first_games(self) -> dict[str, float]:
        """The Elo of all who have finished games, as it was before the first of them."""
        with self._database.transaction() as connection:
            return elo_before_first_games(connection, self._series_id)

    def exclusions(self) -> list[Exclusion]:
        """The players and matchups that were left out, in that order; some may have been let in again."""
        with self._database.transaction() as connection:
            return exclusions(connection, self._series_id)

    def records(self) -> Iterator[StoredRecord]:
        """The record files of all games that count."""
        detail = own.GAME_DETAIL.c
        query = select(detail.Name, detail.Record, detail.RecordExtension).filter_by(SeriesId=self._series_id)
        with self._database.transaction() as connection:
            for row in connection.execute(query.order_by(detail.GameId)):
                yield StoredRecord(*row)

    def player_usage(self) -> Mapping[str, PlayerTotals]:
        """What each player has used, by name."""
        return player_usage(self._database, self._series_id)

    def player_descriptions(self) -> Mapping[str, str]:
        """Each player's last description of itself."""
        return player_descriptions(self._database, self._series_id)

    def last_faults(self) -> Mapping[str, LastFault]:
        """What each player last did wrong, for those that did."""
        return last_faults(self._database, self._series_id)

    def duration(self) -> Duration | None:
        """How long the games have taken; None before the first one."""
        return duration(self._database, self._series_id)

    def void_count(self) -> int:
        """How many attempts were void; those broken off from outside are not counted."""
        query = select(func.count()).select_from(own.VOID).filter_by(SeriesId=self._series_id, Cause="void")
        with self._database.transaction() as connection:
            return int(connection.execute(query).scalar_one())

    def unreported_contests(self) -> list[UnreportedContest]:
        """The contests whose end ACADEMY has not acknowledged, oldest first: unfinished, waiting, refused."""
        attempt, outbox = own.ATTEMPT.c, own.OUTBOX.c
        waiting = case((outbox.State == "waiting", outbox.Report))
        query = (
            select(attempt.ContestId, attempt.Contest, waiting)
            .join_from(own.ATTEMPT, own.OUTBOX, attempt.ContestId == outbox.ContestId, isouter=True)
            .where(attempt.SeriesId == self._series_id, attempt.Contest.is_not(None))
            .where(outbox.State.is_distinct_from("acknowledged"))
            .order_by(attempt.Started, attempt.Name)
        )
        with self._database.transaction() as connection:
            return [UnreportedContest(*row) for row in connection.execute(query)]


def _finished(rows: Sequence[Any]) -> FinishedGame:
    first = rows[0]
    winners = tuple(seat for seat, row in enumerate(rows, start=1) if row.Winner)
    points = tuple(row.Supplies for row in rows)
    return FinishedGame(
        game_id=first.GameName,
        matchup=first.Matchup,
        players=tuple(row.Name for row in rows),
        outcome=Outcome(
            winners,
            Termination(first.Termination),
            first.Summary,
            () if None in points else points,
            first.Detail,
            () if all(row.Elimination is None for row in rows) else tuple(row.Elimination for row in rows),
            # Where years are not counted, Years are moves.
            None if first.FirstYear is None else first.Years,
        ),
        cpu_seconds=tuple(row.Cpu for row in rows),
        elo_before=tuple(row.EloBefore for row in rows),
        elo_after=tuple(row.EloAfter for row in rows),
        faults=tuple(Fault(row.Fault) for row in rows),
        detail=first.Selection,
        game=game_of(first.Setting),
    )
