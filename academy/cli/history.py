"""Commands that tell what happened: behind an opening, to a pattern, to a game's libraries, by a player."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from json import dumps
from time import sleep
from typing import Annotated

import typer
from google.protobuf.timestamp_pb2 import Timestamp
from rich.table import Table
from rich.text import Text

from academy.cli import printing
from academy.cli.commands import CommandError, ExitCode, ListingCommands
from academy.cli.connection import ask_about_pattern, with_server
from academy.cli.options import LARGEST_NUMBER, MOST, Game, Json, LibraryOfPattern, PatternId
from academy.cli.services import Server
from academy.v1 import contests_pb2, history_pb2, libraries_pb2, proposals_pb2
from academy.wire.command_line import Program
from academy.wire.names import visible

_RESULTS = {
    contests_pb2.RESULT_WIN: "won",
    contests_pb2.RESULT_DRAW: "drew",
    contests_pb2.RESULT_LOSS: "lost",
}
_LATEST_SECOND = 253_402_300_799
Day = Annotated[str, typer.Option(metavar="DAY", help="As in 2026-01-31, in UTC.")]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    history = Program(
        "history",
        "Tell what happened: behind an opening, to a pattern, to the libraries, by a player.",
        ListingCommands,
    )
    history.command("opening")(with_server(show_opening))
    history.command("pattern")(with_server(show_pattern))
    history.command("growth")(with_server(show_growth))
    history.command("player")(with_server(show_player))
    application.add_typer(history)
    application.command("watch")(with_server(watch))


def watch(
    server: Server,
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game; nothing: all games.")] = "",
    after: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=LARGEST_NUMBER,
            help="Begin after the event of this number.",
            show_default="from now on",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> None:
    """Tell what is learnt as it happens, until Ctrl-C: contests, proposals that were taken, removals."""
    request = history_pb2.WatchLibraryRequest(game_id=game, after=after)
    if after is None:
        # So that the next call begins where this one ends, also if nothing happens meanwhile.
        newest = libraries_pb2.ListEventsRequest(newest_first=True, page_size=1)
        request.after = max(
            (event.sequence for event in server.libraries.ListEvents(newest).events), default=0
        )
    while True:
        for event in server.history.WatchLibrary(request):
            request.after = event.sequence
            typer.echo(dumps(printing.as_json(event)) if json else _event_in_words(event))
        # A server that stops ends each watch at once.
        sleep(1)


def _event_in_words(event: history_pb2.WatchLibraryResponse) -> str:
    words = event.kind.replace("_", " ")
    if event.HasField("contest"):
        results = list(event.contest.results) or [contests_pb2.RESULT_UNSPECIFIED] * len(
            event.contest.players
        )
        players = (
            f"{player.identity or player.name} {_RESULTS.get(result, '')}".strip()
            for player, result in zip(event.contest.players, results, strict=True)
        )
        words += f" {event.contest.contest_id}: {', '.join(players)}"
    for proposal in event.taken:
        verdict = proposals_pb2.Verdict.Name(proposal.verdict).removeprefix("VERDICT_").lower()
        words += f"; {proposal.player} proposed at ply {proposal.content.ply}: {verdict}"
        words += f" as pattern {proposal.pattern_id}" if proposal.pattern_id else ""
    return f"{event.sequence} {event.time.ToDatetime():%Y-%m-%d %H:%M:%S} {event.game_id}: {visible(words)}"


def show_opening(  # noqa: PLR0913
    server: Server,
    game: Game,
    moves: Annotated[list[str] | None, typer.Argument(metavar="MOVE", help="The line.")] = None,
    player: Annotated[int, typer.Option(min=1, max=MOST, help="Whose results to count.")] = 1,
    min_elo: Annotated[
        float | None, typer.Option(help="Count the newest contests of at least this mean Elo.")
    ] = None,
    since: Day = "",
    until: Day = "",
    json: Json = False,
) -> None:
    """Show contests that came to a position, other orders of its moves, and a count by Elo or date."""
    request = history_pb2.ExploreOpeningRequest(game_id=game, player=player, moves=moves or [])
    if min_elo is not None:
        request.filter.min_elo = min_elo
    if since:
        request.filter.since.CopyFrom(_day("--since", since))
    if until:
        request.filter.until.CopyFrom(_day("--until", until))
        # The day itself counts too.
        request.filter.until.seconds = min(request.filter.until.seconds + 86_400, _LATEST_SECOND)
    answer = server.history.ExploreOpening(request)
    if json:
        printing.print_json(printing.as_json(answer))
        return
    console = printing.console()
    console.print(_contests_table("Newest", answer.newest))
    console.print(_contests_table("Strongest", answer.strongest))
    for other in answer.transpositions:
        contests = printing.counted(other.visits, "contest")
        line = printing.shown(f"the same moves as {' '.join(other.moves)}: {contests}")
        console.print(line, soft_wrap=True)
    if answer.HasField("filtered"):
        counted = answer.filtered
        console.print(
            f"of the newest {counted.looked_through} contests of the game {counted.passed} pass, "
            f"{counted.position.contests} of them came here"
        )
        console.print(_moves_table(counted.moves))


def _day(option: str, text: str) -> Timestamp:
    time = Timestamp()
    try:
        time.FromDatetime(datetime.strptime(text, "%Y-%m-%d"))
    except ValueError as error:
        why = f"{option} {text!r}: write a day as in 2026-01-31"
        raise CommandError(why, ExitCode.USAGE) from error
    return time


def _contests_table(title: str, contests: Iterable[history_pb2.ContestSummary]) -> Table:
    rows = []
    for contest in contests:
        results = [_RESULTS.get(result, "") for result in contest.results]
        players = ", ".join(
            f"{player.name} ({player.elo:.0f}) {result}".strip()
            for player, result in zip(contest.players, results or [""] * len(contest.players), strict=True)
        )
        ended = (contest.plies or "", contest.termination, _minute(contest.report_time))
        rows.append((contest.contest_id, players, *ended))
    return printing.table_of(title, rows, " contest", " players", "plies", " end", " reported (UTC)")


def _minute(time: Timestamp) -> str:
    return time.ToDatetime().strftime("%Y-%m-%d %H:%M") if time.seconds else ""


def _moves_table(moves: Sequence[history_pb2.FilteredMove]) -> Table:
    counted = ((move.move, move.count) for move in moves)
    rows = (
        (move, count.contests, count.wins, count.draws, count.losses, f"{count.elo:.0f}")
        for move, count in counted
    )
    return printing.table_of("Moves", rows, " move", "contests", "won", "drawn", "lost", "elo")


def show_pattern(
    server: Server, game: Game, pattern_id: PatternId, library: LibraryOfPattern = None, json: Json = False
) -> None:
    """Show how a pattern changed, the oldest first, and the contests on whose boards it was found."""
    request = history_pb2.GetPatternHistoryRequest(game_id=game, pattern_id=pattern_id)
    answer = ask_about_pattern(server.history.GetPatternHistory, request, library)
    if json:
        printing.print_json(printing.as_json(answer))
        return
    rows = []
    for step in answer.steps:
        what = f"{step.cause}: {step.reason}" if step.reason else step.cause
        by = (step.player, step.contest_id, step.ply or "")
        signature = (step.signature.proposers, f"{step.signature.elo:.0f}", f"{step.signature.value:.3f}")
        now = (*signature, f"{step.strength:.1f}", Text(step.cells))
        rows.append((step.event, _minute(step.time), what, *by, *now))
    table = printing.table_of(
        f"{game}: pattern {pattern_id}",
        rows,
        *("event", " when (UTC)", " what", " by", " contest", "ply", "proposers", "elo", "value", "strength"),
        " cells",
    )
    printing.console().print(table)
    for example in answer.examples:
        where = f"found after ply {example.ply} of {example.contest.contest_id}: {example.board}"
        printing.console().print(where, markup=False, soft_wrap=True)


def show_growth(server: Server, game: Game, json: Json = False) -> None:
    """Show how a game's libraries grew from contest to contest."""
    answer = server.history.GetGrowth(history_pb2.GetGrowthRequest(game_id=game))
    rows = []
    for point in answer.points:
        patterns = (point.middle_game_patterns, point.endgame_patterns, point.tesujis)
        sizes = map("{:,}".format, (point.opening_nodes, *patterns, point.players))
        rows.append((f"{point.contests:,}", _minute(point.time), *sizes))
    headings = ("contests", " when (UTC)", "opening nodes", "middle-game", "endgame", "tesujis", "players")
    printing.show(answer, json, printing.table_of(game, rows, *headings))


def show_player(
    server: Server,
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="The player's identity.")],
    json: Json = False,
) -> None:
    """Show what a player did in all games, and how often its patterns helped others."""
    answer = server.libraries.ListPlayerStatistics(libraries_pb2.ListPlayerStatisticsRequest(player=player))
    rows = []
    for figures in answer.players:
        won = _share(figures.successes, figures.contests_with_result)
        proposals = map("{:,}".format, (figures.accepted_proposals, figures.dropped_proposals))
        helped = (f"{figures.helped:,}", _share(figures.helped_successes, figures.helped))
        helpers = _share(figures.helped_by_others_successes, figures.helped_by_others)
        others = (*helped, f"{figures.helped_by_others:,}", helpers)
        rows.append((figures.game_id, f"{figures.contests:,}", won, *proposals, *others))
    table = printing.table_of(
        player,
        rows,
        *(" game", "contests", "won or drawn", "proposals taken", "dropped"),
        *("helped others", "who won or drew", "helped by others", "and won or drew"),
    )
    printing.show(list(answer.players), json, table)
    if not answer.players and not json:
        words = f"no game knows a player {player}; `academy players list` shows the names as they are kept"
        printing.console().print(printing.shown(words))


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.0%})" if whole else f"{part:,}"
