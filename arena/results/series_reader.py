"""What is known of a competition: its games, what they have cost, and who is left out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, case, func, select

from arena.jobs import Fault
from arena.ratings.elo import EloRules
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.exclusions import Exclusion
from arena.results.first_ratings import FirstRating
from arena.results.game_filter import GameFilter
from arena.results.game_rows import StoredMove, unpack_moves
from arena.results.game_settings import game_of
from arena.results.games import FinishedGame
from arena.results.outbox import Outbox
from arena.results.registration import CompetitionTerms, competition_terms, find_competition
from arena.results.standings import PlayerStanding, Score, Standings
from referees.api import Outcome, Termination
from referees.legible_text import legible

_COMPLETED: Final = 2
ALL_GAMES: Final = GameFilter()


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

    The two times and `total_seconds` are of void games and of games that were interrupted, too.
    """

    first_started: datetime
    last_finished: datetime
    setup_seconds: float
    play_seconds: float
    total_seconds: float


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


@dataclass(frozen=True)
class ListedGame:
    """A finished game as lists show it; `sequence` grows from game to game, times are in UTC."""

    sequence: int
    finished: datetime
    game: FinishedGame
    started: datetime
    moves: int
    opening: str


@dataclass(frozen=True)
class WholeGame:
    """A game with its moves, its record and the number its chance came from.

    `arrangement` is the first position where a player arranged it, `start_board` its board in any case;
    `contest_id` is what ACADEMY calls the game.
    """

    listed: ListedGame
    moves: tuple[StoredMove, ...]
    record: str
    record_extension: str
    seed: int
    arrangement: str
    contest_id: str
    start_board: str


class SeriesReader:
    """What is known of a competition. Reading works while it runs.

    Texts of players and of ACADEMY are made legible: earlier releases stored them as they came.
    """

    def __init__(self, database: ResultsDatabase, series_id: int) -> None:
        self._database = database
        self._series_id = series_id
        self.outbox = Outbox(database, series_id)

    @classmethod
    def find(cls, database: ResultsDatabase, name: str) -> "SeriesReader":
        """The competition of a name. Raises ResultsError if it has not been run."""
        with database.transaction() as connection:
            return SeriesReader(database, find_competition(connection, name))

    def at_one_moment(self) -> AbstractContextManager[None]:
        """Read all that the block reads as it is at one moment, whatever a run stores meanwhile."""
        return self._database.at_one_moment()

    def terms(self) -> CompetitionTerms:
        """What the competition was when it began."""
        with self._database.transaction() as connection:
            return competition_terms(connection, self._series_id)

    def uuid(self) -> str:
        """What the ids of its contests at ACADEMY begin with."""
        with self._database.transaction() as connection:
            query = select(own.COMPETITION.c.Uuid).filter_by(SeriesId=self._series_id)
            return str(connection.execute(query).scalar_one())

    def finished_games(self) -> Iterator[FinishedGame]:
        """All games that count, in the order in which they were finished."""
        return map(_finished, self._rows_of_games(own.GAME_DETAIL.c.SeriesId == self._series_id))

    def _rows_of_games(self, condition: ColumnElement[bool]) -> Iterator[list[Any]]:
        """The rows of each game that meets the condition, by seat."""
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
            detail.Started,
            detail.Plies,
            detail.OpeningName,
            saga.GAME.c.Finished,
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
            .where(condition)
            .order_by(detail.GameId, rating.Seat)
        )
        with self._database.transaction() as connection:
            for _, rows in groupby(connection.execute(query), attrgetter("GameId")):
                yield list(rows)

    def games_after(
        self, sequence: int, limit: int, which: GameFilter = ALL_GAMES, *, newest_first: bool = False
    ) -> Sequence[ListedGame]:
        """The next games after a sequence, at most `limit`; backwards from it where the newest come first."""
        detail = own.GAME_DETAIL.c
        chosen = select(detail.GameId).where(which.condition(self._series_id)).limit(limit)
        if newest_first:
            chosen = chosen.where(detail.GameId < sequence) if sequence else chosen
            chosen = chosen.order_by(detail.GameId.desc())
        else:
            chosen = chosen.where(detail.GameId > sequence).order_by(detail.GameId)
        # Their numbers first: PostgreSQL and SQLite both read all games for a limited subquery.
        wanted = [row.GameId for row in self._database.rows(chosen)]
        games = [_listed(rows) for rows in self._rows_of_games(detail.GameId.in_(wanted))] if wanted else []
        return games[::-1] if newest_first else games

    def count_games(self, which: GameFilter = ALL_GAMES) -> int:
        """How many games count and pass a filter."""
        query = select(func.count()).select_from(own.GAME_DETAIL).where(which.condition(self._series_id))
        return int(self._database.value(query))

    def rating_history(self, player: str, points: int) -> Mapping[str, Sequence[tuple[int, float]]]:
        """Each player's live Elo after some of its games: the number of the game, about, and the Elo.

        A `player` of "" stands for all. About `points` games are looked at, however many there are.
        """
        detail, rating = own.GAME_DETAIL.c, own.RATING.c
        ends = [
            select(end).where(detail.SeriesId == self._series_id).scalar_subquery()
            for end in (func.min(detail.GameId), func.max(detail.GameId), func.count(detail.GameId))
        ]
        # Each from the index: together they would be read from all rows.
        ((first, last, count),) = self._database.rows(select(*ends))
        if not count:
            return {}
        step = max(1, (last - first) // points)
        looked_at = [*range(first, last, step), last]
        query = (
            select(rating.GameId, rating.Name, rating.EloAfter)
            .join_from(own.RATING, own.GAME_DETAIL, detail.GameId == rating.GameId)
            .where(detail.SeriesId == self._series_id, rating.GameId.in_(looked_at))
            .order_by(rating.GameId)
        )
        histories: dict[str, list[tuple[int, float]]] = {}
        for game, name, elo in self._database.rows(query.where(rating.Name == player) if player else query):
            place = 1 + (game - first) * (count - 1) // max(1, last - first)
            histories.setdefault(name, []).append((place, elo))
        return histories

    def whole_game(self, game_id: str) -> WholeGame | None:
        """The game of this id that counts; None if no game does."""
        detail = own.GAME_DETAIL.c
        this = (detail.SeriesId == self._series_id) & (detail.Name == game_id)
        games = list(self._rows_of_games(this))
        if not games:
            return None
        columns = (detail.Record, detail.RecordExtension, detail.Moves, detail.Seed, detail.Arrangement)
        query = select(*columns, detail.ContestId, detail.StartBoard).where(this)
        ((content, extension, moves, seed, arrangement, contest_id, board),) = self._database.rows(query)
        return WholeGame(
            _listed(games[0]),
            tuple(unpack_moves(moves)),
            content,
            extension,
            int(seed),
            arrangement or "",
            contest_id,
            board,
        )

    def standings(self, players: Sequence[str], rules: EloRules) -> Standings:
        """The table from the running totals, without reading games; `players` are in the order of definition.

        A tuner's candidates have lines of their own in it.
        """
        of_series = {"SeriesId": self._series_id}
        with self._database.transaction() as connection:
            totals = [
                PlayerStanding(
                    row.Name,
                    row.Elo,
                    _score(row),
                    row.Points,
                    row.Forfeits,
                    row.TimeLosses,
                    cpu_seconds=row.CpuSeconds,
                    cpu_games=row.CpuGames,
                    fault_games=row.Faults,
                )
                for row in connection.execute(
                    select(own.STANDING).filter_by(**of_series).order_by(own.STANDING.c.Name)
                )
            ]
            rows = connection.execute(select(own.PAIR).filter_by(**of_series))
            pairs = {(row.Name, row.Opponent): _score(row) for row in rows}
            count = select(func.count()).select_from(own.GAME_DETAIL).filter_by(**of_series)
            games = connection.execute(count).scalar_one()
        return Standings.of_totals(players, rules, totals, pairs, games)

    def last_sequence(self) -> int:
        """The newest game's sequence, 0 without a game."""
        last = func.coalesce(func.max(own.GAME_DETAIL.c.GameId), 0)
        return int(self._database.value(select(last).filter_by(SeriesId=self._series_id)))

    def completed(self) -> bool:
        """Whether all games of the competition have been played."""
        state = self._database.value(select(saga.SERIES.c.State).filter_by(SeriesId=self._series_id))
        return bool(state == _COMPLETED)

    def inhibited(self) -> set[tuple[str, str]]:
        """The competitors that were inhibited, each with the variant."""
        competitor, inhibition = own.COMPETITOR.c, own.INHIBITION.c
        query = (
            select(competitor.Name, saga.VARIANT.c.Name)
            .join_from(own.COMPETITOR, own.INHIBITION, inhibition.ContestantId == competitor.ContestantId)
            .join(saga.VARIANT, saga.VARIANT.c.VariantId == inhibition.VariantId)
            .where(competitor.SeriesId == self._series_id, competitor.Current)
        )
        return {(player, variant) for player, variant in self._database.rows(query)}

    def first_ratings(self) -> dict[str, FirstRating]:
        """What players began with, by name, as far as it is kept."""
        rating = own.FIRST_RATING.c
        query = select(rating.Name, rating.Elo, rating.Source, rating.Game)
        rows = self._database.rows(query.filter_by(SeriesId=self._series_id).order_by(rating.Name))
        return {name: FirstRating(*began) for name, *began in rows}

    def elo_before_first_games(self, names: Sequence[str]) -> dict[str, float]:
        """The Elo of those who have finished games, as it was before the first of them."""
        rating, detail = own.RATING.c, own.GAME_DETAIL.c
        query = (
            select(rating.Name, rating.EloBefore)
            .join_from(own.RATING, own.GAME_DETAIL, detail.GameId == rating.GameId)
            .where(detail.SeriesId == self._series_id, rating.Name.in_(names))
            .order_by(detail.GameId.desc())
        )
        return {row.Name: row.EloBefore for row in self._database.rows(query)}

    def exclusions(self) -> list[Exclusion]:
        """The players and matchups that were left out, in that order; some may have been let in again."""
        table = own.EXCLUSION.c
        query = select(table.Scope, table.Name, table.Reason, table.Games, table.Readmitted)
        rows = query.where(table.SeriesId == self._series_id).order_by(table.ExclusionId)
        return [Exclusion(*row) for row in self._database.rows(rows)]

    def records(self, besides: Collection[str] = ()) -> Iterator[StoredRecord]:
        """The record files of all games that count, but for those whose ids are given."""
        detail = own.GAME_DETAIL.c
        names = select(detail.Name).filter_by(SeriesId=self._series_id).order_by(detail.GameId)
        query = select(detail.Name, detail.Record, detail.RecordExtension).filter_by(SeriesId=self._series_id)
        for (name,) in self._database.rows(names):
            if name not in besides:
                yield from (StoredRecord(*row) for row in self._database.rows(query.filter_by(Name=name)))

    def player_usage(self) -> Mapping[str, PlayerTotals]:
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
            .where(game.SeriesId == self._series_id)
            .group_by(seat.Name)
        )
        return {name: PlayerTotals(*used) for name, *used in self._database.rows(query)}

    def player_descriptions(self) -> Mapping[str, str]:
        """Each player's last description of itself, at length or else in short."""
        seat = own.SEAT.c
        described = (seat.EngineDescription != "") | (seat.EngineName != "")
        rows = self._last_seats(described, seat.Name, seat.EngineName, seat.EngineDescription)
        return {name: legible(long or short) for name, short, long in rows}

    def last_faults(self) -> Mapping[str, LastFault]:
        """What each player last did wrong, by name, the latest last; players without a fault are missing."""
        seat, game = own.SEAT.c, own.GAME_DETAIL.c
        rows = self._last_seats(
            seat.Fault != Fault.NONE.value, seat.Name, game.Name.label("GameName"), seat.Fault, seat.Remark
        )
        return {
            name: LastFault(game_id, Fault(fault), legible(remark)) for name, game_id, fault, remark in rows
        }

    def _last_seats(self, condition: ColumnElement[bool], *columns: ColumnElement[Any]) -> Sequence[Any]:
        """Columns of each player's last seat that meets the condition, the latest last."""
        seat, game = own.SEAT.c, own.GAME_DETAIL.c
        last = (
            select(seat.Name, func.max(seat.GameId).label("GameId"))
            .join_from(own.SEAT, own.GAME_DETAIL, game.GameId == seat.GameId)
            .where(game.SeriesId == self._series_id, condition)
            .group_by(seat.Name)
            .subquery()
        )
        query = (
            select(*columns)
            .join_from(own.SEAT, last, (last.c.GameId == seat.GameId) & (last.c.Name == seat.Name))
            .join(own.GAME_DETAIL, game.GameId == seat.GameId)
            .where(condition)
            .order_by(seat.GameId)
        )
        return self._database.rows(query)

    def duration(self) -> Duration | None:
        """How long the games have taken; None before the first one."""
        game, detail, void = saga.GAME.c, own.GAME_DETAIL.c, own.VOID.c
        # What void attempts took is part of the TotalTime of their game, once that is finished.
        finished = select(detail.GameId).where(detail.SeriesId == void.SeriesId, detail.Name == void.Name)
        lost = select(func.coalesce(func.sum(void.Seconds), 0.0)).where(
            void.SeriesId == self._series_id, ~finished.exists()
        )
        attempt = own.ATTEMPT.c
        begun = select(func.min(attempt.Started)).where(attempt.SeriesId == self._series_id)
        given_up = select(func.max(void.Ended)).where(void.SeriesId == self._series_id)
        query = (
            select(
                func.min(detail.Started),
                func.max(game.Finished),
                func.sum(game.SetupTime),
                func.sum(game.PlayTime),
                func.sum(game.TotalTime) + lost.scalar_subquery(),
                begun.scalar_subquery(),
                given_up.scalar_subquery(),
            )
            .join_from(saga.GAME, own.GAME_DETAIL, game.GameId == detail.GameId)
            .where(detail.SeriesId == self._series_id)
        )
        ((first, last, *seconds, begun_at, given_up_at),) = self._database.rows(query)
        if first is None:
            return None
        return Duration(min(first, begun_at or first), max(last, given_up_at or last), *seconds)

    def void_count(self) -> int:
        """How many attempts were void; those interrupted from outside are not counted."""
        query = select(func.count()).select_from(own.VOID).filter_by(SeriesId=self._series_id, Cause="void")
        return int(self._database.value(query))

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
        return [UnreportedContest(*row) for row in self._database.rows(query)]


def _score(row: Any) -> Score:
    return Score(row.Wins, row.Draws, row.Losses, row.Unknown)


def _listed(rows: Sequence[Any]) -> ListedGame:
    first = rows[0]
    return ListedGame(
        first.GameId, first.Finished, _finished(rows), first.Started, first.Plies, first.OpeningName or ""
    )


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
            legible(first.Detail),
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
