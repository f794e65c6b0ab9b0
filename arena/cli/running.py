"""Actions that run competitions, or act on one that runs: run, check, stop, reset."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.arguments import ControlFile, ControlFileOrName, ResultsUrl, files_of, open_competition
from arena.cli.service import OPERATORS, Service, with_service_where_asked
from arena.output import complain, say

if TYPE_CHECKING:
    from arena.control.settings import Control


def _place(where: str | None) -> str | None:
    # A variable that is not set, as in --on "$CLUSTER", does not mean this machine.
    if where == "":
        raise typer.BadParameter("'' is not a place: write local, ray or a cluster's address")
    return where


On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        callback=_place,
        help="Where games are played: local (processes here), ray (a Ray cluster that is started here), "
        "ray://HOST:10001 or HOST:6379 (a Ray cluster that is there).",
        show_default=False,
    ),
]
# Not --insecure, which is for other machines wherever a command has it.
WithoutTokens = Annotated[
    bool,
    typer.Option(
        "--no-player-tokens",
        help="Let remote players dial in from this machine without the tokens that this run would make. Any "
        "program on it can then play for them.",
    ),
]


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    for action in (run, check, with_service_where_asked(stop, OPERATORS), reset):
        application.command()(action)


def run(  # noqa: PLR0913 - the options of a command
    file: ControlFile,
    parallel: Annotated[
        int | None, typer.Option("--parallel", "-j", min=1, max=1023, help="Games at a time.")
    ] = None,
    max_games: Annotated[
        int | None, typer.Option("--max-games", "-g", min=0, help="Start at most this many games.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but warnings.")] = False,
    log_protocol: Annotated[
        bool,
        typer.Option("--log-protocol", "--log-gtp", help="Write the lines to and from players to files."),
    ] = False,
    readmit: Annotated[
        bool, typer.Option("--readmit", help="Let players and matchups play again that were left out.")
    ] = False,
    without_tokens: WithoutTokens = False,
    on: On = None,
    web: Annotated[
        str,
        typer.Option(
            "--web",
            metavar="ADDRESS",
            help="Serve pages of the competition at host:port while it runs, such as 127.0.0.1:8080.",
            show_default=False,
        ),
    ] = "",
    results: ResultsUrl = None,
) -> None:
    """Run a competition, or go on with it.

    Ctrl-X, or `arena stop` elsewhere, ends the run when its games in progress are over; Ctrl-C ends it at
    once, and they are played again by the next run. `arena --help` lists the exit statuses.
    """
    from arena.workers.nursery import Nursery

    with ExitStack() as beside:
        # First: it loads on another core what workers need, while this process loads what it needs itself.
        nursery = beside.enter_context(Nursery()) if on in (None, "local") else None
        from arena.cli.web_pages import served_pages
        from arena.runner.exit_status import ExitStatus
        from arena.runner.options import RunOptions
        from arena.runner.run import run as run_competition

        control, files = open_competition(file, results)
        if _uses_grpc(control, on or control.workers.on):
            import academy.wire.silent_grpc  # noqa: F401
        options = RunOptions(
            parallel or control.parallel, max_games, quiet, log_protocol, readmit, without_tokens, on or ""
        )
        if web:
            say(f"{beside.enter_context(served_pages(control.path, web, control.academy))} while this runs")
        ended = run_competition(control, files, options, nursery)
    from arena.runner.competition import RunEnd

    if not quiet:
        from arena.runner.report import read_report
        from arena.terminal.standings_table import standings_text

        report = read_report(control, files)
        say("\n".join([*report.lines, ""]), end="")
        if not report.of_tuner:
            say(standings_text(report.standings), end="")
        say(f"{files.name}: the run is over: {ended.end.value}; report: {files.report}")
    if ended.end is RunEnd.HALTED:
        complain("arena: halted by void games; the log says why")
        raise typer.Exit(ExitStatus.HALTED)
    if ended.end in (RunEnd.NOBODY_LEFT, RunEnd.NO_GAME):
        complain(f"arena: halted: {ended.end.value}")
        raise typer.Exit(ExitStatus.HALTED)
    if ended.undelivered or not ended.in_league:
        raise typer.Exit(ExitStatus.UNDELIVERED)
    if ended.end is RunEnd.WITHOUT_SOME:
        complain(f"arena: {ended.end.value}; `arena show` says who, and why")
        raise typer.Exit(ExitStatus.WITHOUT_SOME)


def _uses_grpc(control: "Control", on: str) -> bool:
    from arena.jobs import REMOTE

    # A cluster is asked over gRPC what it is, and Ray may be its client.
    return (
        on != "local"
        or control.academy is not None
        or any(player.protocol == REMOTE for player in control.players.values())
    )


def check(file: ControlFile, without_tokens: WithoutTokens = False, on: On = None) -> None:
    """Start every player and ask it for a first move, with its standard error shown.

    Openings are read before. The check before a run does not ask programs that speak GTP for a move.
    With `--on`, or [workers] in the control file, every player is started on every kind of node of the
    cluster that has what it needs, as before a run: without its standard error. Then ACADEMY is asked once,
    where the control file has its address.
    """
    from arena.control.tokens import withheld_tokens
    from arena.runner.control_notes import notes_on
    from arena.runner.game_jobs import check_openings
    from arena.runner.listeners import open_listeners
    from arena.runner.player_check import check_players
    from arena.runner.remote_players import remote_players
    from arena.selection.child_program import check_child_program
    from arena.selection.kinds import child_programs

    control, files = open_competition(file, None)
    for note in notes_on(control):
        say(f"note: {note}")
    check_openings(control)
    where = on or control.workers.on
    if where != "local":
        from arena.runner.cluster_check import check_on_cluster

        with withheld_tokens(control.token_variables):
            check_on_cluster(control, where, say)
        _ask_academy(control)
        return
    with (
        withheld_tokens(control.token_variables),
        remote_players(
            control, say, lambda *_, **__: None, files.tokens, without_tokens=without_tokens
        ) as reached,
        open_listeners(reached, say, lambda *_, **__: None) as seated,
    ):
        check_players(seated, quiet=False, tell=say)
    for family, program in child_programs(control):
        check_child_program(program, family)
        say(f"the program of family {family} makes variants")
    _ask_academy(control)


def _ask_academy(control: "Control") -> None:
    if control.academy is None:
        return
    from arena.academy.session import check_academy

    check_academy(control.academy, control.game.rules().spec(), control.fair_use)
    if not control.academy.embedded:
        say(f"ACADEMY at {control.academy.address} answers")


def stop(
    service: Service | None,
    file: ControlFileOrName,
    at_once: Annotated[
        bool,
        typer.Option(
            help="At a service: end games in progress at once; they are played again when it goes on.",
        ),
    ] = False,
) -> None:
    """Ask a running competition to stop when its games in progress are over."""
    if service is not None:
        _stop_there(service, file.as_posix(), at_once)
        return
    from arena.results.database import ResultsError

    if at_once:
        raise typer.BadParameter("needs --address; Ctrl-C ends an `arena run` here", param_hint="--at-once")
    files = files_of(file)
    if not files.running():
        raise ResultsError(f"the competition {files.name} is not running")
    files.request_stop()
    say(f"{files.name} stops when its games in progress are over")


def _stop_there(service: Service, name: str, at_once: bool) -> None:
    from arena.cli.service_text import state_line
    from arena.v1 import competitions_pb2

    request = competitions_pb2.StopCompetitionRequest(name=name, at_once=at_once)
    say(state_line(service.call("StopCompetition", request, f"stopping {name}").competition))


def reset(
    file: ControlFile,
    really: Annotated[bool, typer.Option("--really", help="Also if games were played.")] = False,
    results: ResultsUrl = None,
) -> None:
    """Delete all results and other outputs of a competition. What ACADEMY learnt from it stays.

    Without --really, a competition with games stays as it is. The league gets the games that it lacks, and
    contests that are open at ACADEMY are ended first. Exit status 5: some could not be; they are named.
    """
    from arena.results.database import ResultsError
    from arena.runner.exit_status import ExitStatus
    from arena.runner.reset import finished_games
    from arena.runner.reset import reset as reset_competition

    control, files = open_competition(file, results)
    games = finished_games(files)
    what = "results that can't be read" if games is None else f"{games} game{'' if games == 1 else 's'}"
    if games != 0 and not really:
        raise ResultsError(
            f"the competition {files.name} has {what}; to delete them, with records, logs and tokens, give "
            "--really"
        )
    left = reset_competition(control, files)
    say(f"the competition {files.name} is deleted: {what}, records, logs and tokens")
    if left is not None:
        complain(f"arena: {left}")
        raise typer.Exit(ExitStatus.UNDELIVERED)
