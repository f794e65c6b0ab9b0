"""The games of one competition in the database: given out, finished, void or broken off."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Text, bindparam, case, cast, func, insert, select, update

from arena.jobs import GameResult, PlayerSetup
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.contestants import enter_made_player
from arena.results.database import ResultsDatabase, utc_now
from arena.results.game_rows import Entry, add_game
from arena.results.game_settings import GameSetting, SettingKeys, enter_setting
from arena.results.games import FinishedGame
from arena.results.outbox import Outbox, post
from arena.results.registration import Heading, Registration, find_series, register
from arena.results.rows import find_or_add
from arena.results.usage import Duration, PlayerUsage, duration, player_descriptions, player_usage
from referees.api import Outcome, Termination

# Asked for each game, and built once: SQLAlchemy takes longer to build a query than SQLite to answer it.
_THIS_GAME: dict[str, Any] = {"SeriesId": bindparam("SeriesId"), "Name": bindparam("Name")}
_LAST_ATTEMPT = select(func.coalesce(func.max(own.ATTEMPT.c.Attempt), 0)).filter_by(**_THIS_GAME)
_COUNTED = select(own.GAME_DETAIL.c.GameId).filter_by(**_THIS_GAME)
_EARLIER_ATTEMPTS = select(
    func.count().filter(own.VOID.c.Cause == "void"), func.coalesce(func.sum(own.VOID.c.Seconds), 0.0)
).filter_by(**_THIS_GAME)


@dataclass(frozen=True)
class Attempt:
    """One try at playing a game: its number from 1, and its contest id, unique for ever."""

    game_id: str
    number: int
    contest_id: str


@dataclass(frozen=True)
class OpenAttempt:
    """An attempt that neither finished nor was given up; `contest` as opened at ACADEMY, or None.

    `players` are by seat, `detail` is what its selector wants to know of it again.
    """

    attempt: Attempt
    contest: bytes | None
    matchup: str
    players: tuple[str, ...]
    detail: str


@dataclass(frozen=True)
class UnfinishedGame:
    """A game that was given out and has no result yet: its players by seat, and its selector's detail."""

    game_id: str
    players: tuple[str, ...]
    detail: str


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
            return SeriesReader(database, find_series(connection, name))

    def finished_games(self) -> Iterator[FinishedGame]:
        """All games that count, in the order in which they were finished."""
        detail, player, rating, power = own.GAME_DETAIL.c, saga.PLAYER.c, own.RATING.c, saga.POWER.c
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
        )
        query = (
            select(*columns)
            .join_from(own.GAME_DETAIL, own.RATING, detail.GameId == rating.GameId)
            .join(saga.PLAYER, player.GameId == detail.GameId)
            .join(saga.POWER, power.PowerId == player.PowerId)
            .join(own.ATTEMPT, own.ATTEMPT.c.ContestId == detail.ContestId)
            .where(detail.SeriesId == self._series_id, power.Code == cast(rating.Seat, Text))
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

    def records(self) -> Iterator[StoredRecord]:
        """The record files of all games that count."""
        detail = own.GAME_DETAIL.c
        query = select(detail.Name, detail.Record, detail.RecordExtension).filter_by(SeriesId=self._series_id)
        with self._database.transaction() as connection:
            for row in connection.execute(query.order_by(detail.GameId)):
                yield StoredRecord(*row)

    def player_usage(self) -> Mapping[str, PlayerUsage]:
        """What each player has used, by name."""
        return player_usage(self._database, self._series_id)

    def player_descriptions(self) -> Mapping[str, str]:
        """What each player last said it is."""
        return player_descriptions(self._database, self._series_id)

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


class Series(SeriesReader):
    """A running competition's games. One process at a time may hold it."""

    def __init__(self, database: ResultsDatabase, registration: Registration) -> None:
        super().__init__(database, registration.series_id)
        self._registration = registration
        # What the database calls the games that are being played, by contest id.
        self._entries: dict[str, Entry] = {}
        self._settings: list[tuple[GameSetting, set[float], SettingKeys]] = []

    @classmethod
    def register(cls, database: ResultsDatabase, heading: Heading) -> "Series":
        """Enter a competition or find it again. Raises ResultsError if its games would not be the same."""
        with database.transaction() as connection:
            return cls(database, register(connection, heading))

    def next_attempt(self, game_id: str) -> Attempt:
        """The next try at a game; nothing is stored yet."""
        with self._database.transaction() as connection:
            number = int(connection.execute(_LAST_ATTEMPT, self._key(game_id)).scalar_one()) + 1
        return Attempt(game_id, number, f"{self._registration.uuid}/{game_id}/{number}")

    def begin(
        self,
        attempt: Attempt,
        contest: bytes | None,
        matchup: str,
        players: Sequence[PlayerSetup],
        detail: str = "",
        setting: GameSetting | None = None,
    ) -> None:
        """Store that an attempt begins, before ACADEMY or any player hears of it.

        `players` are by seat, those made for this game included; `setting` is given where it is not the
        competition's.
        """
        with self._database.transaction() as connection:
            self._entries[attempt.contest_id] = self._entry(connection, players, setting)
            connection.execute(
                insert(own.ATTEMPT),
                {
                    **self._key(attempt.game_id),
                    "Attempt": attempt.number,
                    "ContestId": attempt.contest_id,
                    "Contest": contest,
                    "Matchup": matchup,
                    "Players": json.dumps([player.name for player in players]),
                    "Detail": detail,
                    "Started": utc_now(),
                },
            )

    def _entry(
        self, connection: Connection, players: Sequence[PlayerSetup], setting: GameSetting | None
    ) -> Entry:
        known = self._registration
        keys = self._setting_keys(connection, setting or known.setting, players)
        contestants = tuple(
            known.contestants[player.name]
            if player.name in known.contestants
            else enter_made_player(connection, self._series_id, player, known.contestants)
            for player in players
        )
        return Entry(self._series_id, keys, contestants)

    def _setting_keys(
        self, connection: Connection, setting: GameSetting, players: Sequence[PlayerSetup]
    ) -> SettingKeys:
        """The keys of a setting, looked up once: nearly all games of a competition share it."""
        limits = {player.move_seconds for player in players}
        for known, known_limits, keys in self._settings:
            if known == setting and known_limits == limits:
                return keys
        keys = enter_setting(connection, self._series_id, self._registration.platform_id, setting, players)
        self._settings.append((setting, limits, keys))
        return keys

    def open_attempts(self) -> Sequence[OpenAttempt]:
        """Attempts begun whose end is not known: those of a run that was broken off, or in progress."""
        attempt, void, game = own.ATTEMPT, own.VOID, own.GAME_DETAIL
        over = select(void.c.Attempt).where(
            void.c.SeriesId == attempt.c.SeriesId,
            void.c.Name == attempt.c.Name,
            void.c.Attempt == attempt.c.Attempt,
        )
        finished = select(game.c.GameId).where(game.c.ContestId == attempt.c.ContestId)
        query = (
            select(attempt)
            .where(attempt.c.SeriesId == self._series_id, ~over.exists(), ~finished.exists())
            .order_by(attempt.c.Started, attempt.c.Name)
        )
        with self._database.transaction() as connection:
            return [
                OpenAttempt(
                    Attempt(row.Name, row.Attempt, row.ContestId),
                    row.Contest,
                    row.Matchup,
                    tuple(json.loads(row.Players)),
                    row.Detail,
                )
                for row in connection.execute(query)
            ]

    def unfinished_games(self) -> Sequence[UnfinishedGame]:
        """Games that were begun and have no result, with the line-up of the latest attempt, oldest first."""
        attempt, game, later = own.ATTEMPT.c, own.GAME_DETAIL.c, own.ATTEMPT.alias().c
        result = select(game.GameId).where(game.SeriesId == attempt.SeriesId, game.Name == attempt.Name)
        newer = select(later.Attempt).where(
            later.SeriesId == attempt.SeriesId, later.Name == attempt.Name, later.Attempt > attempt.Attempt
        )
        query = (
            select(attempt.Name, attempt.Players, attempt.Detail)
            .where(attempt.SeriesId == self._series_id, ~result.exists(), ~newer.exists())
            .order_by(attempt.Started, attempt.Name)
        )
        with self._database.transaction() as connection:
            return [
                UnfinishedGame(row.Name, tuple(json.loads(row.Players)), row.Detail)
                for row in connection.execute(query)
            ]

    def finish(
        self,
        attempt: Attempt,
        matchup: str,
        seed: int,
        players: Sequence[str],
        result: GameResult,
        elo_before: Sequence[float],
        elo_after: Sequence[float],
        report: bytes | None,
    ) -> bool:
        """Store a finished game, its ratings and its report to ACADEMY in one transaction.

        Returns False, and changes nothing, if a game of this id counts already. Raises ValueError for
        a void game.
        """
        if result.outcome is None:
            raise ValueError(f"game {attempt.game_id} is void: {result.void_reason}")
        with self._database.transaction() as connection:
            if connection.execute(_COUNTED, self._key(attempt.game_id)).first() is not None:
                return False
            voids, lost_seconds = self._earlier_attempts(connection, attempt.game_id)
            game_id = add_game(
                connection,
                self._entries[attempt.contest_id],
                players,
                result,
                result.outcome,
                result.setup_seconds + result.play_seconds + lost_seconds,
                {
                    "Name": attempt.game_id,
                    "Matchup": matchup,
                    "Attempt": attempt.number,
                    "Seed": seed,
                    "ContestId": attempt.contest_id,
                    "Voids": voids,
                },
            )
            rated = zip(players, elo_before, elo_after, strict=True)
            connection.execute(
                insert(own.RATING),
                [
                    {"GameId": game_id, "Seat": seat, "Name": name, "EloBefore": before, "EloAfter": after}
                    for seat, (name, before, after) in enumerate(rated, start=1)
                ],
            )
            if report is not None:
                post(connection, self._series_id, attempt.contest_id, report)
        self._entries.pop(attempt.contest_id)
        return True

    def give_up(
        self, attempt: Attempt, cause: str, reason: str, seconds: float, report: bytes | None
    ) -> None:
        """Store that an attempt led to nothing: `cause` is `void` or `interrupted`."""
        self._entries.pop(attempt.contest_id, None)
        with self._database.transaction() as connection:
            connection.execute(
                insert(own.VOID).values(
                    **self._key(attempt.game_id),
                    Attempt=attempt.number,
                    Cause=cause,
                    Reason=reason,
                    Seconds=max(0.0, seconds),
                    Ended=utc_now(),
                )
            )
            if report is not None:
                post(connection, self._series_id, attempt.contest_id, report)

    def inhibit(self, player: str, variant: str) -> None:
        """Store that a competitor's program can't be started in time for games of a variant."""
        table, contestant = saga.CLIENT_VARIANT, saga.CONTESTANT.c
        with self._database.transaction() as connection:
            key = contestant.ContestantId == self._registration.contestants[player]
            client = connection.execute(select(contestant.ClientId).where(key)).scalar_one()
            of_variant = saga.VARIANT.c.Name == variant
            number = connection.execute(select(saga.VARIANT.c.VariantId).where(of_variant)).scalar_one()
            pair = {"ClientId": client, "VariantId": number}
            find_or_add(connection, table, pair)
            connection.execute(update(table).filter_by(**pair).values(AutoInhibit=True))

    def inhibited(self) -> set[tuple[str, str]]:
        """The competitors that were inhibited, each with the variant."""
        competitor = own.COMPETITOR.c
        query = (
            select(competitor.Name, saga.VARIANT.c.Name)
            .join_from(own.COMPETITOR, saga.CONTESTANT)
            .join(saga.CLIENT_VARIANT, saga.CLIENT_VARIANT.c.ClientId == saga.CONTESTANT.c.ClientId)
            .join(saga.VARIANT)
            .where(competitor.SeriesId == self._series_id, competitor.Current)
            .where(saga.CLIENT_VARIANT.c.AutoInhibit)
        )
        with self._database.transaction() as connection:
            return {(player, variant) for player, variant in connection.execute(query)}

    def complete(self) -> None:
        """Store that all games of the competition have been played."""
        with self._database.transaction() as connection:
            connection.execute(
                update(saga.SERIES).where(saga.SERIES.c.SeriesId == self._series_id).values(State=2)
            )

    def _key(self, game_id: str) -> dict[str, Any]:
        return {"SeriesId": self._series_id, "Name": game_id}

    def _earlier_attempts(self, connection: Connection, game_id: str) -> tuple[int, float]:
        count, total = connection.execute(_EARLIER_ATTEMPTS, self._key(game_id)).one()
        return int(count), float(total)


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
        ),
        cpu_seconds=tuple(row.Cpu for row in rows),
        elo_before=tuple(row.EloBefore for row in rows),
        elo_after=tuple(row.EloAfter for row in rows),
        detail=first.Selection,
    )
