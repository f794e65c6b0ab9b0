"""The members of a service's league, held in memory, so that no caller waits for a database to be known."""

import asyncio
from datetime import datetime

from academy.wire.tokens import same_digest
from arena.league.errors import BannedError
from arena.league.members import Member, Members
from arena.results.database import utc_now


class MemberRegister:
    """The members as they were read last. Use `refresh` within one event loop, the rest from any thread."""

    def __init__(self, members: Members) -> None:
        """Reads the members. Raises SQLAlchemyError."""
        self.members = members
        self._reading = asyncio.Lock()
        self._take(members.all())

    def _take(self, members: list[Member]) -> None:
        by_digest = {
            digest: member for member in members for digest in (member.digest, member.old_digest) if digest
        }
        self._by_name, self._by_digest = {member.name: member for member in members}, by_digest

    async def refresh(self) -> None:
        """Read the members again: after each change, and now and then, as other services may change them."""
        async with self._reading:
            self._take(await asyncio.to_thread(self.members.all))

    def named(self, name: str) -> Member | None:
        """The member of a name."""
        return self._by_name.get(name)

    def all(self) -> list[Member]:
        """All members, by name."""
        return list(self._by_name.values())

    def holder(self, digest: bytes) -> Member | None:
        """Whose token has a digest."""
        member = self._by_digest.get(digest)
        if member is None or not any(same_digest(digest, own) for own in member.digests(utc_now())):
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
            raise BannedError(ban_text(member))
        return member.games_at_once


def ban_text(member: Member) -> str:
    """What a banned member is refused with."""
    until = "" if member.ban_until is None else f" until {shown(member.ban_until)}"
    return f"{member.name} is banned{until}: {member.ban_reason or 'no reason is given'}"


def shown(time: datetime) -> str:
    """A time in UTC, for people."""
    return f"{time:%Y-%m-%d %H:%M} UTC"
