"""Pools of a standing arena as a league keeps them: what is played, and when."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cronsim import CronSim, CronSimError
from sqlalchemy import Connection, delete, insert, select, update

from arena.league.database import LeagueDatabase
from arena.league.errors import InvalidPoolError, PoolConflictError, UnknownPoolError
from arena.league.tables import POOL
from arena.results.database import utc_now

MOST_POOLS: Final = 1_000
LONGEST_OPENING: Final = timedelta(days=366)
LONGEST_SCHEDULE: Final = 200
_FIELDS: Final = ("minute", "hour", "day", "month", "weekday")
_FORM: Final = f"{', '.join(_FIELDS)}, such as `0 20 * * 6`"
OPEN: Final = "open"
PAUSED: Final = "paused"
ENDED: Final = "ended"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Schedule:
    """When a pool is open: from each time of a cron expression, in UTC, for a while."""

    cron: str
    open_for: timedelta

    @classmethod
    def of(cls, cron: str, open_for: timedelta | None) -> "Schedule | None":
        """The schedule; None where there is none. Raises InvalidPoolError."""
        if not cron:
            if open_for is not None:
                raise InvalidPoolError("open_for", "it needs a schedule, such as `0 20 * * 6`")
            return None
        if open_for is None or not timedelta(0) < open_for <= LONGEST_OPENING:
            raise InvalidPoolError("open_for", "say how long the pool is open each time, at most 366 days")
        if len(cron) > LONGEST_SCHEDULE or len(cron.split()) != len(_FIELDS):
            raise InvalidPoolError(
                "schedule", f"{cron[:80]!r}: write {_FORM}, {LONGEST_SCHEDULE} characters at most"
            )
        try:
            next(CronSim(cron, datetime.now(UTC)))
        except (CronSimError, StopIteration) as error:
            raise InvalidPoolError(
                "schedule",
                f"{cron!r} is not a time as cron writes it, or never comes ({error}): write {_FORM}",
            ) from None
        return cls(cron, open_for)

    def is_open(self, now: datetime) -> bool:
        """Whether the pool is open at a time (UTC, without a zone)."""
        # The search begins before the minute that it is given.
        begun = next(CronSim(self.cron, _zoned(now) + timedelta(seconds=1), reverse=True), None)
        return begun is not None and _zoned(now) < begun + self.open_for

    def opens(self, now: datetime) -> datetime | None:
        """When it opens next after a time."""
        following = next(CronSim(self.cron, _zoned(now)), None)
        return None if following is None else following.replace(tzinfo=None)


@dataclass(frozen=True)
class StoredPool:
    """A pool: its name, its state, its settings as they were given, and when it was added."""

    name: str
    state: str
    settings: bytes
    added: datetime


class Pools:
    """The pools of a league. Methods wait for the database."""

    def __init__(self, league: LeagueDatabase) -> None:
        self._league = league

    def all(self) -> list[StoredPool]:
        """All pools, by name."""
        return [StoredPool(*row) for row in self._league.rows(select(POOL).order_by(POOL.c.Name))]

    def named(self, name: str) -> StoredPool:
        """The pool of a name. Raises UnknownPoolError."""
        with self._league.transaction() as connection:
            return _named(connection, name)

    @staticmethod
    def check_name(name: str) -> None:
        """Raises InvalidPoolError for what is not a pool's name."""
        if not _NAME.fullmatch(name):
            raise InvalidPoolError(
                "name",
                f"{name[:80]!r}: write at most 64 letters of ASCII, digits, '-' and '_', "
                "a letter or digit first",
            )

    def add(self, name: str, settings: bytes) -> StoredPool:
        """Add a pool; the same again changes nothing. Raises InvalidPoolError and PoolConflictError."""
        self.check_name(name)
        with self._league.sole_transaction() as connection:
            pools = {row.Name: row for row in connection.execute(select(POOL))}
            known = pools.get(name)
            if known is None and len(pools) >= MOST_POOLS:
                raise InvalidPoolError("name", f"the league has {MOST_POOLS} pools already")
            if known is None:
                row = {"Name": name, "State": OPEN, "Settings": settings, "Added": utc_now()}
                connection.execute(insert(POOL).values(row))
            elif known.Settings != settings:
                raise PoolConflictError(f"there is another pool {name!r}", name=name)
        return self.named(name)

    def change(self, name: str, settings: bytes) -> StoredPool:
        """Give a pool other settings. Raises UnknownPoolError."""
        with self._league.sole_transaction() as connection:
            return _update(connection, name, Settings=settings)

    def set_state(self, name: str, state: str) -> StoredPool:
        """Open, pause or end a pool. Raises UnknownPoolError; PoolConflictError for one that has ended."""
        with self._league.sole_transaction() as connection:
            if _named(connection, name).state == ENDED and state != ENDED:
                raise PoolConflictError(f"the pool {name!r} has ended: add another", name=name)
            return _update(connection, name, State=state)

    def end_played(self, name: str, settings: bytes) -> None:
        """End a pool whose rounds by these settings are played, unless it has others now."""
        pool = POOL.c
        with self._league.sole_transaction() as connection:
            played = update(POOL).where(pool.Name == name, pool.Settings == settings)
            connection.execute(played.values(State=ENDED))

    def remove(self, name: str) -> None:
        """Free the name of a pool that has ended. Raises UnknownPoolError and PoolConflictError."""
        with self._league.sole_transaction() as connection:
            if _named(connection, name).state != ENDED:
                raise PoolConflictError(f"the pool {name!r} has not ended: end it first", name=name)
            connection.execute(delete(POOL).where(POOL.c.Name == name))


def _named(connection: Connection, name: str) -> StoredPool:
    row = connection.execute(select(POOL).where(POOL.c.Name == name)).first()
    if row is None:
        raise UnknownPoolError(f"there is no pool {name[:80]!r}", name=name)
    return StoredPool(*row)


def _update(connection: Connection, name: str, **values: object) -> StoredPool:
    connection.execute(update(POOL).where(POOL.c.Name == name).values(values))
    return _named(connection, name)


def _zoned(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)
