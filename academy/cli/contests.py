"""Commands about contests, arenas and proposals."""

import time
from typing import Annotated

import typer

from academy.cli import contest_tables, printing
from academy.cli.commands import CommandError, Commands
from academy.cli.connection import with_server
from academy.cli.options import FairUse, Json, Limit
from academy.cli.services import Server
from academy.knowledge.contests import Verdict
from academy.v1 import contests_pb2, proposals_pb2
from academy.wire.command_line import Program

TERMINATION = "voided by hand"


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    contests = Program(
        "contests", "List open contests, end those that no arena reports, see what players asked.", Commands
    )
    contests.command("list")(with_server(list_contests))
    contests.command("void")(with_server(void_contests))
    contests.command("questions")(with_server(questions))
    application.add_typer(contests)
    arenas = Program(
        "arenas",
        "List and link arenas. An arena has contests and players' names of its own unless an admin links it.",
        Commands,
    )
    arenas.command("list")(with_server(list_arenas))
    arenas.command("link")(with_server(link_arena))
    arenas.command("unlink")(with_server(unlink_arena))
    arenas.command("allow")(with_server(allow_arena))
    arenas.command("forbid")(with_server(forbid_arena))
    application.add_typer(arenas)
    application.command("proposals")(with_server(proposals))


def list_contests(
    server: Server,
    game: Annotated[str, typer.Argument(metavar="GAME", help="List only this game's contests.")] = "",
    limit: Limit = 50,
    page: Annotated[str, typer.Option(help="Continue a list: the page token that it printed.")] = "",
    fair_use: FairUse = False,
    json: Json = False,
) -> None:
    """List the contests that wait for their reports, the oldest first."""
    response = server.contests.ListOpenContests(
        contests_pb2.ListOpenContestsRequest(game_id=game, page_size=limit, page_token=page)
    )
    table = (
        contest_tables.contests_fair_use_table(response.contests)
        if fair_use
        else contest_tables.contests_table(response.contests, time.time())
    )
    printing.show(response, json, table)
    printing.show_next_page(response.next_page_token, json)


def void_contests(
    server: Server,
    contest_ids: Annotated[list[str], typer.Argument(metavar="CONTEST", help="The contests' ids.")],
    arena: Annotated[
        str, typer.Option(help="The arena whose contests they are; needed if several arenas use the same id.")
    ] = "",
    json: Json = False,
) -> None:
    """End contests without a result: nothing is learnt, their proposals are dropped, tickets end.

    Only for contests that are not being played any more: a result reported later does not count.
    """
    wanted = [_open_contest(server, contest_id, arena) for contest_id in dict.fromkeys(contest_ids)]
    ended = []
    for contest in wanted:
        request = contests_pb2.ReportContestRequest(contest=contest, termination=TERMINATION, void=True)
        response = server.contests.ReportContest(request)
        if not response.counted:
            raise _contest_over_error(response.contest)
        ended.append(response.contest)
        if not json:
            typer.echo(
                f"{contest.contest_id}: void, {printing.counted(response.dropped, 'proposal')} dropped"
            )
    if json:
        printing.print_json([printing.as_json(contest) for contest in ended])


def questions(
    server: Server,
    contest_id: Annotated[str, typer.Argument(metavar="CONTEST", help="The contest's id.")],
    arena: Annotated[str, typer.Option(help="The contest's arena, where several have one of this id.")] = "",
    json: Json = False,
) -> None:
    """Show what the players of a contest asked, after which ply, and what they got.

    That is patterns, tesujis, the evaluation, and weights to take home.
    """
    request = contests_pb2.GetConsultationsRequest(contest_id=contest_id, arena=arena)
    response = server.contests.GetConsultations(request)
    printing.show(response, json, contest_tables.questions_table(response.seats))
    if not json and any(seat.pattern_questions and not seat.questions for seat in response.seats):
        typer.echo("what players got for questions is kept with the report; a void contest has none")
    if not json:
        _print_seats_alone(server, contest_id, arena)


def _print_seats_alone(server: Server, contest_id: str, arena: str) -> None:
    """Print which seats asked nothing because they were not allowed to."""
    request = contests_pb2.GetContestRequest(contest_id=contest_id, arena=arena)
    contest = server.contests.GetContest(request).contest
    if contest.seats_alone:
        seats = "seat" if len(contest.seats_alone) == 1 else "seats"
        numbers = " and ".join(map(str, contest.seats_alone))
        share = contest.fair_use.consult_share
        typer.echo(f"drawn to play without consulting (consult_share {share:g}): {seats} {numbers}")


def _open_contest(server: Server, contest_id: str, arena: str) -> contests_pb2.Contest:
    request = contests_pb2.GetContestRequest(contest_id=contest_id, arena=arena)
    contest = server.contests.GetContest(request).contest
    if contest.state != contests_pb2.CONTEST_STATE_OPEN:
        raise _contest_over_error(contest)
    return contest


def _contest_over_error(contest: contests_pb2.Contest) -> CommandError:
    void = contest.state == contests_pb2.CONTEST_STATE_VOID
    how = "void already" if void else "reported already; what was learnt from it stays"
    return CommandError(f"contest {contest.contest_id!r} is {how}")


ArenaName = Annotated[str, typer.Argument(metavar="ARENA", help="An arena: the name of its tokens.")]
Other = Annotated[str, typer.Argument(metavar="OTHER", help="Another arena.")]


def list_arenas(server: Server, json: Json = False) -> None:
    """List the arenas that have had contests, their players' namespaces, and for whom each may act."""
    response = server.contests.ListArenas(contests_pb2.ListArenasRequest())
    printing.show(response, json, contest_tables.arenas_table(response.arenas))


def link_arena(server: Server, arena: ArenaName, other: Other, json: Json = False) -> None:
    """Treat ARENA's players as those of OTHER from now on: one name, one player. Learnt knowledge stays."""
    _print_arena(
        server.contests.LinkArena(contests_pb2.LinkArenaRequest(arena=arena, other=other)).arena, json
    )


def unlink_arena(server: Server, arena: ArenaName, json: Json = False) -> None:
    """Separate ARENA's players from those of other arenas again, from now on."""
    _print_arena(server.contests.UnlinkArena(contests_pb2.UnlinkArenaRequest(arena=arena)).arena, json)


def allow_arena(server: Server, arena: ArenaName, other: Other, json: Json = False) -> None:
    """Let ARENA open, report and read the contests of OTHER."""
    request = contests_pb2.AllowArenaRequest(arena=arena, acts_for=other)
    _print_arena(server.contests.AllowArena(request).arena, json)


def forbid_arena(server: Server, arena: ArenaName, other: Other, json: Json = False) -> None:
    """End ARENA's permission to act for OTHER."""
    request = contests_pb2.AllowArenaRequest(arena=arena, acts_for=other, forbid=True)
    _print_arena(server.contests.AllowArena(request).arena, json)


def _print_arena(arena: contests_pb2.Arena, json: bool) -> None:
    printing.show(arena, json, contest_tables.arenas_table([arena]))


def proposals(  # noqa: PLR0913
    server: Server,
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game; nothing: all games.")] = "",
    player: Annotated[
        str, typer.Option(help="List only this player's proposals; a bot sees only its own.")
    ] = "",
    contest: Annotated[str, typer.Option(help="List only the proposals of this contest.")] = "",
    verdict: Annotated[
        list[Verdict] | None, typer.Option(help="List only proposals with this verdict; may be repeated.")
    ] = None,
    limit: Limit = 50,
    page: Annotated[str, typer.Option(help="Continue a list: the page token that it printed.")] = "",
    json: Json = False,
) -> None:
    """List proposals: what became of each, and the rule that decided."""
    verdicts = sorted({proposals_pb2.Verdict.Value(f"VERDICT_{name.name}") for name in verdict or ()})
    request = proposals_pb2.ListProposalsRequest(
        contest_id=contest, player=player, verdicts=verdicts, page_token=page, game_id=game
    )
    listed: list[proposals_pb2.Proposal] = []
    while True:
        # The server has the last word on how many come at once.
        request.page_size = limit - len(listed)
        response = server.proposals.ListProposals(request)
        listed += response.proposals
        request.page_token = response.next_page_token
        if len(listed) == limit or not request.page_token:
            break
    answer = proposals_pb2.ListProposalsResponse(proposals=listed, next_page_token=request.page_token)
    printing.show(answer, json, contest_tables.proposals_table(listed))
    printing.show_next_page(request.page_token, json)
