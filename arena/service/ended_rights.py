"""Ends the streams of players whose rights another process has ended.

What is changed over this service ends a stream at once. But a league's other services ban members and end
their tokens too, and `arena token --revoke` changes the file of tokens where it stands.
"""

import asyncio
from typing import Final

from academy.wire.errors import NotAuthenticatedError, RefusedCallError
from arena.lobby.lobby import Lobby, RemoteSession
from arena.results.database import utc_now
from arena.service.access import ServiceAccess
from arena.service.member_register import banned
from arena.service.tokens import ServiceCaller, ServiceRole

LOOK_SECONDS: Final = 1.0


async def end_streams_without_rights(access: ServiceAccess, lobby: Lobby) -> None:
    """Look at all who have dialled in, each second, until this is cancelled."""
    without: set[RemoteSession] = set()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        before, without = without, set()
        for session in lobby.sessions():
            why = _why_ended(access, session.name, session.token_digest)
            if why is not None:
                without.add(session)
                # Editors empty a file of tokens before they write it.
                if session in before:
                    session.end(why)


def _why_ended(access: ServiceAccess, player: str, digest: bytes) -> RefusedCallError | None:
    """Why one who was let in with a token may not stay; None for one who may."""
    member = None if access.members is None else access.members.named(player)
    if member is not None:
        if member.is_banned(utc_now()):
            return banned(member)
        # A stream outlives the ten minutes that its token is good after a rotation.
        if digest in (member.digest, member.old_digest):
            return None
    if access.tokens.holder(digest) == ServiceCaller(player, ServiceRole.PLAYER):
        return None
    return NotAuthenticatedError("this player's token was revoked")
