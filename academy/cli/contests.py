"""Commands that look after contests whose arena never reported how they ended."""

import time
from typing import Annotated

import typer

from academy.cli import printing
from academy.cli.connection import Server, with_server
from academy.cli.failures import CommandError, Commands
from academy.cli.libraries import Json, Limit
from academy.v1 import contests_pb2

TERMINATION = "voided by hand"


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    contests = typer.Typer(
        cls=Commands, no_args_is_help=True, help="List open contests, end those that nobody reports."
    )
    contests.command("list")(with_server(list_contests))
    contests.command("void")(with_server(void_contests))
    application.add_typer(contests, name="contests")


def list_contests(
    server: Server,
    game: Annotated[str, typer.Argument(help="Only this game's.")] = "",
    limit: Limit = 50,
    page: Annotated[str, typer.Option(help="Go on where a list ended: the token it printed.")] = "",
    json: Json = False,
) -> None:
    """List the contests that wait for their reports, the oldest first."""
    response = server.contests.ListOpenContests(
        contests_pb2.ListOpenContestsRequest(game_id=game, page_size=limit, page_token=page)
    )
    if json:
        printing.print_json(printing.as_json(response))
        return
    printing.console().print(printing.contests_table("Open contests", response.contests, time.time()))
    if response.next_page_token:
        printing.console().print(f"more with --page {response.next_page_token}", soft_wrap=True)


def void_contests(
    server: Server,
    contest_ids: Annotated[list[str], typer.Argument(metavar="CONTEST...", help="The contests' ids.")],
    json: Json = False,
) -> None:
    """End contests without a result: nothing is learnt, their proposals are dropped, tickets end.

    Only for contests that are not being played any more: a result reported later does not count.
    """
    wanted = [_open_contest(server, contest_id) for contest_id in dict.fromkeys(contest_ids)]
    ended = []
    for contest in wanted:
        request = contests_pb2.ReportContestRequest(contest=contest, termination=TERMINATION, void=True)
        response = server.contests.ReportContest(request)
        if not response.counted:
            raise _over(response.contest)
        ended.append(response.contest)
        if not json:
            typer.echo(f"{contest.contest_id}: void, {response.dropped} proposals dropped")
    if json:
        printing.print_json([printing.as_json(contest) for contest in ended])


def _open_contest(server: Server, contest_id: str) -> contests_pb2.Contest:
    contest = server.contests.GetContest(contests_pb2.GetContestRequest(contest_id=contest_id)).contest
    if contest.state != contests_pb2.CONTEST_STATE_OPEN:
        raise _over(contest)
    return contest


def _over(contest: contests_pb2.Contest) -> CommandError:
    void = contest.state == contests_pb2.CONTEST_STATE_VOID
    how = "void already" if void else "reported already; what was learnt from it stays"
    return CommandError(f"contest {contest.contest_id!r} is {how}")
