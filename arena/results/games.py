"""Finished games: as they count for the standings, and as lists show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from sqlalchemy import func, select

from arena.control.plans import GameSettings
from arena.jobs import Fault, GameResult
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase
from arena.results.game_rows import unpack_moves
from arena.results.registration import find_competition
from referees.api import Outcome
from referees.legible_text import legible


@dataclass(frozen=True)
class FinishedGame:
    """A game that counts. All tuples are by seat.

    `cpu_seconds` are None where unknown; `elo_before` and `elo_after` are the ratings around it; `faults`
    are what the players did wrong; `detail` is what its selector keeps with it; `game` is what it was played
    with, None where that is not known.
    """

    game_id: str
    matchup: str
    players: tuple[str, ...]
    outcome: Outcome
    cpu_seconds: tuple[float | None, ...]
    elo_before: tuple[float, ...]
    elo_after: tuple[float, ...]
    faults: tuple[Fault, ...]
    detail: str = ""
    game: GameSettings | None = None

    @classmethod
    def from_result(
        cls,
        matchup: str,
        players: Sequence[str],
        result: GameResult,
        elo_before: Sequence[float],
        elo_after: Sequence[float],
    ) -> Self:
        """A game that has been played. Raises ValueError for a void one."""
        if result.outcome is None:
            raise ValueError(f"game {result.game_id} is void: {result.void_reason}")
        return cls(
            result.game_id,
            matchup,
            tuple(players),
            result.outcome,
            tuple(usage.cpu_seconds for usage in result.usage),
            tuple(elo_before),
            tuple(elo_after),
            tuple(usage.fault for usage in result.usage),
        )

    @property
    def winners(self) -> tuple[str, ...]:
        """The names of those who won, or drew with each other."""
        return tuple(self.players[seat - 1] for seat in self.outcome.winners)

    def describe(self) -> str:
        """Say in one line who beat whom, and how: `b beat a W+3.5`."""
        winning = self.outcome.winners
        others = [name for seat, name in enumerate(self.players, start=1) if seat not in winning]
        detail = f" ({self.outcome.detail})" if self.outcome.detail else ""
        if not winning:
            players = " vs ".join(self.players)
            return f"{players} {self.outcome.summary or '?'}{detail or ' (result unknown)'}"
        beaten = f" beat {', '.join(others)}" if others else ""
        verb = " drew with " if len(winning) > 1 else ""
        return f"{verb.join(self.winners)}{beaten} {self.outcome.summary}{detail}"


_COMPLETED: Final = 2


@dataclass(frozen=True)
class ListedPlayer:
    """A seat of a listed game; `points` are None where nothing was counted, `cpu_seconds` where unknown."""

    name: str
    winner: bool
    points: float | None
    elo_before: float
    elo_after: float
    cpu_seconds: float | None


@dataclass(frozen=True)
class ListedGame:
    """A finished game; `sequence` grows from game to game, `finished` is in UTC."""

    sequence: int
    game_id: str
    matchup: str
    summary: str
    detail: str
    termination: str
    finished: datetime
    players: tuple[ListedPlayer, ...]


@dataclass(frozen=True)
class ListedMove:
    """A move of a listed game; `value` is the mover's own, None where it reported none."""

    seat: int
    text: str
    seconds: float
    value: float | None
    comment: str


@dataclass(frozen=True)
class WholeGame:
    """A game with its moves and its record."""

    game: ListedGame
    moves: tuple[ListedMove, ...]
    record: str
    record_extension: str


class GameListing:
    """The finished games of one competition, in the order in which they ended."""

    def __init__(self, database: ResultsDatabase, name: str) -> None:
        """Raises ResultsError if the competition has not been run."""
        self._database = database
        with database.transaction() as connection:
            self._series_id = find_competition(connection, name)

    def completed(self) -> bool:
        """Whether all games of the competition have been played."""
        query = select(saga.SERIES.c.State).filter_by(SeriesId=self._series_id)
        with self._database.transaction() as connection:
            return bool(connection.execute(query).scalar_one() == _COMPLETED)

    def count(self) -> int:
        """How many games count."""
        return self._count(own.GAME_DETAIL)

    def void_count(self) -> int:
        """How many attempts were void."""
        return self._count(own.VOID, Cause="void")

    def _count(self, table: Any, **conditions: object) -> int:
        query = select(func.count()).select_from(table).filter_by(SeriesId=self._series_id, **conditions)
        with self._database.transaction() as connection:
            return int(connection.execute(query).scalar_one())

    def last(self) -> int:
        """The newest game's sequence, 0 without a game."""
        table = own.GAME_DETAIL
        query = select(func.coalesce(func.max(table.c.GameId), 0)).filter_by(SeriesId=self._series_id)
        with self._database.transaction() as connection:
            return int(connection.execute(query).scalar_one())

    def after(self, sequence: int, limit: int) -> Sequence[ListedGame]:
        """The next games after a sequence, at most `limit`."""
        detail = own.GAME_DETAIL.c
        chosen = (
            select(detail.GameId)
            .where(detail.SeriesId == self._series_id, detail.GameId > sequence)
            .order_by(detail.GameId)
            .limit(limit)
        )
        return self._games(chosen)

    def game(self, game_id: str) -> WholeGame | None:
        """The game of this id that counts; None if no game does."""
        detail = own.GAME_DETAIL.c
        chosen = select(detail.GameId).filter_by(SeriesId=self._series_id, Name=game_id)
        games = self._games(chosen)
        if not games:
            return None
        query = select(detail.Record, detail.RecordExtension, detail.Moves)
        with self._database.transaction() as connection:
            content, extension, moves = connection.execute(query.filter_by(GameId=games[0].sequence)).one()
        played = tuple(
            ListedMove(move.seat, move.text, move.seconds, move.values.get(move.seat), legible(move.comment))
            for move in unpack_moves(moves)
        )
        return WholeGame(games[0], played, content, extension)

    def _games(self, chosen: Any) -> Sequence[ListedGame]:
        detail, player, rating, seat = own.GAME_DETAIL.c, saga.PLAYER.c, own.RATING.c, own.SEAT.c
        query = (
            select(
                *(detail.GameId, detail.Name.label("GameName"), detail.Matchup, detail.Summary),
                *(detail.Detail, detail.Termination, saga.GAME.c.Finished),
                *(rating.Name, player.Winner, player.Supplies),
                *(rating.EloBefore, rating.EloAfter, player.Cpu),
            )
            .join_from(own.GAME_DETAIL, saga.GAME, saga.GAME.c.GameId == detail.GameId)
            .join(own.RATING, detail.GameId == rating.GameId)
            .join(own.SEAT, (seat.GameId == rating.GameId) & (seat.Seat == rating.Seat))
            .join(saga.PLAYER, (player.GameId == seat.GameId) & (player.PowerId == seat.PowerId))
            .where(detail.GameId.in_(chosen))
            .order_by(detail.GameId, rating.Seat)
        )
        games: dict[int, list[Any]] = {}
        with self._database.transaction() as connection:
            for row in connection.execute(query):
                games.setdefault(row.GameId, []).append(row)
        return [_game(rows) for rows in games.values()]


def _game(rows: Sequence[Any]) -> ListedGame:
    first = rows[0]
    return ListedGame(
        sequence=first.GameId,
        game_id=first.GameName,
        matchup=first.Matchup,
        summary=first.Summary,
        detail=legible(first.Detail),
        termination=first.Termination,
        finished=first.Finished,
        players=tuple(
            ListedPlayer(row.Name, bool(row.Winner), row.Supplies, row.EloBefore, row.EloAfter, row.Cpu)
            for row in rows
        ),
    )
