"""Actions on a league: rating lists, players, histories, and results of competitions that it takes in."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from academy.wire.command_line import Program
from arena.cli.arguments import Json
from arena.output import complain, say, say_json

if TYPE_CHECKING:
    from sqlalchemy import URL

    from arena.control.settings import Control

League = Annotated[
    str,
    typer.Argument(
        metavar="LEAGUE",
        help="The league's database: a SQLite file, or a URL such as postgresql://host/name.",
        show_default=False,
    ),
]

group = Program(
    "league",
    "Ratings for life: a league keeps players, their versions and families, and all their games. "
    "Competitions belong to it by [league] in the control file.",
)


def add_to(application: typer.Typer) -> None:
    """Add the group of actions."""
    for action in (show, players, history):
        group.command()(action)
    group.command("import")(import_)
    application.add_typer(group)


def show(
    league: League,
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="What ACADEMY calls the game, such as go-9x9; without it all games are listed.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="The best of the list only.", show_default="all")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the rating list of a game, or the games and competitions of the league."""
    from arena.league.database import open_league
    from arena.league.estimates import estimate_all
    from arena.league.lists import LeagueReader, as_json_list
    from arena.league.text import games_text, ratings_text

    with closing(open_league(league)) as opened:
        estimate_all(opened)
        reader = LeagueReader(opened)
        if game is not None:
            ratings = reader.ratings(game, limit)
            if as_json:
                say_json({"game": game, "ratings": as_json_list(ratings)})
            else:
                say(ratings_text(game, ratings), end="")
        elif as_json:
            games, competitions = reader.games(), reader.competitions()
            say_json({"games": as_json_list(games), "competitions": as_json_list(competitions)})
        else:
            say(games_text(reader.games(), reader.competitions()), end="")


def players(league: League, as_json: Json = False) -> None:
    """List the players: each version with its family, its forerunner and its games."""
    from arena.league.database import open_league
    from arena.league.lists import LeagueReader, as_json_list
    from arena.league.text import players_text

    with closing(open_league(league)) as opened:
        listed = LeagueReader(opened).players()
    if as_json:
        say_json({"players": as_json_list(listed)})
    else:
        say(players_text(listed), end="")


def history(
    league: League,
    player: Annotated[
        str,
        typer.Argument(metavar="PLAYER", help="Its name; all versions are shown.", show_default=False),
    ],
    game: Annotated[
        str | None, typer.Option("--game", metavar="GAME", help="This game alone.", show_default="all games")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how a player's ratings went, estimate by estimate."""
    from arena.league.database import open_league
    from arena.league.lists import LeagueReader, as_json_list
    from arena.league.text import history_text

    with closing(open_league(league)) as opened:
        lines = LeagueReader(opened).history(player, game)
    if as_json:
        say_json({"player": player, "history": {name: as_json_list(line) for name, line in lines.items()}})
    else:
        say(history_text(lines), end="")


def import_(
    league: League,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULTS",
            help="Results databases (SQLite files or URLs), or control files (.toml) of competitions.",
            show_default=False,
        ),
    ],
) -> None:
    """Take all competitions of results databases into the league, which is made if it is missing.

    Games that it has already change nothing, so this may be repeated at any time. A control file gives its
    players' families and fixed ratings, too, which a results database has not.
    """
    from arena.league.database import open_league
    from arena.league.estimates import estimate_all
    from arena.league.recording import take_in
    from arena.league.source import competitions
    from arena.results.database import ResultsDatabase
    from arena.runner.league import enter_players

    with ExitStack() as opened:
        # A league is neither made nor changed for results that cannot be read.
        given = [(source, *_results_of(source)) for source in sources]
        named = [
            (source, control, opened.enter_context(closing(ResultsDatabase.open(url, create=False))))
            for source, url, control in given
        ]
        into = opened.enter_context(closing(open_league(league, create=True)))
        for source, control, results in named:
            if control is not None:
                enter_players(control, into)
            rated = competitions(results)
            if not rated:
                complain(f"arena: {source}: no competition that rates its players")
            for competition in rated:
                games = take_in(into, results, competition)
                say(f"{competition.name} ({competition.kind}): {games} new games")
        estimate_all(into)


def _results_of(source: str) -> "tuple[URL | str, Control | None]":
    """The results that a user means, and their control file. Raises ControlError and NoResultsYetError."""
    from arena.cli.arguments import open_competition
    from arena.results.database import NoResultsYetError, sqlite_url

    if "://" in source:
        return source, None
    if source.endswith((".toml", ".ctl")):
        control, files = open_competition(Path(source), None)
        files.check_results()
        return files.results, control
    if not Path(source).exists():
        raise NoResultsYetError(f"there is no results database {source}")
    return sqlite_url(Path(source)), None
