"""The games of a running competition: what begins and ends is stored here; and a competition's removal."""

import json
import secrets
from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    Connection,
    ScalarSelect,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    union_all,
    update,
)

from arena.control.settings import Scope
from arena.jobs import GameResult, PlayerSetup
from arena.players.clock import describe_clock
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError, find_or_add, insertion, utc_now
from arena.results.first_ratings import FirstRating
from arena.results.game_rows import Entry, GivenOpening, add_game, note_engine_name
from arena.results.game_settings import GameSetting, SettingKeys, enter_setting
from arena.results.games import FinishedGame
from arena.results.outbox import post
from arena.results.registration import (
    Entered,
    Heading,
    Registration,
    describe,
    enter_made_player,
    register,
    series_of,
)
from arena.results.series_reader import SeriesReader
from arena.results.totals import add_to_totals


def holds_others(database: ResultsDatabase, name: str) -> bool:
    """Whether the database holds other series than the competition's own: another one's, or imported ones."""
    with database.transaction() as connection:
        key = saga.SERIES.c.SeriesId
        others = select(key).where(key.not_in(_series_ids(connection, name))).limit(1)
        return connection.execute(others).first() is not None


def remove_series(database: ResultsDatabase, name: str) -> None:
    """Delete a competition, its games and the contestants that no other one has, all or nothing.

    Programs, platforms, variants and settings stay: they are not the competition's own. Where there is
    no competition of the name, or a series of this name that was imported, nothing happens.
    """
    with database.transaction() as connection:
        every = _series_ids(connection, name)
        if every:
            _remove(connection, every)


def _remove(connection: Connection, every: Sequence[int]) -> None:
    entered = saga.SERIES_CONTESTANT.c
    query = select(entered.ContestantId).where(entered.SeriesId.in_(every))
    contestants = list(connection.execute(query).scalars())
    games = select(saga.GAME.c.GameId).where(saga.GAME.c.SeriesId.in_(every))
    # Rows that refer to others go before those.
    for table in reversed(saga.METADATA.sorted_tables):
        if "SeriesId" in table.c:
            connection.execute(delete(table).where(table.c.SeriesId.in_(every)))
        elif table is own.INHIBITION:
            connection.execute(delete(table).where(table.c.ContestantId.in_(contestants)))
        elif "GameId" in table.c:
            connection.execute(delete(table).where(table.c.GameId.in_(games)))
    others = select(entered.ContestantId).union(select(saga.PLAYER.c.ContestantId))
    mine = saga.CONTESTANT.c.ContestantId
    connection.execute(delete(saga.CONTESTANT).where(mine.in_(contestants), mine.not_in(others)))


def _series_ids(connection: Connection, name: str) -> list[int]:
    played = select(saga.SERIES.c.SeriesId).join(own.COMPETITION).where(saga.SERIES.c.Name == name)
    series_id = connection.execute(played).scalar()
    return [] if series_id is None else [series_id, *series_of(connection, series_id)]


def _has_begun(connection: Connection, series: Sequence[int]) -> bool:
    # A game that came from an earlier version has no attempt.
    keys = [table.c.SeriesId for table in (own.ATTEMPT, saga.GAME)]
    query = union_all(*(select(key).where(key.in_(series)) for key in keys)).limit(1)
    return connection.execute(query).first() is not None


@dataclass(frozen=True)
class Attempt:
    """One try at playing a game: its number from 1, and its contest id, unique for ever."""

    game_id: str
    number: int
    contest_id: str


@dataclass(frozen=True)
class PlannedGame:
    """A game to come: its matchup, its players by seat, what its selector keeps with it.

    `setting` is None where it is the competition's own, `opening` is None without one.
    """

    matchup: str
    players: Sequence[PlayerSetup]
    detail: str = ""
    setting: GameSetting | None = None
    opening: GivenOpening | None = None


@dataclass(frozen=True)
class OpenAttempt:
    """An attempt that neither finished nor was given up; `contest` as opened at ACADEMY, or None.

    `seconds` is how long it lasted at least: until the last time that anything was stored of the competition.
    """

    attempt: Attempt
    contest: bytes | None
    seconds: float


@dataclass(frozen=True)
class UnfinishedGame:
    """A game that was given out and has no result yet: its players by seat, and its selector's detail."""

    game_id: str
    players: tuple[str, ...]
    detail: str


# Built once: building it takes longer than running it.
_COUNTED: Final = select(own.GAME_DETAIL.c.GameId).where(
    *(own.GAME_DETAIL.c[name] == bindparam(name) for name in ("SeriesId", "Name"))
)


class Series(SeriesReader):
    """A running competition's games. One process at a time may use it."""

    def __init__(self, database: ResultsDatabase, registration: Registration) -> None:
        super().__init__(database, registration.series_id)
        self._uuid = registration.uuid
        # What the database calls the games that are being played, by contest id.
        self._entries: dict[str, Entry] = {}
        self._settings: dict[Hashable, SettingKeys] = {}
        # After a backup of the results was put back, attempts have numbers again that ACADEMY knows.
        self._run = secrets.token_hex(4)
        # The numbers of the last attempts, by game. To ask for each would take a transaction a game.
        self._attempts = self._last_attempts()
        # What programs have called themselves in this run, by contestant.
        self._engine_names: dict[int, str] = {}
        self._begun: set[int] = set()
        self._entered: Entered | None = None

    @classmethod
    def register(cls, database: ResultsDatabase, heading: Heading) -> "Series":
        """Enter a competition or find it again. Raises ResultsError if its games would not be the same.

        What the database says of one that has begun is not changed; `describe` does that before the next
        game. One of other terms without any game is entered again.
        """
        with database.transaction() as connection:
            try:
                registration = register(connection, heading)
            except ResultsError:
                every = _series_ids(connection, heading.name)
                if not every or _has_begun(connection, every):
                    raise
                _remove(connection, every)
                registration = register(connection, heading)
            return cls(database, registration)

    def describe(self, heading: Heading) -> None:
        """Store what the competition is now, once its games so far are known to be its own."""
        with self._database.transaction() as connection:
            self._entered = describe(connection, self._series_id, heading)

    def keep_first_ratings(self, ratings: Mapping[str, FirstRating]) -> None:
        """Store what players begin with that have nothing stored yet."""
        rows = [
            {**self._key(name), "Elo": began.elo, "Source": began.source, "Game": began.game}
            for name, began in ratings.items()
        ]
        if rows:
            with self._database.transaction() as connection:
                connection.execute(insert(own.FIRST_RATING), rows)

    def _known(self) -> Entered:
        if self._entered is None:
            raise RuntimeError("games of a competition may begin when the database has its description")
        return self._entered

    def together(self) -> AbstractContextManager[None]:
        """Store all that the block stores in one transaction."""
        return self._database.together()

    def check_file(self) -> None:
        """Raise ResultsError where the database's file was moved, deleted or replaced."""
        self._database.check_file()

    def next_attempt(self, game_id: str) -> Attempt:
        """The next try at a game; nothing is stored yet."""
        number = self._attempts.get(game_id, 0) + 1
        return Attempt(game_id, number, f"{self._uuid}/{game_id}/{number}-{self._run}")

    def _last_attempts(self) -> dict[str, int]:
        attempt = own.ATTEMPT.c
        query = select(attempt.Name, func.max(attempt.Attempt)).filter_by(SeriesId=self._series_id)
        return {name: int(last) for name, last in self._database.rows(query.group_by(attempt.Name))}

    def begin(self, attempt: Attempt, contest: bytes | None, game: PlannedGame) -> None:
        """Store that an attempt begins, before ACADEMY or any player hears of it.

        The players' clocks and the opening are stored with the result.
        """
        entered = self._known()
        setting = game.setting or entered.setting
        series = entered.series.get(game.matchup)
        series_id = self._series_id if series is None else series.series_id
        clocks = tuple(map(describe_clock, game.players))
        key = (series_id, setting.whole, frozenset(clocks))
        names = tuple(player.name for player in game.players)
        # What ACADEMY will be asked to open must be known again after any crash; a game of our own that the
        # machine's crash makes forgotten is played as if it had never begun.
        store = self._database.quick_transaction if contest is None else self._database.transaction
        with store() as connection:
            keys = self._settings.get(key) or (None if series is None else series.settings.get(setting.whole))
            if keys is None:
                keys = enter_setting(connection, series_id, entered.platform_id, setting, game.players)
            if series is not None and series_id not in self._begun:
                begun = update(saga.SERIES).filter_by(SeriesId=series_id, State=0)
                connection.execute(begun.values(State=1))
            contestants = tuple(self._contestant(connection, player) for player in game.players)
            connection.execute(
                insertion(own.ATTEMPT),
                {
                    **self._key(attempt.game_id),
                    "Attempt": attempt.number,
                    "ContestId": attempt.contest_id,
                    "Contest": contest,
                    "Matchup": game.matchup,
                    "Players": json.dumps(names),
                    "Detail": game.detail,
                    "Started": utc_now(),
                },
            )
        # Only what has been committed is remembered.
        self._settings[key] = keys
        self._begun.add(series_id)
        self._attempts[attempt.game_id] = attempt.number
        self._entries[attempt.contest_id] = Entry(series_id, keys, names, contestants, clocks, game.opening)

    def _contestant(self, connection: Connection, player: PlayerSetup) -> int:
        listed = self._known().contestants
        if player.name in listed:
            return listed[player.name]
        return enter_made_player(connection, self._series_id, player, listed)

    def open_attempts(self) -> Sequence[OpenAttempt]:
        """Attempts begun whose end is not known: those of a run that was interrupted, or in progress."""
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
        rows = self._database.rows(query)
        if not rows:
            return []
        alive = self._last_stored()
        return [
            OpenAttempt(
                Attempt(row.Name, row.Attempt, row.ContestId),
                row.Contest,
                (alive - row.Started).total_seconds(),
            )
            for row in rows
        ]

    def _last_stored(self) -> datetime:
        """When an attempt last began or ended; there is one."""
        finished = select(func.max(saga.GAME.c.Finished)).join_from(saga.GAME, own.GAME_DETAIL)
        queries = (
            select(func.max(own.ATTEMPT.c.Started)).where(own.ATTEMPT.c.SeriesId == self._series_id),
            select(func.max(own.VOID.c.Ended)).where(own.VOID.c.SeriesId == self._series_id),
            finished.where(own.GAME_DETAIL.c.SeriesId == self._series_id),
        )
        latest: datetime = max(filter(None, map(self._database.value, queries)))
        return latest

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
        return [
            UnfinishedGame(name, tuple(json.loads(players)), detail)
            for name, players, detail in self._database.rows(query)
        ]

    def finish(
        self, attempt: Attempt, game: FinishedGame, result: GameResult, seed: int, report: bytes | None
    ) -> bool:
        """Store a finished game, its ratings and its report to ACADEMY in one transaction.

        Returns False, and changes nothing, if a game of this id counts already.
        """
        with self._database.transaction() as connection:
            if connection.execute(_COUNTED, self._key(attempt.game_id)).first() is not None:
                return False
            voids, lost_seconds = self._earlier_attempts(connection, attempt)
            entry = self._entries[attempt.contest_id]
            game_id = add_game(
                connection,
                entry,
                result,
                result.setup_seconds + result.play_seconds + lost_seconds,
                {
                    **self._key(attempt.game_id),
                    "Matchup": game.matchup,
                    "Attempt": attempt.number,
                    "Seed": seed,
                    "ContestId": attempt.contest_id,
                    "Voids": voids,
                },
            )
            ratings = [
                {"GameId": game_id, "Seat": seat, "Name": name, "EloBefore": before, "EloAfter": after}
                for seat, (name, before, after) in enumerate(
                    zip(game.players, game.elo_before, game.elo_after, strict=True), start=1
                )
            ]
            connection.execute(insertion(own.RATING), ratings)
            add_to_totals(connection, self._series_id, game)
            new_names = {
                contestant: usage.engine_name
                for contestant, usage in zip(entry.contestants, result.usage, strict=True)
                if usage.engine_name and self._engine_names.get(contestant) != usage.engine_name
            }
            for contestant, name in new_names.items():
                note_engine_name(connection, contestant, name)
            if report is not None:
                post(connection, self._series_id, attempt.contest_id, report)
        self._entries.pop(attempt.contest_id)
        self._engine_names |= new_names
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
        contestant_id = self._known().contestants[player]
        client = select(saga.CONTESTANT.c.ClientId).filter_by(ContestantId=contestant_id)
        with self._database.transaction() as connection:
            # It is known from its games.
            known = select(saga.VARIANT.c.VariantId).filter_by(Name=variant)
            variant_id = connection.execute(known).scalar_one()
            find_or_add(connection, own.INHIBITION, {"ContestantId": contestant_id, "VariantId": variant_id})
            pair = {"ClientId": connection.execute(client).scalar_one(), "VariantId": variant_id}
            find_or_add(connection, saga.CLIENT_VARIANT, pair)
            connection.execute(update(saga.CLIENT_VARIANT).filter_by(**pair).values(AutoInhibit=True))

    def readmit(self) -> None:
        """Let all competitors that were inhibited or left out play again, and matchups be played.

        Inhibitions that other competitions have found of the same clients stay.
        """
        table, competitor, contestant = own.INHIBITION, own.COMPETITOR.c, saga.CONTESTANT.c
        client = saga.CLIENT_VARIANT.c
        mine = select(competitor.ContestantId).where(competitor.SeriesId == self._series_id)
        clients = select(contestant.ClientId).where(contestant.ContestantId.in_(mine))
        left = exists().where(
            table.c.ContestantId == contestant.ContestantId,
            table.c.VariantId == client.VariantId,
            contestant.ClientId == client.ClientId,
        )
        out = update(own.EXCLUSION).filter_by(SeriesId=self._series_id, Readmitted=None)
        with self._database.transaction() as connection:
            connection.execute(delete(table).where(table.c.ContestantId.in_(mine)))
            connection.execute(
                update(saga.CLIENT_VARIANT)
                .where(client.ClientId.in_(clients), ~left)
                .values(AutoInhibit=False)
            )
            connection.execute(out.values(Readmitted=self._finished_games()))

    def exclude(self, scope: Scope, name: str, reason: str) -> None:
        """Store that a player or a matchup is left out of the competition from now on."""
        row = {**self._key(name), "Scope": scope, "Reason": reason, "Time": utc_now()}
        with self._database.transaction() as connection:
            connection.execute(insert(own.EXCLUSION).values(**row, Games=self._finished_games()))

    def _finished_games(self) -> ScalarSelect[int]:
        query = select(func.count()).select_from(own.GAME_DETAIL).filter_by(SeriesId=self._series_id)
        return query.scalar_subquery()

    def complete(self) -> None:
        """Store that all games have been played, and which series of a mission have all of theirs."""
        series = saga.SERIES.c
        games = select(func.count()).select_from(saga.GAME).where(saga.GAME.c.SeriesId == series.SeriesId)
        with self._database.transaction() as connection:
            complete = series.SeriesId.in_(series_of(connection, self._series_id)) & (
                series.GameLim <= games.scalar_subquery()
            )
            this = series.SeriesId == self._series_id
            connection.execute(update(saga.SERIES).where(this | complete).values(State=2))

    def _key(self, game_id: str) -> dict[str, Any]:
        return {"SeriesId": self._series_id, "Name": game_id}

    def _earlier_attempts(self, connection: Connection, attempt: Attempt) -> tuple[int, float]:
        if attempt.number == 1:
            return 0, 0.0
        query = select(
            func.count().filter(own.VOID.c.Cause == "void"), func.coalesce(func.sum(own.VOID.c.Seconds), 0.0)
        )
        count, total = connection.execute(query.filter_by(**self._key(attempt.game_id))).one()
        return int(count), float(total)
