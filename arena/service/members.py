"""The service of members: they register themselves; operators invite, ban and bound them."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, Final

import structlog
from google.protobuf.duration_pb2 import Duration

from academy.wire.errors import NotAuthenticatedError, NotPermittedError
from academy.wire.peers import holder_of
from academy.wire.rates import Buckets
from arena.league.errors import UnknownInvitationError
from arena.league.members import GRACE, MOST_USES, Application, Invitation, Member
from arena.lobby.errors import InvalidRequestError, TooManyError
from arena.lobby.lobby import Lobby
from arena.results.database import utc_now
from arena.service.access import AnsweringServicer, Context, ServiceAccess, answered
from arena.service.member_register import MemberRegister, banned
from arena.service.paging import number_token, page_size
from arena.service.timestamps import timestamp_of
from arena.service.tokens import ServiceCaller, ServiceRole
from arena.v1 import members_pb2 as messages
from arena.v1 import members_pb2_grpc

REGISTRATIONS_PER_HOUR: Final = 20.0
REGISTRATION_BURST: Final = 30.0
_MOST_AT_ONCE: Final = 10_000
# What a database keeps as the number of a row.
_LARGEST_ID: Final = 2**31 - 1
_OWN: Final = (ServiceRole.OPERATOR, ServiceRole.PLAYER)
_log = structlog.get_logger()


class MemberServicer(AnsweringServicer, members_pb2_grpc.MemberServiceServicer):
    """Answers from the league's members. With `open_to_all` players register without an invitation."""

    def __init__(
        self, access: ServiceAccess, register: MemberRegister, lobby: Lobby, *, open_to_all: bool
    ) -> None:
        super().__init__(access)
        self._register = register
        self._members = register.members
        self._open_to_all = open_to_all
        self._rates = Buckets(REGISTRATIONS_PER_HOUR / 3600, REGISTRATION_BURST)
        self._lobby = lobby

    async def Register(
        self, request: messages.RegisterRequest, context: Context
    ) -> messages.RegisterResponse:
        """Enter a player; its token is in the answer alone."""

        async def register() -> messages.RegisterResponse:
            wait = self._rates.of(holder_of(context.peer())).take(1)
            if wait:
                raise _too_often(wait)
            application = Application(
                request.name, request.version, request.family, request.contact, tuple(request.games)
            )
            names = [caller.name for caller in await asyncio.to_thread(self.access.tokens.callers)]
            member, token = await asyncio.to_thread(
                partial(
                    self._members.register,
                    application,
                    request.invitation,
                    request.key,
                    open_to_all=self._open_to_all,
                    taken=names,
                )
            )
            await self._register.refresh()
            _log.info("member registered", name=member.name, version=member.version, peer=context.peer())
            return messages.RegisterResponse(member=_message(member), token=token)

        return await self.answer_anybody(context, register)

    @answered(*_OWN)
    async def GetMember(
        self, request: messages.GetMemberRequest, caller: ServiceCaller
    ) -> messages.GetMemberResponse:
        """A member as itself and operators see it."""
        name = _whose(request.name, caller)
        # Its row alone: anybody may ask often, and the league may have thousands.
        member = await asyncio.to_thread(self._members.named, name)
        return messages.GetMemberResponse(member=_message(member))

    @answered(ServiceRole.OPERATOR)
    async def ListMembers(
        self, request: messages.ListMembersRequest, _: ServiceCaller
    ) -> messages.ListMembersResponse:
        """A page of members. The token is the last member's name.

        What other services change of them is seen when the members are read again.
        """
        size = page_size(request.page_size)
        rest = [member for member in self._register.all() if member.name > request.page_token]
        answer = messages.ListMembersResponse(members=map(_message, rest[:size]))
        if len(rest) > size:
            answer.next_page_token = rest[size - 1].name
        return answer

    @answered(*_OWN)
    async def ChangeMember(
        self, request: messages.ChangeMemberRequest, caller: ServiceCaller
    ) -> messages.ChangeMemberResponse:
        """Change a member's contact, games or version."""
        name = self._allowed(request.name, caller)
        change = partial(
            self._members.change,
            name,
            version=request.version if request.HasField("version") else None,
            contact=request.contact if request.HasField("contact") else None,
            games=list(request.games.games) if request.HasField("games") else None,
        )
        member = await self._change(change, "member changed", name, caller)
        return messages.ChangeMemberResponse(member=_message(member))

    @answered(*_OWN)
    async def RotateToken(
        self, request: messages.RotateTokenRequest, caller: ServiceCaller
    ) -> messages.RotateTokenResponse:
        """Give a member another token."""
        name = self._allowed(request.name, caller)
        rotate = partial(self._members.rotate, name, at_once=request.at_once)
        token = await self._change(rotate, "member's token changed", name, caller)
        answer = messages.RotateTokenResponse(token=token)
        if request.at_once:
            self._lobby.end_session(name, NotAuthenticatedError("this player has another token now"))
        else:
            answer.grace.FromTimedelta(GRACE)
        return answer

    @answered(*_OWN)
    async def RevokeMemberToken(
        self, request: messages.RevokeMemberTokenRequest, caller: ServiceCaller
    ) -> messages.RevokeMemberTokenResponse:
        """End a member's tokens and its stream."""
        name = _whose(request.name, caller)
        await self._change(partial(self._members.revoke, name), "member's token revoked", name, caller)
        self._lobby.end_session(name, NotAuthenticatedError("this player's token was revoked"))
        return messages.RevokeMemberTokenResponse()

    @answered(ServiceRole.OPERATOR)
    async def BanMember(
        self, request: messages.BanMemberRequest, caller: ServiceCaller
    ) -> messages.BanMemberResponse:
        """Keep a member out, and end its stream."""
        duration = _duration(request, "duration")
        ban = partial(self._members.ban, request.name, request.reason, duration)
        member = await self._change(ban, "member banned", request.name, caller)
        self._lobby.end_session(member.name, banned(member))
        return messages.BanMemberResponse(member=_message(member))

    @answered(ServiceRole.OPERATOR)
    async def UnbanMember(
        self, request: messages.UnbanMemberRequest, caller: ServiceCaller
    ) -> messages.UnbanMemberResponse:
        """Let a member play again."""
        unban = partial(self._members.unban, request.name)
        member = await self._change(unban, "member unbanned", request.name, caller)
        return messages.UnbanMemberResponse(member=_message(member))

    @answered(ServiceRole.OPERATOR)
    async def SetQuota(
        self, request: messages.SetQuotaRequest, caller: ServiceCaller
    ) -> messages.SetQuotaResponse:
        """Bound what a member plays; what it plays at once holds from its next stream on."""
        quota = request.quota
        if max(quota.games_at_once, quota.games_a_day) > _MOST_AT_ONCE:
            raise InvalidRequestError(f"quota: write at most {_MOST_AT_ONCE}, or 0 for no limit")
        bound = partial(self._members.set_quota, request.name, quota.games_at_once, quota.games_a_day)
        member = await self._change(bound, "member's quota set", request.name, caller)
        return messages.SetQuotaResponse(member=_message(member))

    @answered(ServiceRole.OPERATOR)
    async def RemoveMember(
        self, request: messages.RemoveMemberRequest, caller: ServiceCaller
    ) -> messages.RemoveMemberResponse:
        """Free a name."""
        name = request.name
        await self._change(partial(self._members.remove, name), "member removed", name, caller)
        self._lobby.end_session(name, NotAuthenticatedError("this player was removed"))
        return messages.RemoveMemberResponse()

    @answered(ServiceRole.OPERATOR)
    async def CreateInvitation(
        self, request: messages.CreateInvitationRequest, caller: ServiceCaller
    ) -> messages.CreateInvitationResponse:
        """Make an invitation; its code is in the answer alone."""
        if request.uses > MOST_USES:
            raise InvalidRequestError(f"uses: {request.uses}: write at most {MOST_USES}")
        invitation, code = await asyncio.to_thread(
            self._members.invite,
            request.note,
            request.name,
            request.uses or 1,
            _duration(request, "duration"),
        )
        _log.info("invitation made", invitation=invitation.invitation_id, caller=caller.name)
        return messages.CreateInvitationResponse(invitation=_invitation(invitation), code=code)

    @answered(ServiceRole.OPERATOR)
    async def ListInvitations(
        self, request: messages.ListInvitationsRequest, _: ServiceCaller
    ) -> messages.ListInvitationsResponse:
        """A page of invitations. The token is the last one's number."""
        size = page_size(request.page_size)
        before = number_token(request.page_token) if request.page_token else None
        listed = await asyncio.to_thread(self._members.invitations, before, size + 1)
        answer = messages.ListInvitationsResponse(invitations=map(_invitation, listed[:size]))
        if len(listed) > size:
            answer.next_page_token = str(listed[size - 1].invitation_id)
        return answer

    @answered(ServiceRole.OPERATOR)
    async def RevokeInvitation(
        self, request: messages.RevokeInvitationRequest, caller: ServiceCaller
    ) -> messages.RevokeInvitationResponse:
        """End an invitation."""
        if request.invitation_id > _LARGEST_ID:
            raise UnknownInvitationError(f"there is no invitation {request.invitation_id}")
        await asyncio.to_thread(self._members.revoke_invitation, request.invitation_id)
        _log.info("invitation revoked", invitation=request.invitation_id, caller=caller.name)
        return messages.RevokeInvitationResponse()

    async def _change(self, change: Callable[[], Any], event: str, name: str, caller: ServiceCaller) -> Any:
        """Change a member in the database, then in memory."""
        changed = await asyncio.to_thread(change)
        await self._register.refresh()
        _log.info(event, name=name, caller=caller.name)
        return changed

    def _allowed(self, name: str, caller: ServiceCaller) -> str:
        """Whose change it is; a banned member changes nothing. Raises BannedError and NotPermittedError."""
        name = _whose(name, caller)
        if caller.role is not ServiceRole.OPERATOR:
            self._register.check_in(name)
        return name


def _whose(name: str, caller: ServiceCaller) -> str:
    """Whom a call is about. Raises NotPermittedError and InvalidRequestError."""
    if caller.role is ServiceRole.OPERATOR:
        if not name:
            raise InvalidRequestError("name: an operator says whom the call is about")
        return name
    if name not in ("", caller.name):
        raise NotPermittedError(f"{caller.name} may not see or change another member")
    return caller.name


def _too_often(seconds: float) -> TooManyError:
    error = TooManyError(
        f"more than {REGISTRATIONS_PER_HOUR:g} registrations an hour from this address",
        registrations_per_hour=REGISTRATIONS_PER_HOUR,
    )
    error.retry_after = seconds
    return error


def _duration(request: Any, field: str) -> timedelta | None:
    """A duration of a request; None where it is absent. Raises InvalidRequestError."""
    if not request.HasField(field):
        return None
    try:
        duration: Duration = getattr(request, field)
        return duration.ToTimedelta()
    except (OverflowError, ValueError):
        raise InvalidRequestError(f"{field}: write seconds that are some years at most") from None


def _message(member: Member) -> messages.Member:
    answer = messages.Member(
        name=member.name,
        version=member.version,
        family=member.family,
        contact=member.contact,
        games=member.games,
        registered=timestamp_of(member.registered),
        has_token=member.digest is not None,
    )
    if member.is_banned(utc_now()):
        answer.ban.reason = member.ban_reason
        if member.ban_until is not None:
            answer.ban.until.CopyFrom(timestamp_of(member.ban_until))
    if member.games_at_once or member.games_a_day:
        answer.quota.games_at_once = member.games_at_once
        answer.quota.games_a_day = member.games_a_day
    return answer


def _invitation(invitation: Invitation) -> messages.Invitation:
    return messages.Invitation(
        invitation_id=invitation.invitation_id,
        note=invitation.note,
        name=invitation.name,
        uses=invitation.uses,
        used=invitation.used,
        revoked=invitation.revoked,
        created=timestamp_of(invitation.created),
        expires=None if invitation.expires is None else timestamp_of(invitation.expires),
    )
