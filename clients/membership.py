"""Membership of a league: a player registers itself, changes its entry, and renews its token."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import grpc

from arena.v1 import members_pb2, members_pb2_grpc
from clients.connection import Connection, to_client_error


@dataclass(frozen=True)
class Membership:
    """A member of a league, as the member itself sees it.

    Args:
        name: its name in competitions.
        version: the version that plays now.
        family: what players of one architecture share.
        contact: how operators reach its author.
        games: the games and pools that it plays; none for all.
        registered: when it registered, in UTC.
        ban: why it may not play; "" for a member that may.
    """

    name: str
    version: str = ""
    family: str = ""
    contact: str = ""
    games: tuple[str, ...] = ()
    registered: datetime | None = None
    ban: str = ""


def register(connection: Connection, wanted: Membership, invitation: str = "") -> str:
    """Register a player at an arena's service.

    Args:
        connection: where the service is; it needs no token.
        wanted: the player's name, version, family, contact and games; the rest is left out.
        invitation: the code of an invitation; "" where the service needs none.

    Returns:
        The token with which the player dials in. Keep it: nobody can get it again.

    Raises:
        AcademyRefusedError: the name is taken (NAME_CLAIMED), the invitation is not good (INVITATION_NEEDED),
            or a field breaks a rule (INVALID_MEMBER).
        AcademyUnavailableError: no answer came.
        OSError: a certificate cannot be read.
    """
    request = members_pb2.RegisterRequest(
        name=wanted.name,
        version=wanted.version,
        family=wanted.family,
        contact=wanted.contact,
        games=wanted.games,
        invitation=invitation,
        # With it the call may be repeated.
        key=secrets.token_urlsafe(32),
    )
    with _calling(replace(connection, token=""), f"registering {wanted.name}") as (members, options):
        token: str = members.Register(request, **options).token
    return token


def membership(connection: Connection) -> Membership:
    """Read a member's own entry.

    Args:
        connection: where the service is, with the member's token.

    Returns:
        The member.

    Raises:
        AcademyRefusedError: the token is not a member's.
        AcademyUnavailableError: no answer came.
        OSError: a certificate cannot be read.
    """
    with _calling(connection, "reading the membership") as (members, options):
        return _membership(members.GetMember(members_pb2.GetMemberRequest(), **options).member)


def change_membership(
    connection: Connection,
    *,
    version: str | None = None,
    contact: str | None = None,
    games: Sequence[str] | None = None,
) -> Membership:
    """Change a member's own entry. A new version has ratings of its own, which begin with those before.

    Args:
        connection: where the service is, with the member's token.
        version: the version that plays from now on; None to leave it.
        contact: another contact; None to leave it.
        games: other games and pools, none for all; None to leave them.

    Returns:
        The member as it is now.

    Raises:
        AcademyRefusedError: a field breaks a rule (INVALID_MEMBER), or the member is banned (BANNED).
        AcademyUnavailableError: no answer came.
        OSError: a certificate cannot be read.
    """
    request = members_pb2.ChangeMemberRequest(version=version, contact=contact)
    if games is not None:
        request.games.CopyFrom(members_pb2.GameList(games=games))
    with _calling(connection, "changing the membership") as (members, options):
        return _membership(members.ChangeMember(request, **options).member)


def rotate_token(connection: Connection, *, at_once: bool = False) -> str:
    """Get another token for a member.

    Args:
        connection: where the service is, with the member's token.
        at_once: end the token before and its stream now; else it is good for ten minutes more.

    Returns:
        The new token.

    Raises:
        AcademyRefusedError: the token is not a member's, or the member is banned (BANNED).
        AcademyUnavailableError: no answer came.
        OSError: a certificate cannot be read.
    """
    with _calling(connection, "changing the token") as (members, options):
        token: str = members.RotateToken(members_pb2.RotateTokenRequest(at_once=at_once), **options).token
    return token


def revoke_token(connection: Connection) -> None:
    """End a member's tokens and its stream; an operator can give it another token.

    Args:
        connection: where the service is, with the member's token.

    Raises:
        AcademyRefusedError: the token is not a member's.
        AcademyUnavailableError: no answer came.
        OSError: a certificate cannot be read.
    """
    with _calling(connection, "revoking the token") as (members, options):
        members.RevokeMemberToken(members_pb2.RevokeMemberTokenRequest(), **options)


@contextmanager
def _calling(
    connection: Connection, doing: str
) -> Iterator[tuple[members_pb2_grpc.MemberServiceStub, dict[str, Any]]]:
    """A stub and the options of its calls, whose errors become ours."""
    with connection.channel() as channel:
        try:
            yield (
                members_pb2_grpc.MemberServiceStub(channel),
                {"metadata": connection.metadata, "timeout": connection.timeout},
            )
        except grpc.RpcError as error:
            raise to_client_error(error, f"{connection.address}: {doing}") from None


def _membership(member: members_pb2.Member) -> Membership:
    return Membership(
        member.name,
        member.version,
        member.family,
        member.contact,
        tuple(member.games),
        member.registered.ToDatetime(UTC),
        (member.ban.reason or "no reason is given") if member.HasField("ban") else "",
    )
