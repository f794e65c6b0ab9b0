"""Players and matchups that were left out of a competition: who, why, and after how many games.

A selector must hear of them between the same games again to give out the same games.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, func, insert, select, update

from arena.control.settings import Scope
from arena.results import own_tables as own
from arena.results.database import utc_now

Game = TypeVar("Game")


@dataclass(frozen=True)
class Exclusion:
    """Somebody was left out when `games` games were finished, and let in again at `readmitted`, if at all."""

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
    """Store that nobody is left out from now on."""
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


def interleaved(games: Iterable[Game], known: Iterable[Exclusion]) -> Iterator[Game | Change]:
    """The games in the order in which they were finished, and between them who was left out or let in."""
    changes = [
        (moment, number, not is_out, Change(one.scope, one.name, is_out))
        for number, one in enumerate(known)
        for is_out, moment in ((True, one.games), (False, one.readmitted))
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
