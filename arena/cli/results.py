"""Actions that look at results, and take them out and in as SAGA: show, report, replay, export, import."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arena.cli.arguments import (
    MOST,
    ControlFile,
    ControlFileOrName,
    Json,
    ResultsUrl,
    look_at_competition,
    open_competition,
)
from arena.cli.service import Service, with_service_where_asked
from arena.output import complain, say, say_json

if TYPE_CHECKING:
    from arena.service.competition_view import CompetitionView
    from arena.v1 import competitions_pb2


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    for action in (show, games, schedule, replay):
        application.command()(with_service_where_asked(action))
    application.command()(report)
    application.command()(descent)
    application.command()(export)
    application.command("import")(import_)


def show(
    service: Service | None,
    file: ControlFileOrName,
    as_json: Json = False,
    results: ResultsUrl = None,
) -> None:
    """Show the results so far, also while the competition runs."""
    if service is not None:
        _show_there(service, file.as_posix(), as_json)
        return
    from arena.reports.as_json import json_report
    from arena.reports.text import text_report
    from arena.runner.report import read_report

    control, files = open_competition(file, results)
    so_far = read_report(control, files)
    if as_json:
        say_json({**json_report(so_far), "running": files.running()})
    else:
        say(text_report(so_far), end="")


def _show_there(service: Service, name: str, as_json: bool) -> None:
    from google.protobuf.json_format import MessageToDict

    from arena.cli.service_text import standings_text, state_line
    from arena.v1 import competitions_pb2

    doing = f"showing {name}"
    competition = service.call(
        "GetCompetition", competitions_pb2.GetCompetitionRequest(name=name), doing
    ).competition
    standings = competitions_pb2.GetStandingsResponse()
    if competition.state != competitions_pb2.COMPETITION_STATE_NEW:
        standings = service.call("GetStandings", competitions_pb2.GetStandingsRequest(name=name), doing)
    if as_json:
        say_json({"competition": MessageToDict(competition), "standings": MessageToDict(standings)})
        return
    say(state_line(competition))
    if competition.description:
        say(competition.description)
    if standings.games:
        say(standings_text(standings), end="")


def games(  # noqa: PLR0913 - the options of a command
    service: Service | None,
    file: ControlFileOrName,
    player: Annotated[str, typer.Option(help="Only games of this player.")] = "",
    opponent: Annotated[str, typer.Option(help="Only its games with this one.")] = "",
    outcome: Annotated[
        Literal["won", "drew", "lost"] | None,
        typer.Option(help="Only games that the player won, drew or lost."),
    ] = None,
    termination: Annotated[
        str,
        typer.Option(help="Only games that ended in this way: score, resignation, forfeit, move limit..."),
    ] = "",
    opening: Annotated[str, typer.Option(help="Only games with the opening of this name.")] = "",
    min_moves: Annotated[int, typer.Option(min=0, max=MOST, help="The least number of moves.")] = 0,
    max_moves: Annotated[
        int, typer.Option(min=0, max=MOST, help="The greatest number of moves (0: any).")
    ] = 0,
    faults: Annotated[
        bool, typer.Option("--faults", help="Only games in which a player was at fault.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The greatest number of games.")] = 20,
    as_json: Json = False,
    results: ResultsUrl = None,
) -> None:
    """List finished games, the newest first, also while the competition runs."""
    from google.protobuf.json_format import MessageToDict

    from arena.cli.service_text import games_text
    from arena.v1 import competitions_pb2

    which = competitions_pb2.GameFilter(
        player=player,
        opponent=opponent,
        outcome=competitions_pb2.PlayerOutcome.Value(f"PLAYER_OUTCOME_{(outcome or 'unspecified').upper()}"),
        termination=termination,
        opening=opening,
        min_moves=min_moves,
        max_moves=max_moves,
        faults=faults,
    )
    list_games: Callable[[competitions_pb2.GameFilter, int], competitions_pb2.ListGamesResponse]
    competitors: Callable[[], Sequence[str]]
    if service is not None:
        name = file.as_posix()
        list_games = partial(_games_there, service, name)
        competitors = partial(_competitors_there, service, name)
    else:
        view = look_at_competition(file, results)
        view.files.check_results()
        list_games, competitors = partial(_games_here, view), lambda: view.control.competitors
    answer = list_games(which, limit)
    if not answer.total:
        for option, given in (("--player", player), ("--opponent", opponent)):
            # A tuner's candidates are not competitors, but have games.
            alone = competitions_pb2.GameFilter(player=given)
            if given and not list_games(alone, 1).total:
                _check_known(given, competitors(), option)
    if as_json:
        say_json(MessageToDict(answer, always_print_fields_with_no_presence=True))
    else:
        say(games_text(answer), end="")


def _check_known(name: str, players: Sequence[str], option: str) -> None:
    if name not in players:
        near = "".join(f"; did you mean {other!r}?" for other in get_close_matches(name, players, n=1))
        raise typer.BadParameter(f"{name!r} is not a player of this competition{near}", param_hint=option)


def _competitors_there(service: Service, name: str) -> Sequence[str]:
    from arena.v1 import competitions_pb2

    request = competitions_pb2.GetCompetitionRequest(name=name)
    players: Sequence[str] = service.call("GetCompetition", request, f"reading {name}").competition.players
    return players


def _games_there(
    service: Service, name: str, which: "competitions_pb2.GameFilter", limit: int
) -> "competitions_pb2.ListGamesResponse":
    from arena.v1 import competitions_pb2

    request = competitions_pb2.ListGamesRequest(name=name, page_size=limit, newest_first=True, filter=which)
    answer: competitions_pb2.ListGamesResponse = service.call(
        "ListGames", request, f"listing games of {name}"
    )
    return answer


def _games_here(
    view: "CompetitionView", which: "competitions_pb2.GameFilter", limit: int
) -> "competitions_pb2.ListGamesResponse":
    from arena.lobby.errors import InvalidRequestError
    from arena.service.game_messages import read_filter
    from arena.v1 import competitions_pb2

    try:
        read = read_filter(which)
    except InvalidRequestError as error:
        raise typer.BadParameter(str(error).removeprefix("filter.")) from None
    listed, total = view.listed_games(0, limit, read, newest_first=True)
    return competitions_pb2.ListGamesResponse(games=listed, total=total)


def schedule(
    service: Service | None,
    file: ControlFileOrName,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The greatest number of games.")] = 20,
    as_json: Json = False,
    results: ResultsUrl = None,
) -> None:
    """List the games still to come, as far as the competition's kind knows them."""
    from google.protobuf.json_format import MessageToDict

    from arena.v1 import competitions_pb2

    if service is not None:
        wanted = competitions_pb2.GetScheduleRequest(name=file.as_posix(), page_size=limit)
        answer = service.call("GetSchedule", wanted, f"listing games to come of {file}")
    else:
        answer = look_at_competition(file, results).schedule(limit)
    if as_json:
        say_json(MessageToDict(answer, always_print_fields_with_no_presence=True))
        return
    for game in answer.games:
        say(f"{game.game_id}: {' - '.join(game.players)}" + (" (being played)" if game.in_progress else ""))
    if not answer.games:
        say("No game is known: all are played, or results decide which is next.")


def report(
    file: ControlFile,
    as_json: Json = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page of HTML instead.", show_default=False),
    ] = None,
    results: ResultsUrl = None,
) -> None:
    """Write the report file again, from the results so far."""
    from arena.reports.as_json import json_report
    from arena.reports.html_page import html_page
    from arena.reports.text import text_report
    from arena.runner.report import read_report

    control, files = open_competition(file, results)
    so_far = read_report(control, files)
    if html is not None:
        records = os.path.relpath(files.games, html.absolute().parent) if files.games.is_dir() else ""
        _write(html, html_page(so_far, records), "--html")
        # Standard output is the report alone.
        (complain if as_json else say)(str(html))
    if as_json:
        say_json({**json_report(so_far), "running": files.running()})
    if html is None and not as_json:
        files.write_report(text_report(so_far))
        say(str(files.report))


def descent(
    file: ControlFile,
    as_json: Json = False,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw it instead.", show_default=False),
    ] = None,
    results: ResultsUrl = None,
) -> None:
    """Show the descent of a competition of kind "generations", also while it runs."""
    from arena.control.settings import ControlError
    from arena.reports.descent import descent_as_json, descent_drawing, descent_lines
    from arena.runner.report import read_report

    control, files = open_competition(file, results)
    if control.kind != "generations":
        raise ControlError(
            f'{file} has no descent: it is of kind "{control.kind}", and only the families of kind '
            '"generations" have descendants'
        )
    so_far = read_report(control, files)
    if so_far.descent is None:
        raise ControlError(so_far.warning)
    if svg is not None:
        _write(svg, descent_drawing(so_far.descent), "--svg")
        say(str(svg))
    elif as_json:
        say_json(descent_as_json(so_far.descent))
    else:
        say("\n".join(descent_lines(so_far.descent)))


def replay(
    service: Service | None,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="CONTROL",
            help="The competition's control file, or the game's record in NAME.games; with --address the "
            "competition's name at the service.",
            show_default=False,
        ),
    ],
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="The game's id, as `arena games` lists it.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page.", show_default="GAME.html, or RECORD with .html"
        ),
    ] = None,
    results: ResultsUrl = None,
) -> None:
    """Make a page of HTML that plays a finished game again, with all that was kept of it."""
    from arena.cli.replay_file import find_game, replay_from, replay_of

    if service is not None:
        if game is None:
            raise typer.BadParameter("with --address, name the game too", param_hint="GAME")
        page = replay_from(service, file.as_posix(), game)
    else:
        page = replay_of(*find_game(file, game), results)
    file = output or (file.with_suffix(".html") if game is None else Path(f"{game}.html"))
    _write(file, page, "--output")
    say(str(file))


def _write(file: Path, text: str, option: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"can't write {file}: {error.strerror}", param_hint=option) from None


def export(
    file: ControlFile,
    target: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="A new SQLite file (.sqlite, .db), or a new folder for CSV."),
    ],
    saga1: Annotated[bool, typer.Option("--saga1/--saga2", help="SAGA 1.0 or 2.0.")] = False,
    whole: Annotated[
        bool, typer.Option("--all", help="All that the results database holds, not this competition alone.")
    ] = False,
    results: ResultsUrl = None,
) -> None:
    """Write the results as SAGA's tables for other programs."""
    from arena.results.database import ResultsDatabase
    from arena.results.exchange.exporting import export as export_saga

    _, files = open_competition(file, results)
    files.check_results()
    with closing(ResultsDatabase.open(files.results, create=False)) as database:
        export_saga(database, target, "saga1" if saga1 else "saga2", None if whole else files.name)
    say(str(target))


def import_(
    file: ControlFile,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A SQLite file, or a folder of CSV files.")
    ],
    results: ResultsUrl = None,
) -> None:
    """Take SAGA's tables, of either edition, into the results database of a competition."""
    from arena.results.database import ResultsDatabase
    from arena.results.exchange.importing import import_saga

    _, files = open_competition(file, results)
    with files.locked(), closing(ResultsDatabase.open(files.results)) as database:
        imported = import_saga(database, source)
    say(f"{imported.games} games of {', '.join(imported.series) or 'no series'}")
