"""Commands that look into a server's libraries and mend them."""

from collections.abc import Callable
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any, Final

import typer
from google.protobuf.descriptor import FieldDescriptor

from academy.cli import contest_tables, event_table, library_tables, printing
from academy.cli.commands import CommandError, Commands, ExitCode, ListingCommands
from academy.cli.connection import ask_about_pattern, pages, with_server
from academy.cli.opening_names import names_of
from academy.cli.options import (
    LARGEST_NUMBER,
    MOST,
    Game,
    Json,
    LibraryName,
    LibraryOfPattern,
    Limit,
    PatternId,
    WhichPatterns,
    number_of,
)
from academy.cli.services import Server
from academy.knowledge.settings import GREATEST, GREATEST_NUMBER
from academy.v1 import consultation_pb2, contests_pb2, game_pb2, libraries_pb2, pattern_pb2
from academy.wire.command_line import Program

_PAGE: Final = 1_000


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    patterns = Program("patterns", "List, show, delete, restore patterns.", ListingCommands)
    patterns.command("list")(with_server(list_patterns))
    patterns.command("show")(with_server(show_pattern))
    patterns.command("delete")(with_server(delete_pattern))
    patterns.command("restore")(with_server(restore_pattern))
    application.add_typer(patterns)
    tesujis = Program("tesujis", "List tesujis, delete one of them.", ListingCommands)
    tesujis.command("list")(with_server(list_tesujis))
    tesujis.command("delete")(with_server(delete_tesuji))
    application.add_typer(tesujis)
    lines = Program("openings", "Show the opening tree, delete lines of it.", ListingCommands)
    lines.command("list")(with_server(openings))
    lines.command("delete")(with_server(delete_opening))
    lines.command("forget-analyses")(with_server(forget_analyses))
    application.add_typer(lines)
    removals = Program("removals", "List what was removed and is kept for a time, restore it.", Commands)
    removals.command("list")(with_server(list_removals))
    removals.command("restore")(with_server(restore_removal))
    application.add_typer(removals)
    application.command("events")(with_server(events))
    application.command("statistics")(with_server(statistics))
    application.command("weights")(with_server(weights))
    application.command("prune")(with_server(prune))
    application.command("settings")(with_server(settings))


def list_patterns(  # noqa: PLR0913
    server: Server,
    game: Game,
    library: WhichPatterns = "middle-game",
    order: Annotated[
        str,
        typer.Option(
            help="strength, value, elo, proposers, uses, successes, pattern_id; and 'desc': greatest first."
        ),
    ] = "strength desc",
    proposer: Annotated[str, typer.Option(help="Only those proposed by this player.")] = "",
    min_elo: Annotated[float | None, typer.Option(help="Only those of at least this Elo.")] = None,
    max_elo: Annotated[float | None, typer.Option(help="Only those of at most this Elo.")] = None,
    min_size: Annotated[
        int | None, typer.Option(min=0, max=MOST, help="Only those of at least this number of cells.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=0, max=MOST, help="Only those of at most this number of cells.")
    ] = None,
    cells: Annotated[str, typer.Option(help="Only those with a line that holds this, as in 'x - o'.")] = "",
    min_value: Annotated[float | None, typer.Option(help="Only those worth at least this.")] = None,
    max_value: Annotated[float | None, typer.Option(help="Only those worth at most this.")] = None,
    min_proposers: Annotated[
        int | None, typer.Option(min=0, max=MOST, help="Only those that at least this many players proposed.")
    ] = None,
    player: Annotated[
        int, typer.Option(min=0, max=MOST, help="Only those that address this player (0: any).")
    ] = 0,
    limit: Limit = 20,
    page: Annotated[str, typer.Option(help="Continue a listing: the token that it printed.")] = "",
    json: Json = False,
) -> None:
    """List patterns, the strongest first."""
    response = server.libraries.ListPatterns(
        libraries_pb2.ListPatternsRequest(
            game_id=game,
            library=number_of(library),
            page_size=limit,
            page_token=page,
            order_by=order,
            filter=libraries_pb2.PatternFilter(
                proposer=proposer,
                min_elo=min_elo,
                max_elo=max_elo,
                min_size=min_size,
                max_size=max_size,
                cells=cells,
                min_value=min_value,
                max_value=max_value,
                min_proposers=min_proposers,
                player=player,
            ),
        )
    )
    title = (
        f"{game}, {library}: {len(response.patterns)} of {printing.counted(response.total_size, 'pattern')}"
    )
    printing.show(response, json, library_tables.patterns_table(title, response.patterns))
    printing.show_next_page(response.next_page_token, json)


def list_tesujis(
    server: Server,
    game: Game,
    limit: Limit = 20,
    order: Annotated[
        str, typer.Option(help="strength (how much is known of it) or weight, with 'desc': greatest first.")
    ] = "strength desc",
    page: Annotated[str, typer.Option(help="Continue a listing: the token that it printed.")] = "",
    json: Json = False,
) -> None:
    """List what ACADEMY learnt of the cells that strong players move to, or stay away from."""
    response = server.libraries.ListTesujis(
        libraries_pb2.ListTesujisRequest(game_id=game, page_size=limit, page_token=page, order_by=order)
    )
    described = server.contests.GetGame(contests_pb2.GetGameRequest(game_id=game)).game
    title = f"{game}: {len(response.tesujis)} of {printing.counted(response.total_size, 'tesuji')}"
    printing.show(response, json, library_tables.tesujis_table(title, response.tesujis, described))
    printing.show_next_page(response.next_page_token, json)
    if not json and not described.settings.tesuji_capacity:
        kept = "; these are kept, and nobody is given them" if response.total_size else ""
        typer.echo(f"tesujis are off{kept}: {_remedy_of_no_tesujis(described)}")


def _remedy_of_no_tesujis(game: game_pb2.Game) -> str:
    from academy.knowledge.tesujis.surroundings import surroundings
    from academy.wire.games import read_spec

    if surroundings(read_spec(game)) is None:
        return "this game can learn none"
    return f"academy settings {game.game_id} tesuji_capacity=1000"


def delete_tesuji(
    server: Server,
    game: Game,
    code: Annotated[
        int,
        typer.Argument(
            min=0, max=LARGEST_NUMBER, metavar="CODE", help="The tesuji's code, as `tesujis list` shows it."
        ),
    ],
    json: Json = False,
) -> None:
    """Delete a tesuji; `removals restore` undoes it.

    One of a shape that a player proposed stays away until a player proposes it again. Contests teach one of
    the game's own shapes again, from weight 0; then it is not restored any more.
    """
    request = libraries_pb2.DeleteTesujiRequest(game_id=game, code=code)
    response = server.libraries.DeleteTesuji(request)
    if json:
        printing.print_json(printing.as_json(response))
        return
    described = server.contests.GetGame(contests_pb2.GetGameRequest(game_id=game)).game
    title = f"{game}: tesuji deleted"
    printing.console().print(library_tables.tesujis_table(title, [response.tesuji], described))
    undo = (
        f"undo it with: academy removals restore {game} {response.removal}; that does nothing once it is "
        "learnt again"
    )
    printing.console().print(undo, soft_wrap=True)


def _print_pattern(title: str, pattern: pattern_pb2.PatternRecord, json: bool) -> None:
    printing.show(pattern, json, library_tables.patterns_table(title, [pattern]))
    if json:
        return
    for votes, heard in ((pattern.votes, ""), (pattern.silent_votes, ", silent")):
        for vote in votes:
            elo, value = vote.elo_hundredths / 100, vote.value_millionths / 1e6
            line = printing.shown(f"  {vote.player}: Elo {elo:.0f}, value {value:.3f}{heard}")
            printing.console().print(line)
    if pattern.folded.votes:
        printing.console().print(f"  and {pattern.folded.votes} older votes")


def show_pattern(
    server: Server, game: Game, pattern_id: PatternId, library: LibraryOfPattern = None, json: Json = False
) -> None:
    """Show one pattern and its votes; silent ones count once their players' Elo comes near the pattern's."""
    request = libraries_pb2.GetPatternRequest(game_id=game, pattern_id=pattern_id)
    _print_pattern(game, ask_about_pattern(server.libraries.GetPattern, request, library).pattern, json)


def delete_pattern(
    server: Server, game: Game, pattern_id: PatternId, library: LibraryOfPattern = None, json: Json = False
) -> None:
    """Delete a pattern; `patterns restore` undoes it."""
    request = libraries_pb2.DeletePatternRequest(game_id=game, pattern_id=pattern_id)
    deleted = ask_about_pattern(server.libraries.DeletePattern, request, library)
    _print_pattern(f"Deleted from {game}", deleted.pattern, json)


def restore_pattern(
    server: Server, game: Game, pattern_id: PatternId, library: LibraryOfPattern = None, json: Json = False
) -> None:
    """Bring back a pattern that was deleted, pruned, or evicted by a lowered capacity."""
    request = libraries_pb2.RestorePatternRequest(game_id=game, pattern_id=pattern_id)
    restored = ask_about_pattern(server.libraries.RestorePattern, request, library)
    if not restored.HasField("pattern"):
        raise CommandError(
            f"pattern {pattern_id} is not back in {game}, but still kept: its library is full of stronger "
            "patterns, or only muted players voted for it; raise the capacity or unmute one of them, then "
            "restore again"
        )
    _print_pattern(f"Restored to {game}", restored.pattern, json)


def openings(  # noqa: PLR0913
    server: Server,
    game: Game,
    moves: Annotated[
        list[str] | None, typer.Argument(metavar="MOVE", help="The moves to begin after.")
    ] = None,
    depth: Annotated[int, typer.Option(min=0, max=MOST, help="How many plies further; 0 = all.")] = 4,
    min_visits: Annotated[int, typer.Option(min=0, help="Leave out moves played less often.")] = 1,
    limit: Limit = 200,
    json: Json = False,
) -> None:
    """Show the opening tree: moves, visits, results, value and analysis for the player who moves.

    Below it: the move that the book recommends at its beginning, where players move in turn.
    """
    moves = moves or []
    request = libraries_pb2.ListOpeningsRequest(game_id=game, moves=moves, depth=depth, page_size=_PAGE)
    nodes = pages(server.libraries.ListOpenings, request, "nodes")
    shown = list(islice((node for node in nodes if node.visits >= min_visits), limit))
    names = names_of(game, moves, shown)
    if json:
        named = ({"name": names[node.node_id]} if node.node_id in names else {} for node in shown)
        printing.print_json([printing.as_json(node) | name for node, name in zip(shown, named, strict=True)])
    else:
        printing.console().print(library_tables.openings_table(f"Openings of {game}", shown, names))
        _print_recommendation(server, game, moves)


def _print_recommendation(server: Server, game: str, moves: list[str]) -> None:
    """Print the move that the book recommends, which need not be the most played one.

    Where moves are simultaneous each player has a book, and nothing is printed.
    """
    request = libraries_pb2.ListOpeningsRequest(game_id=game, moves=moves, depth=1, page_size=2)
    first = [node for node in server.libraries.ListOpenings(request).nodes if node.depth > len(moves)]
    if not first or [*moves, first[0].move][0].startswith("player "):
        return
    known = server.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id=game, player=first[0].mover, moves=moves)
    )
    if known.HasField("recommendation"):
        book = known.recommendation
        text = (
            f"the book recommends {book.move}: {book.value:.3f} for its mover, the known replies considered"
        )
        printing.console().print(printing.shown(text), soft_wrap=True)


def delete_opening(
    server: Server,
    game: Game,
    moves: Annotated[
        list[str],
        typer.Argument(metavar="MOVE", help="The line; its last move and all after it are deleted."),
    ],
    json: Json = False,
) -> None:
    """Delete a line of the opening tree with all that follows it; `removals restore` undoes it.

    The positions before keep their counts: the contests were played.
    """
    request = libraries_pb2.DeleteOpeningRequest(game_id=game, moves=moves)
    response = server.libraries.DeleteOpening(request)
    title = f"{game}: {printing.counted(response.removed, 'position')} deleted"
    printing.show(response, json, library_tables.openings_table(title, response.nodes))
    if not json:
        undo = (
            f"undo it with: academy removals restore {game} {response.removal}; which contests came to these "
            "positions is forgotten"
        )
        printing.console().print(undo, soft_wrap=True)


def forget_analyses(
    server: Server,
    game: Game,
    analyst: Annotated[
        str, typer.Argument(metavar="ANALYST", help="The name of the analyst's token; '*': everybody's.")
    ],
    json: Json = False,
) -> None:
    """Take what an analyst's searches found out of the opening tree. Analysts may search again."""
    name = "" if analyst == "*" else analyst
    response = server.libraries.ForgetAnalyses(
        libraries_pb2.ForgetAnalysesRequest(game_id=game, analyst=name)
    )
    if json:
        printing.print_json(printing.as_json(response))
    else:
        typer.echo(f"{game}: {printing.counted(response.forgotten, 'analysis', 'analyses')} forgotten")


def list_removals(server: Server, game: Game, json: Json = False) -> None:
    """List what was pruned, evicted by a lowered capacity, or deleted of openings and tesujis.

    The newest comes first. Votes of muted players are listed too: `players unmute` brings those back.
    """
    response = server.libraries.ListRemovals(libraries_pb2.ListRemovalsRequest(game_id=game))
    printing.show(response, json, library_tables.removals_table(game, response.removals))


def restore_removal(
    server: Server,
    game: Game,
    removal: Annotated[
        int,
        typer.Argument(
            min=1, max=LARGEST_NUMBER, metavar="REMOVAL", help="Its number, as `removals list` shows it."
        ),
    ],
    json: Json = False,
) -> None:
    """Restore what was removed, while there is room; nothing is evicted for it."""
    request = libraries_pb2.RestoreRemovalRequest(game_id=game, removal=removal)
    response = server.libraries.RestoreRemoval(request)
    if json:
        printing.print_json(printing.as_json(response))
        return
    if response == libraries_pb2.RestoreRemovalResponse():
        typer.echo(f"{game}: nothing restored: what was removed is known again, and stays as it is now")
        return
    patterns = printing.counted(response.patterns, "pattern")
    typer.echo(f"{game}: {patterns} and {printing.counted(response.nodes, 'opening position')} restored")
    if response.tesujis or response.weights:
        tesujis = printing.counted(response.tesujis, "tesuji")
        typer.echo(f"{game}: {tesujis} and {printing.counted(response.weights, 'weight')} restored")
    if response.no_room:
        typer.echo(
            f"{response.no_room} have no room, or their position before is gone, or only muted players voted "
            "for them: they are still kept; raise the capacity or unmute a player, then restore again"
        )


def events(
    server: Server,
    game: Annotated[str, typer.Argument(metavar="GAME", help="Show only this game's events.")] = "",
    oldest: Annotated[bool, typer.Option(help="Begin with the first.")] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="Leave out contests and analyses: show what people did.")
    ] = False,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """Show the event log, the newest first."""
    request = libraries_pb2.ListEventsRequest(
        game_id=game,
        newest_first=not oldest,
        page_size=min(limit, _PAGE),
        without_contests=changes,
        without_analyses=changes,
    )
    events = list(islice(pages(server.libraries.ListEvents, request, "events"), limit))
    printing.show(events, json, event_table.events_table(events))


def statistics(
    server: Server,
    game: Game,
    players: Annotated[
        bool, typer.Option(help="Show the players' figures instead, including false claims.")
    ] = False,
    json: Json = False,
) -> None:
    """Show how much is known of a game, and its measures."""
    if players:
        request = libraries_pb2.ListPlayerStatisticsRequest(game_id=game)
        rows = list(pages(server.libraries.ListPlayerStatistics, request, "players"))
        printing.show(rows, json, contest_tables.players_table(rows))
        return
    figures = server.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=game))
    measures = server.libraries.GetMeasures(libraries_pb2.GetMeasuresRequest(game_id=game))
    if json:
        printing.print_json(printing.as_json(figures) | {"measures": printing.as_json(measures)["measures"]})
    else:
        printing.console().print(library_tables.statistics_table(figures, measures))


def prune(
    server: Server,
    game: Game,
    library: Annotated[LibraryName, typer.Argument(metavar="LIBRARY", help="The library.")],
    below: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            show_default=False,
            help="Patterns: remove those of lower strength (required). Openings: remove the replies to a "
            "position where all of them are leaves worth less than this to their mover (default, also for 0: "
            "the game's prune_below).",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Only show what would go.")] = False,
    json: Json = False,
) -> None:
    """Remove patterns below a strength, or replies that are all below a value."""
    if below is None and library != "opening":
        raise CommandError(
            f"prune {library} needs --below STRENGTH; `patterns list` shows strengths", ExitCode.USAGE
        )
    response = server.libraries.PruneLibrary(
        libraries_pb2.PruneLibraryRequest(
            game_id=game, library=number_of(library), below=below or 0.0, dry_run=dry_run
        )
    )
    if json:
        printing.print_json(printing.as_json(response))
        return
    what = "would be removed" if dry_run else "removed"
    title = f"{game}, {library}: {response.removed} {what}"
    if response.nodes:
        printing.console().print(library_tables.openings_table(title, response.nodes))
    elif response.patterns:
        printing.console().print(library_tables.patterns_table(title, response.patterns))
    else:
        printing.console().print(title)
    if not dry_run and response.removed:
        _print_undo(game, "", response.removed)


def _print_undo(game: str, what: str, removed: int) -> None:
    """Print what was done, and how to undo it where something was removed."""
    undo = f"`academy removals list {game}` shows what can be restored" if removed else ""
    printing.console().print("; ".join(filter(None, (what, undo))), soft_wrap=True)


def settings(
    server: Server,
    game: Game,
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE", help="What to set, as in endgame_capacity=2000; nothing: show."),
    ] = None,
    json: Json = False,
) -> None:
    """Show or change a game's settings; lowering a capacity removes the weakest at once."""
    if changes:
        wanted = game_pb2.LibrarySettings()
        names = [_set(wanted, change) for change in changes]
        response = server.libraries.UpdateSettings(
            libraries_pb2.UpdateSettingsRequest(game_id=game, settings=wanted, fields=names)
        )
        now, removed = response.settings, response.removed
    else:
        now = server.contests.GetGame(contests_pb2.GetGameRequest(game_id=game)).game.settings
        removed = 0
    printing.show(now, json, library_tables.settings_table(game, now))
    if changes and not json:
        _print_undo(game, f"{printing.counted(removed, 'record')} removed", removed)
        if "evaluation_patterns" in names and now.evaluation_patterns and not now.evaluation:
            _print_evaluation_off(server, game)


def _print_evaluation_off(server: Server, game: str) -> None:
    """Print that a game's evaluation is off, what is kept of it, and how to switch it on."""
    figures = server.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=game))
    contests, patterns = figures.evaluation_contests, figures.evaluation_patterns
    kept = (
        f", {printing.counted(contests, 'contest')} and {printing.counted(patterns, 'pattern')} are kept"
        if contests
        else ""
    )
    typer.echo(f"evaluation is off{kept}: academy settings {game} evaluation=true")


def weights(server: Server, game: Game, limit: Limit = 20, json: Json = False) -> None:
    """Show what positions are worth: weights of features, and of the anchored patterns that weigh most."""
    answer = server.consultation.DownloadWeights(
        consultation_pb2.DownloadWeightsRequest(game_id=game, player=1)
    )
    if json:
        printing.print_json(printing.as_json(answer))
        return
    described = server.contests.GetGame(contests_pb2.GetGameRequest(game_id=game)).game
    if described.settings.evaluation:
        printing.console().print(library_tables.weights_table(described, answer, limit))
    else:
        _print_evaluation_off(server, game)


def _switch(text: str) -> bool:
    """Read `true` or `false`. Raises ValueError."""
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


_KINDS: Final[dict[int, tuple[Callable[[str], Any], str]]] = {
    FieldDescriptor.TYPE_DOUBLE: (float, "a number"),
    FieldDescriptor.TYPE_BOOL: (_switch, "true or false"),
}


def _set(settings: game_pb2.LibrarySettings, change: str) -> str:
    name, equals, value = change.partition("=")
    field = settings.DESCRIPTOR.fields_by_name.get(name)
    if field is None or not equals:
        known = [field.name for field in settings.DESCRIPTOR.fields]
        near = get_close_matches(name, known, 1)
        meant = f"did you mean {near[0]}?" if near and not field else f"NAME is one of {', '.join(known)}"
        raise CommandError(f"{change!r}: write NAME=VALUE; {meant}", ExitCode.USAGE)
    if settings.HasField(name):  # type: ignore[arg-type]
        raise CommandError(f"{change!r}: {name} is given twice", ExitCode.USAGE)
    kind, what = _KINDS.get(
        field.type, (int, f"a whole number from 0 to {GREATEST.get(name, GREATEST_NUMBER):,}")
    )
    try:
        setattr(settings, name, kind(value))
    except ValueError as error:
        raise CommandError(f"{change!r}: {value!r} is not {what}", ExitCode.USAGE) from error
    return name
