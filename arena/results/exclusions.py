"""Players and matchups that were left out of a competition: who, why, and after how many games.

A selector must learn of them between the same games again to give out the same games.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from arena.control.settings import Scope
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import find_or_add, utc_now

Game = TypeVar("Game")


@dataclass(frozen=True)
class Exclusion:
    """A player or matchup left out after `games` finished games, and let in again after `readmitted`."""

    scope: Scope
    name: str
    reason: str
    games: int
    readmitted: int | None = None


@dataclass(frozen=True)
class Change:
    """A player or a matchup is left out from now on, or is let in again."""

    scope: Scope
    name: str
    is_out: bool


def exclude(connection: Connection, series_id: int, scope: Scope, name: str, reason: str) -> None:
    """Store that a player or matchup is left out from now on."""
    row = {"SeriesId": series_id, "Scope": scope, "Name": name, "Reason": reason, "Time": utc_now()}
    connection.execute(insert(own.EXCLUSION).values(**row, Games=_finished(connection, series_id)))


def readmit(connection: Connection, series_id: int) -> None:
    """Store that all players and matchups take part again."""
    connection.execute(
        update(own.EXCLUSION)
        .filter_by(SeriesId=series_id, Readmitted=None)
        .values(Readmitted=_finished(connection, series_id))
    )


def exclusions(connection: Connection, series_id: int) -> list[Exclusion]:
    """All that were left out, in that order."""
    table = own.EXCLUSION.c
    query = select(table.Scope, table.Name, table.Reason, table.Games, table.Readmitted)
    rows = connection.execute(query.where(table.SeriesId == series_id).order_by(table.ExclusionId))
    return [Exclusion(*row) for row in rows]


def interleave(games: Iterable[Game], known: Iterable[Exclusion]) -> Iterator[Game | Change]:
    """The games in the order in which they were finished, and between them who was left out or let in."""
    changes = [
        (moment, number, not is_out, Change(exclusion.scope, exclusion.name, is_out))
        for number, exclusion in enumerate(known)
        for is_out, moment in ((True, exclusion.games), (False, exclusion.readmitted))
        if moment is not None
    ]
    waiting = [(moment, change) for moment, _, _, change in sorted(changes, key=lambda entry: entry[:3])]
    for count, game in enumerate(games):
        while waiting and waiting[0][0] <= count:
            yield waiting.pop(0)[1]
        yield game
    yield from (change for _, change in waiting)


def _finished(connection: Connection, series_id: int) -> int:
    query = select(func.count()).select_from(own.GAME_DETAIL).filter_by(SeriesId=series_id)
    return int(connection.execute(query).scalar_one())


def inhibit(connection: Connection, contestant_id: int, variant: str) -> None:
    """Note that a contestant gets no more games of a variant, which is known from its games."""
    variant_id = connection.execute(select(saga.VARIANT.c.VariantId).filter_by(Name=variant)).scalar_one()
    find_or_add(connection, own.INHIBITION, {"ContestantId": contestant_id, "VariantId": variant_id})
    client = select(saga.CONTESTANT.c.ClientId).filter_by(ContestantId=contestant_id)
    pair = {"ClientId": connection.execute(client).scalar_one(), "VariantId": variant_id}
    find_or_add(connection, saga.CLIENT_VARIANT, pair)
    connection.execute(update(saga.CLIENT_VARIANT).filter_by(**pair).values(AutoInhibit=True))


def lift_inhibitions(connection: Connection, series_id: int) -> None:
    """Forget the inhibitions of a competition; those that others have found of the same clients stay."""
    table, competitor, contestant = own.INHIBITION, own.COMPETITOR.c, saga.CONTESTANT.c
    mine = select(competitor.ContestantId).where(competitor.SeriesId == series_id)
    clients = select(contestant.ClientId).where(contestant.ContestantId.in_(mine))
    connection.execute(delete(table).where(table.c.ContestantId.in_(mine)))
    client = saga.CLIENT_VARIANT.c
    left = exists().where(
        table.c.ContestantId == contestant.ContestantId,
        table.c.VariantId == client.VariantId,
        contestant.ClientId == client.ClientId,
    )
    connection.execute(
        update(saga.CLIENT_VARIANT).where(client.ClientId.in_(clients), ~left).values(AutoInhibit=False)
    )


def inhibited(connection: Connection, series_id: int) -> set[tuple[str, str]]:
    """The competitors that are inhibited, each with the variant."""
    competitor = own.COMPETITOR.c
    query = (
        select(competitor.Name, saga.VARIANT.c.Name)
        .join_from(own.COMPETITOR, own.INHIBITION, own.INHIBITION.c.ContestantId == competitor.ContestantId)
        .join(saga.VARIANT, saga.VARIANT.c.VariantId == own.INHIBITION.c.VariantId)
        .where(competitor.SeriesId == series_id, competitor.Current)
    )
    return {(player, variant) for player, variant in connection.execute(query)}
