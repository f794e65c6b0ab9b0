"""Actions on the ratings of a service's league, which every holder of a token reads."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from academy.wire.command_line import Program
from arena.cli.arguments import Json
from arena.cli.service import ANY, Service, say_listed, with_service
from arena.output import say, say_json

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp


group = Program(
    "rating",
    "Ratings of a service's league, over gRPC; `arena league` reads the database itself.",
)


def add_to(application: typer.Typer) -> None:
    """Add the group of actions."""
    group.command("list")(with_service(list_ratings, ANY))
    group.command()(with_service(history, ANY))
    application.add_typer(group)


def list_ratings(
    service: Service,
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME",
            help="What ACADEMY calls the game, such as go-9x9; without it the rated games are listed.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The best of the list only.")] = 100,
    as_json: Json = False,
) -> None:
    """Show the rating list of a game, or the games that are rated."""
    from google.protobuf.json_format import MessageToDict

    from arena.league.lists import ListedRating, RatedGame
    from arena.league.text import games_text, ratings_text
    from arena.v1 import leagues_pb2

    if game is None:
        games = _call(service, "ListRatedGames", leagues_pb2.ListRatedGamesRequest(), "listing games").games
        rated = [RatedGame(listed.game, listed.games, listed.players, 0) for listed in games]
        say_listed("games", games, as_json, lambda _: games_text(rated))
        return
    lines: list[Any] = []
    token = ""
    while len(lines) < limit:
        request = leagues_pb2.ListRatingsRequest(
            game=game, page_size=min(limit - len(lines), 1_000), page_token=token
        )
        answer = _call(service, "ListRatings", request, f"listing ratings of {game}")
        lines += answer.ratings
        token = answer.next_page_token
        if not token:
            break
    if as_json:
        say_json({"game": game, "ratings": [MessageToDict(line) for line in lines]})
        return
    ratings = [
        ListedRating(
            line.player,
            line.version,
            line.family,
            line.elo,
            line.likeliest if line.HasField("likeliest") else None,
            line.error if line.HasField("error") else None,
            line.games,
            line.score if line.HasField("score") else None,
            _time(line.last_played),
            line.anchored,
        )
        for line in lines
    ]
    say(ratings_text(game, ratings), end="")


def history(
    service: Service,
    player: Annotated[
        str, typer.Argument(metavar="PLAYER", help="Its name; all versions are shown.", show_default=False)
    ],
    game: Annotated[
        str, typer.Option("--game", metavar="GAME", help="This game alone.", show_default="all games")
    ] = "",
    points: Annotated[
        int, typer.Option("--points", min=1, max=10_000, help="The newest points only.")
    ] = 1_000,
    as_json: Json = False,
) -> None:
    """Show how a player's ratings went."""
    from google.protobuf.json_format import MessageToDict

    from arena.league.lists import RatingAt
    from arena.league.players import label
    from arena.league.text import history_text
    from arena.v1 import leagues_pb2

    request = leagues_pb2.GetRatingHistoryRequest(player=player, game=game, points=points)
    answer = _call(service, "GetRatingHistory", request, f"reading ratings of {player}")
    if as_json:
        say_json({"player": player, "points": [MessageToDict(point) for point in answer.points]})
        return
    lines: dict[str, list[RatingAt]] = {}
    for point in answer.points:
        at = RatingAt(
            point.version,
            point.game,
            _time(point.time),
            point.games,
            point.elo,
            point.likeliest,
            point.error,
        )
        lines.setdefault(label(player, point.version), []).append(at)
    say(history_text(lines), end="")


def _time(timestamp: "Timestamp") -> datetime:
    """A time in UTC, without a zone, as the league's lists have it."""
    return timestamp.ToDatetime(UTC).replace(tzinfo=None)


def _call(service: Service, method: str, request: Any, doing: str) -> Any:
    from arena.v1 import leagues_pb2_grpc

    return service.call_at(leagues_pb2_grpc.LeagueServiceStub, method, request, doing)
