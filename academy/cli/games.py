"""Commands that list, register and delete games."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf import json_format

from academy.cli import library_tables, printing
from academy.cli.commands import CommandError, ExitCode, ListingCommands
from academy.cli.connection import pages, with_server, with_server_where_asked
from academy.cli.data_folder import account_name, open_existing
from academy.cli.options import FairUse, Game, Json
from academy.cli.services import Server
from academy.cli.serving import DEFAULT_DATA, Data
from academy.cli.transfer import TEXT_BEGINS, read_export, read_file
from academy.v1 import contests_pb2, game_pb2, libraries_pb2
from academy.wire.command_line import Program


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    games = Program(
        "games",
        "List the games that are registered (`--measures` compares them), register one, delete one.",
        ListingCommands,
        no_args_is_help=False,
    )
    games.command("list")(with_server(list_games))
    games.command("create")(with_server(create_game))
    games.command("delete")(with_server_where_asked(delete_game))
    application.add_typer(games)


def list_games(
    server: Server,
    measures: Annotated[
        bool, typer.Option("--measures", help="Compare the games by LUDAE's measures instead.")
    ] = False,
    fair_use: FairUse = False,
    json: Json = False,
) -> None:
    """List the games that are registered."""
    if measures and fair_use:
        raise CommandError("give --measures or --fair-use, not both", ExitCode.USAGE)
    games = list(pages(server.contests.ListGames, contests_pb2.ListGamesRequest(page_size=1_000), "games"))
    if measures:
        _compare_games(server, [game.game_id for game in games], json)
    else:
        table = library_tables.games_fair_use_table if fair_use else library_tables.games_table
        printing.show(games, json, table(games))


def _compare_games(server: Server, games: Sequence[str], json: bool) -> None:
    from academy.cli.comparison import compared, comparison_table

    answers = [server.libraries.GetMeasures(libraries_pb2.GetMeasuresRequest(game_id=game)) for game in games]
    if json:
        printing.print_json([compared(answer) for answer in answers])
    else:
        printing.console().print(comparison_table(answers))


def create_game(
    server: Server,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What `arena describe` wrote, or an export: the game and its settings."
        ),
    ],
    json: Json = False,
) -> None:
    """Register a game, with the settings that the file has; `import` then takes in what an export knows."""
    content = read_file(file)
    response = server.contests.RegisterGame(
        contests_pb2.RegisterGameRequest(game=_read_description(content, file))
    )
    if json:
        printing.print_json(printing.as_json(response))
    elif response.created:
        typer.echo(f"{response.game.game_id}: registered, {library_tables.board_of(response.game)}")
    else:
        typer.echo(f"{response.game.game_id}: is registered already; its settings stay as they are")


def delete_game(
    server: Server | None,
    game: Game,
    really: Annotated[bool, typer.Option("--really", help="Also a fork that holds knowledge.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Delete a game without contests from a data folder, also while servers use it, or from a server.

    A game with contests is refused, also if they are open, and one with patterns unless it is a fork. The
    event log keeps that it was there.
    """
    if server is not None:
        server.libraries.DeleteGame(libraries_pb2.DeleteGameRequest(game_id=game, really=really))
    else:
        from academy.store.library_commands import DeleteGame

        with open_existing(data) as store:
            store.run(DeleteGame(game, account_name(), really))
    typer.echo(f"{game}: deleted; its id may be registered again")


def _read_description(content: bytes, file: Path) -> game_pb2.Game:
    """The game that a file describes: JSON, or the beginning of an export."""
    from academy.store.library_text.reading import read_description

    text = content.decode(errors="replace")
    if text.lstrip().startswith("{"):
        try:
            return json_format.Parse(text, game_pb2.Game())
        except json_format.ParseError as error:
            raise CommandError(f"{file}: describes no game: {str(error)[:300]}") from error
    if content.lstrip().startswith(TEXT_BEGINS):
        described = read_description(text)
        if described is None:
            raise CommandError(
                f"{file}: has no '% description' of its game: export it with this version, or describe the "
                "game with `arena describe`"
            )
        return described
    first = next(read_export(content, file), None)
    if first is None or first.WhichOneof("record") != "game":
        raise CommandError(f"{file}: is neither a description of a game nor an export")
    return first.game
