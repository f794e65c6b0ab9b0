"""Actions on members of a service's league: players register themselves, operators invite and ban."""

from typing import Annotated, Any

import typer

from academy.wire.command_line import Program, not_nan
from arena.cli.arguments import Json
from arena.cli.service import MEMBERS, NOT_NEEDED, OPERATORS, Service, say_listed, say_message, with_service
from arena.output import say

Name = Annotated[str, typer.Argument(metavar="NAME", help="The member's name.", show_default=False)]
OwnName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The member's name; without it the token's own.", show_default=False),
]
Games = Annotated[
    list[str] | None,
    typer.Option(
        "--plays",
        metavar="GAME",
        help="A game (go, go-9x9) or a pool that it plays; may be given several times.",
        show_default="all",
    ),
]
Days = Annotated[
    float | None,
    typer.Option(
        "--days",
        min=0.001,
        max=36_500,
        callback=not_nan,
        help="For this number of days.",
        show_default="for ever",
    ),
]

group = Program(
    "member",
    "Players that register themselves at a service of a league (`arena serve --league`).",
)


def add_to(application: typer.Typer) -> None:
    """Add the group of actions."""
    group.command()(with_service(register, NOT_NEEDED))
    for action in (show, change, rotate, revoke):
        group.command()(with_service(action, MEMBERS))
    for by_operator in (ban, unban, quota, remove, invite, uninvite, invitations):
        group.command()(with_service(by_operator, OPERATORS))
    group.command("list")(with_service(list_members, OPERATORS))
    application.add_typer(group)


def register(  # noqa: PLR0913 - the options of a command
    service: Service,
    name: Name,
    version: Annotated[str, typer.Option(help="The player's version, such as 1.4.", show_default=False)] = "",
    family: Annotated[
        str, typer.Option(help="What players of one architecture share.", show_default="the name")
    ] = "",
    contact: Annotated[
        str, typer.Option(help="How operators reach the author; nobody else sees it.", show_default=False)
    ] = "",
    plays: Games = None,
    invitation: Annotated[
        str, typer.Option(metavar="CODE", help="The code of an invitation.", show_default=False)
    ] = "",
) -> None:
    """Register a player, and print the token that it dials in with. Nobody can get the token again."""
    from clients.connection import AcademyRefusedError
    from clients.membership import Membership
    from clients.membership import register as register_at

    wanted = Membership(name, version, family, contact, tuple(plays or ()))
    try:
        token = register_at(service.connection, wanted, invitation)
    except AcademyRefusedError as error:
        if error.reason == "INVITATION_NEEDED":
            error.add_note("(--invitation takes the code)")
        raise
    try:
        say(token)
    except OSError as error:
        error.add_note(f"({name} is registered: an operator's `arena member rotate {name}` prints a token)")
        raise


def show(service: Service, name: OwnName = "", as_json: Json = False) -> None:
    """Show a member: to itself by its own token, to operators by the name."""
    from arena.cli.service_text import member_text
    from arena.v1 import members_pb2

    request = members_pb2.GetMemberRequest(name=name)
    answer = _call(service, "GetMember", request, "reading a member")
    say_message(answer.member, as_json, member_text)


def change(  # noqa: PLR0913 - the options of a command
    service: Service,
    name: OwnName = "",
    version: Annotated[
        str | None,
        typer.Option(
            help="A new version, whose ratings begin with those of the one before.", show_default=False
        ),
    ] = None,
    contact: Annotated[str | None, typer.Option(help="Another contact.", show_default=False)] = None,
    plays: Games = None,
    plays_all: Annotated[bool, typer.Option("--plays-all", help="It plays all games from now on.")] = False,
    as_json: Json = False,
) -> None:
    """Change a member's contact or games, or enter its new version."""
    from arena.cli.service_text import member_text
    from arena.v1 import members_pb2

    if plays and plays_all:
        raise typer.BadParameter("give --plays or --plays-all", param_hint="--plays")
    games = members_pb2.GameList(games=plays or ()) if plays or plays_all else None
    request = members_pb2.ChangeMemberRequest(name=name, version=version, contact=contact, games=games)
    answer = _call(service, "ChangeMember", request, "changing a member")
    say_message(answer.member, as_json, member_text)


def rotate(
    service: Service,
    name: OwnName = "",
    at_once: Annotated[
        bool, typer.Option("--at-once", help="End the token before now, not in ten minutes.")
    ] = False,
) -> None:
    """Print another token for a member; the one before ends in ten minutes."""
    from arena.v1 import members_pb2

    request = members_pb2.RotateTokenRequest(name=name, at_once=at_once)
    say(_call(service, "RotateToken", request, "changing a token").token)


def revoke(service: Service, name: OwnName = "") -> None:
    """End a member's tokens and its stream. Its name stays its own."""
    from arena.v1 import members_pb2

    _call(service, "RevokeMemberToken", members_pb2.RevokeMemberTokenRequest(name=name), "revoking a token")


def ban(
    service: Service,
    name: Name,
    reason: Annotated[str, typer.Option(help="Why, as the member reads it.", show_default=False)] = "",
    days: Days = None,
) -> None:
    """Keep a member out; its games and ratings stay."""
    from arena.v1 import members_pb2

    request = members_pb2.BanMemberRequest(name=name, reason=reason)
    _set_days(request, days)
    _call(service, "BanMember", request, f"banning {name}")


def unban(service: Service, name: Name) -> None:
    """Let a member play again."""
    from arena.v1 import members_pb2

    _call(service, "UnbanMember", members_pb2.UnbanMemberRequest(name=name), f"unbanning {name}")


def quota(
    service: Service,
    name: Name,
    games_at_once: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=10_000,
            help="Games at the same time, from its next stream on (0: no limit).",
            show_default="as it is",
        ),
    ] = None,
    games_a_day: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, help="Games of pools in 24 hours (0: no limit).", show_default="as it is"
        ),
    ] = None,
) -> None:
    """Bound how much a member plays; without options it is not bounded any longer."""
    from arena.v1 import members_pb2

    wanted = {"games_at_once": games_at_once, "games_a_day": games_a_day}
    given = {bound: most for bound, most in wanted.items() if most is not None}
    bounds = members_pb2.Quota()
    if given:
        request = members_pb2.GetMemberRequest(name=name)
        bounds.CopyFrom(_call(service, "GetMember", request, "reading a member").member.quota)
    for bound, most in given.items():
        setattr(bounds, bound, most)
    _call(service, "SetQuota", members_pb2.SetQuotaRequest(name=name, quota=bounds), f"bounding {name}")


def remove(service: Service, name: Name) -> None:
    """Free the name of a member that has played no game."""
    from arena.v1 import members_pb2

    _call(service, "RemoveMember", members_pb2.RemoveMemberRequest(name=name), f"removing {name}")


def list_members(service: Service, as_json: Json = False) -> None:
    """List the members."""
    from arena.cli.service_text import members_text
    from arena.v1 import members_pb2

    listed = _all_pages(service, "ListMembers", members_pb2.ListMembersRequest(), "members")
    say_listed("members", listed, as_json, members_text)


def invite(
    service: Service,
    name: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help="For this name only.", show_default="any name")
    ] = None,
    uses: Annotated[int, typer.Option(min=1, max=10_000, help="How many players may register with it.")] = 1,
    days: Days = None,
    note: Annotated[str, typer.Option(help="What it is for, as operators read it.", show_default=False)] = "",
) -> None:
    """Print the code of a new invitation. With --for it gives a name that the league knows to its owner."""
    from arena.v1 import members_pb2

    if name == "":
        # A script's variable that is not set must not open the door to everybody.
        raise typer.BadParameter("give a name; without --for, any name may register", param_hint="--for")
    request = members_pb2.CreateInvitationRequest(name=name or "", uses=uses, note=note)
    _set_days(request, days)
    say(_call(service, "CreateInvitation", request, "making an invitation").code)


def invitations(service: Service, as_json: Json = False) -> None:
    """List the invitations, the newest first."""
    from arena.cli.service_text import invitations_text
    from arena.v1 import members_pb2

    listed = _all_pages(service, "ListInvitations", members_pb2.ListInvitationsRequest(), "invitations")
    say_listed("invitations", listed, as_json, invitations_text)


def uninvite(
    service: Service,
    invitation: Annotated[int, typer.Argument(metavar="NUMBER", help="The invitation's number.", min=1)],
) -> None:
    """End an invitation: nobody registers with it any longer."""
    from arena.v1 import members_pb2

    request = members_pb2.RevokeInvitationRequest(invitation_id=invitation)
    _call(service, "RevokeInvitation", request, f"revoking invitation {invitation}")


def _set_days(request: Any, days: float | None) -> None:
    if days is not None:
        request.duration.FromMilliseconds(round(days * 86_400_000))


def _call(service: Service, method: str, request: Any, doing: str) -> Any:
    from arena.v1 import members_pb2_grpc

    return service.call_at(members_pb2_grpc.MemberServiceStub, method, request, doing)


def _all_pages(service: Service, method: str, request: Any, field: str) -> list[Any]:
    from arena.v1 import members_pb2_grpc

    return service.pages(members_pb2_grpc.MemberServiceStub, method, request, field)
