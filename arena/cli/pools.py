"""Actions on the pools and seasons of a service's standing arena."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from academy.wire.command_line import Program, not_nan
from arena.cli.arguments import MOST, Json
from arena.cli.control_files import read_settings
from arena.cli.service import ANY, OPERATORS, Service, say_listed, with_service
from arena.output import say, say_json

if TYPE_CHECKING:
    from arena.v1 import pools_pb2

MOST_SECONDS = 1e6
MOST_HOURS = 366 * 24

PoolName = Annotated[str, typer.Argument(metavar="NAME", help="The pool's name.", show_default=False)]
SeasonName = Annotated[str, typer.Argument(metavar="NAME", help="The season's name.", show_default=False)]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the game, such as board_size=9."),
]
MoveLimit = Annotated[
    int | None,
    typer.Option(
        min=0, max=MOST, help="A game ends after this number of moves.", show_default="the game's own"
    ),
]
Main = Annotated[
    float | None,
    typer.Option(
        "--main",
        min=0,
        max=MOST_SECONDS,
        callback=not_nan,
        help="The clock: seconds for all moves.",
        show_default=False,
    ),
]
Increment = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=MOST_SECONDS,
        callback=not_nan,
        help="The clock: seconds that a move adds.",
        show_default=False,
    ),
]
MoveSeconds = Annotated[
    float | None,
    typer.Option(min=0, max=MOST_SECONDS, callback=not_nan, help="Seconds a move, without a clock (60)."),
]
Openings = Annotated[
    Path | None, typer.Option(help="A file of openings: SGF, or moves on each line.", show_default=False)
]
Rounds = Annotated[
    int | None, typer.Option(min=0, max=MOST, help="End after this number of rounds.", show_default="no end")
]
GamesAtOnce = Annotated[int | None, typer.Option(min=1, max=256, help="Games at a time (2).")]
RandomPlayer = Annotated[
    bool | None,
    typer.Option(
        "--random-player/--no-random-player", help="An anchor takes part: random moves, fixed at Elo 0."
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="NAME.pool in the service's folder has players that always take part, the pool's ACADEMY, and "
        "the cluster that plays its games; '' for none.",
        show_default=False,
    ),
]
ScheduleOption = Annotated[
    str | None,
    typer.Option(
        help="When it opens, as cron writes times, in UTC: '0 20 * * 6'; '' for always.", show_default=False
    ),
]
Hours = Annotated[
    float | None,
    typer.Option(
        min=0, max=MOST_HOURS, callback=not_nan, help="How long it is open each time.", show_default=False
    ),
]

pools = Program(
    "pool",
    "Pools of a service's standing arena (`arena serve --league`), changed while it runs.",
)
seasons = Program(
    "season",
    "Seasons of a service's league: spans of time with tables of their own.",
)


def add_to(application: typer.Typer) -> None:
    """Add both groups of actions."""
    for action in (add, change, pause, resume, end, remove):
        pools.command()(with_service(action, OPERATORS))
    pools.command("list")(with_service(list_pools, ANY))
    seasons.command()(with_service(begin, OPERATORS))
    seasons.command("end")(with_service(finish, OPERATORS))
    seasons.command("remove")(with_service(forget, OPERATORS))
    seasons.command()(with_service(table, ANY))
    seasons.command("list")(with_service(list_seasons, ANY))
    application.add_typer(pools)
    application.add_typer(seasons)


def add(  # noqa: PLR0913 - the options of a command
    service: Service,
    name: PoolName,
    game: Annotated[str, typer.Option(help="The referee's name, such as go.", show_default=False)],
    settings: Settings = None,
    move_limit: MoveLimit = None,
    main: Main = None,
    increment: Increment = None,
    move_seconds: MoveSeconds = None,
    openings: Openings = None,
    rounds: Rounds = None,
    games_at_once: GamesAtOnce = None,
    random_player: RandomPlayer = None,
    base: Base = None,
    schedule: ScheduleOption = None,
    hours: Hours = None,
) -> None:
    """Add a pool, which opens at once or by its schedule. Members that play the game are paired in it."""
    from arena.v1 import pools_pb2

    wanted = pools_pb2.PoolSettings(game=game, settings_json=json.dumps(read_settings(settings or ())))
    _apply(
        wanted, move_limit=move_limit, main=main, increment=increment, move_seconds=move_seconds,
        openings=openings, rounds=rounds, games_at_once=games_at_once, random_player=random_player,
        base=base, schedule=schedule, hours=hours,
    )  # fmt: skip
    request = pools_pb2.AddPoolRequest(name=name, settings=wanted)
    _show(_call(service, "AddPool", request, f"adding {name}").pool)


def change(  # noqa: PLR0913 - the options of a command
    service: Service,
    name: PoolName,
    move_limit: MoveLimit = None,
    main: Main = None,
    increment: Increment = None,
    move_seconds: MoveSeconds = None,
    openings: Openings = None,
    rounds: Rounds = None,
    games_at_once: GamesAtOnce = None,
    random_player: RandomPlayer = None,
    base: Base = None,
    schedule: ScheduleOption = None,
    hours: Hours = None,
) -> None:
    """Change what is given of a pool's settings. They hold when the games in progress are over."""
    from arena.v1 import pools_pb2

    wanted = _call(service, "GetPool", pools_pb2.GetPoolRequest(name=name), f"changing {name}").pool.settings
    _apply(
        wanted, move_limit=move_limit, main=main, increment=increment, move_seconds=move_seconds,
        openings=openings, rounds=rounds, games_at_once=games_at_once, random_player=random_player,
        base=base, schedule=schedule, hours=hours,
    )  # fmt: skip
    request = pools_pb2.ChangePoolRequest(name=name, settings=wanted)
    _show(_call(service, "ChangePool", request, f"changing {name}").pool)


def _apply(settings: "pools_pb2.PoolSettings", **given: Any) -> None:
    """Change what is not None."""
    _check_together(given)
    for name in ("move_limit", "rounds", "games_at_once", "random_player", "base", "schedule"):
        if given[name] is not None:
            setattr(settings, name, given[name])
    for name, seconds in (("main", given["main"]), ("increment", given["increment"])):
        if seconds is not None:
            getattr(settings.clock, name).FromNanoseconds(round(seconds * 1e9))
    if given["move_seconds"] is not None:
        settings.ClearField("clock")
        settings.move_time.FromNanoseconds(round(given["move_seconds"] * 1e9))
    if given["openings"] is not None:
        settings.openings = _text_of(given["openings"])
    if given["hours"] is not None:
        settings.open_for.FromSeconds(round(given["hours"] * 3600))
    if given["schedule"] == "":
        settings.ClearField("open_for")
    _check_schedule(settings)


def _check_schedule(settings: "pools_pb2.PoolSettings") -> None:
    """Refuse half a schedule by its option: the service names its own field."""
    if settings.schedule and settings.open_for.seconds <= 0:
        raise typer.BadParameter(
            "say with --hours how long the pool is open each time", param_hint="--schedule"
        )
    if settings.HasField("open_for") and not settings.schedule:
        raise typer.BadParameter("give --schedule too, such as '0 20 * * 6'", param_hint="--hours")


def _check_together(given: dict[str, Any]) -> None:
    """Raise typer.BadParameter for options of which one would be ignored."""
    if given["move_seconds"] is not None and (given["main"], given["increment"]) != (None, None):
        raise typer.BadParameter("give a clock (--main, --increment) or --move-seconds, not both")
    if given["schedule"] == "" and given["hours"] is not None:
        raise typer.BadParameter("--schedule '' is always open: leave --hours out")


def _text_of(openings: Path) -> str:
    try:
        return openings.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{openings} is not UTF-8: {error}", param_hint="--openings") from None
    except OSError as error:
        why = f"can't read {openings}: {error.strerror}"
        raise typer.BadParameter(why, param_hint="--openings") from None


def pause(service: Service, name: PoolName) -> None:
    """Begin no more rounds; games in progress are played to their end."""
    from arena.v1 import pools_pb2

    _show(_call(service, "PausePool", pools_pb2.PausePoolRequest(name=name), f"pausing {name}").pool)


def resume(service: Service, name: PoolName) -> None:
    """Go on with a pool that was paused."""
    from arena.v1 import pools_pb2

    _show(_call(service, "ResumePool", pools_pb2.ResumePoolRequest(name=name), f"resuming {name}").pool)


def end(service: Service, name: PoolName) -> None:
    """End a pool for good; its results stay."""
    from arena.v1 import pools_pb2

    _show(_call(service, "EndPool", pools_pb2.EndPoolRequest(name=name), f"ending {name}").pool)


def remove(service: Service, name: PoolName) -> None:
    """Free the name of a pool that has ended and never ran."""
    from arena.v1 import pools_pb2

    _call(service, "RemovePool", pools_pb2.RemovePoolRequest(name=name), f"removing {name}")


def list_pools(service: Service, as_json: Json = False) -> None:
    """List the pools."""
    from arena.cli.service_text import pools_text
    from arena.v1 import pools_pb2

    listed = _call(service, "ListPools", pools_pb2.ListPoolsRequest(), "listing pools").pools
    say_listed("pools", listed, as_json, pools_text)


def begin(
    service: Service,
    name: SeasonName,
    begins: Annotated[
        datetime | None, typer.Option("--from", help="When it begins, in UTC.", show_default="now")
    ] = None,
    ends: Annotated[
        datetime | None, typer.Option("--until", help="When it ends, in UTC.", show_default="no end")
    ] = None,
) -> None:
    """Begin a season: games that end in it make its tables. Ratings go on."""
    from arena.v1 import pools_pb2

    request = pools_pb2.BeginSeasonRequest(name=name)
    for field, time in ((request.begins, begins), (request.ends, ends)):
        if time is not None:
            field.FromDatetime(time.replace(tzinfo=UTC))
    _call(service, "BeginSeason", request, f"beginning {name}")


def finish(service: Service, name: SeasonName) -> None:
    """End a season now."""
    from arena.v1 import pools_pb2

    _call(service, "EndSeason", pools_pb2.EndSeasonRequest(name=name), f"ending {name}")


def forget(service: Service, name: SeasonName) -> None:
    """Remove a season that was begun by mistake; games and ratings stay."""
    from arena.v1 import pools_pb2

    _call(service, "RemoveSeason", pools_pb2.RemoveSeasonRequest(name=name), f"removing {name}")


def list_seasons(service: Service, as_json: Json = False) -> None:
    """List the seasons."""
    from arena.cli.service_text import seasons_text
    from arena.v1 import pools_pb2

    listed = _call(service, "ListSeasons", pools_pb2.ListSeasonsRequest(), "listing seasons").seasons
    say_listed("seasons", listed, as_json, seasons_text)


def table(
    service: Service,
    name: SeasonName,
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="What ACADEMY calls the game: go-9x9.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Show a game's table in a season, by the likeliest Elo of the season's games alone."""
    from google.protobuf.json_format import MessageToDict

    from arena.cli.service_text import season_text
    from arena.v1 import pools_pb2

    request = pools_pb2.GetSeasonTableRequest(season=name, game=game)
    lines = _call(service, "GetSeasonTable", request, f"reading {name}").lines
    if as_json:
        say_json({"season": name, "game": game, "lines": [MessageToDict(line) for line in lines]})
    else:
        say(season_text(lines), end="")


def _call(service: Service, method: str, request: Any, doing: str) -> Any:
    from arena.v1 import pools_pb2_grpc

    return service.call_at(pools_pb2_grpc.PoolServiceStub, method, request, doing)


def _show(pool: "pools_pb2.Pool") -> None:
    from arena.cli.service_text import pools_text

    say(pools_text([pool]), end="")
