"""The command that lists proposals, with what became of each and why."""

from enum import StrEnum
from typing import Annotated, Final

import typer

from academy.cli import printing
from academy.cli.connection import Server, with_server
from academy.cli.libraries import Json, Limit
from academy.v1 import proposals_pb2

_MOST_A_PAGE: Final = 1_000


class VerdictName(StrEnum):
    """What may have become of a proposal."""

    HELD = "held"
    MATCHED = "matched"
    SPECIALISED = "specialised"
    GENERALISED = "generalised"
    INSERTED = "inserted"
    EVICTED = "evicted"
    DROPPED = "dropped"


def add_to(application: typer.Typer) -> None:
    """Add this command."""
    application.command("proposals")(with_server(proposals))


def proposals(
    server: Server,
    player: Annotated[str, typer.Option(help="Only this player's; a bot sees its own alone.")] = "",
    contest: Annotated[str, typer.Option(help="Only those of this contest.")] = "",
    verdict: Annotated[
        list[VerdictName] | None, typer.Option(help="Only those that this became of; may be repeated.")
    ] = None,
    limit: Limit = 50,
    page: Annotated[str, typer.Option(help="Go on where a list ended: the token it printed.")] = "",
    json: Json = False,
) -> None:
    """List proposals: what became of each, and the rule that decided."""
    wanted = {proposals_pb2.Verdict.Value(f"VERDICT_{name.name}") for name in verdict or ()}
    request = proposals_pb2.ListProposalsRequest(contest_id=contest, player=player, page_token=page)
    listed: list[proposals_pb2.Proposal] = []
    while True:
        request.page_size = min(limit - len(listed), _MOST_A_PAGE)
        response = server.proposals.ListProposals(request)
        listed += [one for one in response.proposals if not wanted or one.verdict in wanted]
        request.page_token = response.next_page_token
        if len(listed) == limit or not request.page_token:
            break
    if json:
        printing.print_json(
            {
                "proposals": [printing.as_json(proposal) for proposal in listed],
                "next_page_token": request.page_token,
            }
        )
        return
    printing.console().print(printing.proposals_table(listed))
    if request.page_token:
        printing.console().print(f"more with --page {request.page_token}", soft_wrap=True)
