"""The members of a service's league, held in memory, so that no caller waits for a database to be known."""

import asyncio
import math
import time
from array import array
from bisect import bisect
from collections import defaultdict
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Final

from arena.league.errors import BannedError
from arena.league.members import Member, Members, games_between
from arena.results.database import utc_now

DAY: Final = timedelta(days=1)


class MemberRegister:
    """The members as they were read last. Use `refresh` within one event loop, the rest from any thread."""

    def __init__(self, members: Members) -> None:
        """Reads the members. Raises SQLAlchemyError."""
        self.members = members
        self._reading = asyncio.Lock()
        self._begun = utc_now()
        # When members' games ended here, in seconds; the league learns of them later.
        self._ended: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        # By name: this day's games before the service began, and those at other services after that.
        self._earlier: dict[str, int] = {}
        self._elsewhere: dict[str, int] = {}
        self._take(*self._read())

    def _read(self) -> tuple[list[Member], dict[str, int], dict[str, int]]:
        """The members, and the games of this day in the league: all, and those before the service began."""
        members, now = self.members.all(), utc_now()
        bounded = [member.name for member in members if member.games_a_day]
        # Where a clock that was ahead has been put right, only what came before that is known to be earlier.
        self._begun = min(self._begun, now)
        league = self.members.league
        return (
            members,
            # Such a clock may have dated some years ahead; those of others differ a little.
            games_between(league, bounded, now - DAY, now + DAY),
            games_between(league, bounded, now - DAY, self._begun),
        )

    def _take(self, members: list[Member], games: dict[str, int], earlier: dict[str, int]) -> None:
        self._earlier = earlier
        self._elsewhere = {
            name: max(0, played - earlier.get(name, 0) - len(self._ended_today(name)))
            for name, played in games.items()
        }
        by_digest = {
            digest: member for member in members for digest in (member.digest, member.old_digest) if digest
        }
        self._by_name, self._by_digest = {member.name: member for member in members}, by_digest

    async def refresh(self) -> None:
        """Read the members again: after each change, and now and then, as other services may change them."""
        async with self._reading:
            self._take(*await asyncio.to_thread(self._read))

    def named(self, name: str) -> Member | None:
        """The member of a name."""
        return self._by_name.get(name)

    def all(self) -> list[Member]:
        """All members, by name."""
        return list(self._by_name.values())

    def holder(self, digest: bytes) -> Member | None:
        """Whose token has a digest."""
        member = self._by_digest.get(digest)
        if member is None or not any(compare_digest(digest, own) for own in member.digests(utc_now())):
            return None
        return member

    def check_in(self, name: str) -> int:
        """Check that a player that dials in is not banned; return how many games it may play at once, or 0.

        Raises BannedError.
        """
        member = self._by_name.get(name)
        if member is None:
            return 0
        if member.is_banned(utc_now()):
            raise banned(member)
        return member.games_at_once

    def games_left(self, name: str) -> float:
        """How many games a member may still finish today, those in progress among them."""
        member = self._by_name.get(name)
        if member is None or not member.games_a_day:
            return math.inf
        others = self._earlier.get(name, 0) + self._elsewhere.get(name, 0)
        return member.games_a_day - others - len(self._ended_today(name))

    def note_game(self, name: str) -> None:
        """Note that a player has finished a game that counts."""
        if name in self._by_name:
            self._ended_today(name).append(time.time())

    def _ended_today(self, name: str) -> "array[float]":
        ended, now = self._ended[name], time.time()
        # Those that a clock dated ahead would be of today for as long.
        del ended[bisect(ended, now) :]
        del ended[: bisect(ended, now - DAY.total_seconds())]
        return ended


def banned(member: Member) -> BannedError:
    """What a banned member is refused with."""
    until = "" if member.ban_until is None else f" until {shown(member.ban_until)}"
    return BannedError(f"{member.name} is banned{until}: {member.ban_reason or 'no reason is given'}")


def shown(time: datetime) -> str:
    """A time in UTC, for people."""
    return f"{time:%Y-%m-%d %H:%M} UTC"
