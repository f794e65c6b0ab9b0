"""Games of competitions as a league takes them, read from a results database in the order of their ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import select

from arena.control.schema import TUNERS
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import NoResultsYetError, ResultsDatabase
from arena.selection.selector import original_name
from referees.api import Outcome, Termination
from referees.legible_text import legible


@dataclass(frozen=True)
class SourceCompetition:
    """A competition of a results database: its key there, its name in the world and to people."""

    series_id: int
    uuid: str
    name: str
    kind: str


@dataclass(frozen=True)
class SourceSeat:
    """Who played in a seat, and the Elo with which the competition had it begin the game."""

    name: str
    version: str
    elo: float


@dataclass(frozen=True)
class SourceGame:
    """A game that counts: its key in the results database, its contest, what it was and how it ended."""

    sequence: int
    contest_id: str
    name: str
    game: str
    finished: datetime
    outcome: Outcome
    seats: tuple[SourceSeat, ...]


def competitions(results: ResultsDatabase) -> Sequence[SourceCompetition]:
    """The competitions of a database, without tuners, in the order in which they were made."""
    competition = own.COMPETITION.c
    query = (
        select(competition.SeriesId, competition.Uuid, saga.SERIES.c.Name, competition.Kind)
        .join_from(own.COMPETITION, saga.SERIES)
        .where(competition.Kind.not_in(TUNERS))
        .order_by(competition.Created, competition.SeriesId)
    )
    return [SourceCompetition(*row) for row in results.rows(query)]


def find_source_competition(results: ResultsDatabase, name: str) -> SourceCompetition:
    """Find the competition of a name, which has been entered. Raises ResultsError."""
    for competition in competitions(results):
        if competition.name == name:
            return competition
    raise NoResultsYetError(f"there are no results of {name!r} yet")


def games_after(results: ResultsDatabase, series_id: int, sequence: int, limit: int) -> list[SourceGame]:
    """The next games of a competition after a sequence, at most `limit`."""
    detail, player, rating, seat = own.GAME_DETAIL.c, saga.PLAYER.c, own.RATING.c, own.SEAT.c
    chosen = (
        select(detail.GameId)
        .where(detail.SeriesId == series_id, detail.GameId > sequence)
        .order_by(detail.GameId)
        .limit(limit)
    )
    query = (
        select(
            detail.GameId,
            detail.ContestId,
            detail.Name,
            saga.VARIANT.c.Name.label("Game"),
            saga.GAME.c.Finished,
            detail.Summary,
            detail.Termination,
            rating.Name.label("Player"),
            rating.EloBefore,
            saga.CLIENT.c.Release,
            player.Winner,
        )
        .join_from(own.GAME_DETAIL, own.RATING, detail.GameId == rating.GameId)
        .join(own.SEAT, (seat.GameId == rating.GameId) & (seat.Seat == rating.Seat))
        .join(saga.PLAYER, (player.GameId == seat.GameId) & (player.PowerId == seat.PowerId))
        .join(saga.CONTESTANT, saga.CONTESTANT.c.ContestantId == player.ContestantId)
        .join(saga.CLIENT, saga.CLIENT.c.ClientId == saga.CONTESTANT.c.ClientId)
        .join(saga.GAME, saga.GAME.c.GameId == detail.GameId)
        .join(saga.SETTING, saga.SETTING.c.SettingId == saga.GAME.c.SettingId)
        .join(saga.VARIANT, saga.VARIANT.c.VariantId == saga.SETTING.c.VariantId)
        .where(detail.GameId.in_(chosen))
        .order_by(detail.GameId, rating.Seat)
    )
    rows = results.rows(query)
    return [_game(list(seats)) for _, seats in groupby(rows, attrgetter("GameId"))]


def contest_of(results: ResultsDatabase, series_id: int, sequence: int) -> str | None:
    """The contest of the game with this sequence; None where the competition has none."""
    detail = own.GAME_DETAIL.c
    query = select(detail.ContestId).where(detail.SeriesId == series_id, detail.GameId == sequence)
    return next((row.ContestId for row in results.rows(query)), None)


def _game(seats: Sequence[Any]) -> SourceGame:
    first = seats[0]
    winners = tuple(seat for seat, row in enumerate(seats, start=1) if row.Winner)
    return SourceGame(
        first.GameId,
        first.ContestId,
        first.Name,
        first.Game,
        first.Finished,
        Outcome(winners, Termination(first.Termination), legible(first.Summary)),
        # A player's clones in one game are this player.
        tuple(SourceSeat(original_name(row.Player), row.Release, row.EloBefore) for row in seats),
    )


def batches(results: ResultsDatabase, series_id: int, sequence: int, size: int) -> Iterator[list[SourceGame]]:
    """All games after a sequence, in batches."""
    while games := games_after(results, series_id, sequence, size):
        yield games
        sequence = games[-1].sequence
