"""Actions of the gRPC service: serve, and at one: start, list, watch, players, token, tokens."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from academy.wire.addresses import ServerAddress
from academy.wire.tls import Certificates, Endpoint
from arena.cli.arguments import CompetitionName, Json
from arena.cli.service import (
    OPERATORS,
    Service,
    say_listed,
    say_message,
    with_service,
    with_service_where_asked,
)
from arena.lobby import DEFAULT_ADDRESS
from arena.output import say, say_json, try_to_say

TokensFile = Annotated[
    Path,
    typer.Option("--tokens", envvar="ARENA_TOKENS", help="The file of tokens, which `arena token` makes."),
]
MadeTokensFile = Annotated[
    Path,
    typer.Option(
        "--tokens",
        envvar="ARENA_TOKENS",
        help="The file of tokens, made if it is missing; `arena serve --tokens` reads it.",
    ),
]
DEFAULT_TOKENS: Final = Path("arena.tokens")


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    application.command()(serve)
    application.command()(with_service(start, OPERATORS))
    application.command("list")(with_service(list_competitions))
    for action in (watch, players):
        application.command()(with_service(action))
    application.command()(with_service_where_asked(token, OPERATORS))
    application.command()(with_service_where_asked(tokens, OPERATORS))


def serve(  # noqa: PLR0913 - the options of a command
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of control files.")] = Path(),
    tokens: TokensFile = DEFAULT_TOKENS,
    address: Annotated[
        str, typer.Option(help="Where to listen: host:port (port 0: any free one) or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM certificate of the server.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of the certificate.")] = None,
    insecure: Annotated[bool, typer.Option(help="Let other machines connect without TLS.")] = False,
    allow_uploads: Annotated[
        bool, typer.Option(help="Let operators send control files: they then run any program as you.")
    ] = False,
    league: Annotated[
        str | None,
        typer.Option(
            help="The league that players register in: a SQLite file, or a URL of PostgreSQL. Without it "
            "there are no members and pools.",
            show_default=False,
        ),
    ] = None,
    open_registration: Annotated[
        bool, typer.Option("--open-registration", help="Let players register without an invitation.")
    ] = False,
    metrics_address: Annotated[
        str, typer.Option(help="Serve Prometheus metrics at this host:port.", show_default=False)
    ] = "",
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="What to log.")
    ] = "info",
    log_format: Annotated[
        Literal["auto", "console", "json"],
        typer.Option(help="How: auto is console on a terminal, else JSON."),
    ] = "auto",
    embedded_in: Annotated[
        int | None,
        typer.Option(min=1, hidden=True, help="The process id of the program whose end ends this one."),
    ] = None,
) -> None:
    """Serve competitions of a folder, and players that dial in, until SIGTERM or Ctrl-C.

    FOLDER may be one control file: then its competition alone is served.
    """
    import asyncio
    import signal

    from academy.wire import logs
    from arena.service.server import ServiceSettings
    from arena.service.server import serve as serve_competitions

    if embedded_in is not None:
        from arena.players.process_tree import die_with_parent

        die_with_parent(signal.SIGTERM, embedded_in)
    logs.configure(log_level, log_format)
    endpoint = Endpoint(ServerAddress.parse(address), Certificates(tls_cert, tls_key), insecure)
    metrics = ServerAddress.parse(metrics_address) if metrics_address else None
    settings = ServiceSettings(
        folder, tokens, endpoint, allow_uploads, metrics, league=league, open_to_all=open_registration
    )
    asyncio.run(serve_competitions(settings, lambda where: say(f"arena: serving {folder} at {where}")))


def start(
    service: Service,
    name: CompetitionName,
    file: Annotated[
        Path | None,
        typer.Option(
            "--control",
            metavar="FILE",
            help="Send this control file (TOML) along, as a new competition of that name.",
            show_default=False,
        ),
    ] = None,
    parallel: Annotated[
        int, typer.Option("--parallel", "-j", min=0, max=1023, help="Games at a time (0: as the file says).")
    ] = 0,
    max_games: Annotated[
        int, typer.Option("--max-games", "-g", min=0, help="Start at most this many games (0: all).")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Start a competition at a service, or go on with it. `arena watch` follows it.

    A control file that is sent along runs its players' programs where the service is; services take none
    unless started with --allow-uploads.
    """
    from arena.cli.service_text import state_line
    from arena.v1 import competitions_pb2

    text = "" if file is None else _text_of(file)
    request = competitions_pb2.StartCompetitionRequest(
        name=name, control=text, max_games=max_games, parallel=parallel
    )
    answer = service.call("StartCompetition", request, f"starting {name}")
    say_message(answer.competition, as_json, state_line)


def _text_of(file: Path) -> str:
    from arena.control.toml_file import read_text

    if file.suffix != ".toml":
        raise typer.BadParameter(f"{file}: services take control files in TOML", param_hint="--control")
    return read_text(file)


def list_competitions(service: Service, as_json: Json = False) -> None:
    """List the competitions of a service's folder and how they stand."""
    from arena.cli.service_text import competitions_text
    from arena.v1 import competitions_pb2, competitions_pb2_grpc

    stub = competitions_pb2_grpc.CompetitionServiceStub
    competitions = service.pages(
        stub, "ListCompetitions", competitions_pb2.ListCompetitionsRequest(), "competitions"
    )
    say_listed("competitions", competitions, as_json, competitions_text)


def watch(
    service: Service,
    name: CompetitionName,
    from_start: Annotated[
        bool, typer.Option(help="Begin with the first game, not with the next one.")
    ] = False,
    moves: Annotated[
        bool, typer.Option("--moves", help="Follow the games in progress too, move by move.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write a line of JSON for each event.")] = False,
) -> None:
    """Follow a competition that a service runs, until it ends or is stopped."""
    import json

    import grpc
    from google.protobuf.json_format import MessageToDict

    from arena.cli.service_text import event_lines
    from arena.v1 import competitions_pb2, competitions_pb2_grpc

    request = competitions_pb2.WatchCompetitionRequest(
        name=name, after=0 if from_start else None, in_progress=moves
    )
    stub = competitions_pb2_grpc.CompetitionServiceStub(service.channel)
    try:
        for event in stub.WatchCompetition(request, metadata=service.connection.metadata):
            for line in [json.dumps(MessageToDict(event))] if as_json else event_lines(event):
                if not try_to_say(line):
                    return
    except grpc.RpcError as error:
        raise service.explain(error, f"watching {name}") from None


def players(service: Service, as_json: Json = False) -> None:
    """List the players that have dialled in at a service."""
    from arena.cli.service_text import players_text
    from arena.v1 import competitions_pb2

    answer = service.call("ListPlayers", competitions_pb2.ListPlayersRequest(), "listing players")
    say_listed("players", answer.players, as_json, players_text)


def token(
    service: Service | None,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The holder; a player's name in control files.")
    ],
    role: Annotated[
        Literal["watcher", "operator", "player"],
        typer.Option(help="What its holder may do. Make operators' tokens where the service runs."),
    ] = "player",
    revoke: Annotated[bool, typer.Option("--revoke", help="End the rights of this name's token.")] = False,
    tokens: MadeTokensFile = DEFAULT_TOKENS,
) -> None:
    """Make a token and print it; the file keeps its digest only. A running service knows it at once."""
    from arena.service.tokens import ServiceRole, add_token, remove_token
    from arena.v1 import competitions_pb2

    if service is None:
        if revoke:
            remove_token(tokens, name)
        else:
            say(add_token(tokens, name, ServiceRole(role)))
    elif revoke:
        service.call("RevokeToken", competitions_pb2.RevokeTokenRequest(name=name), f"revoking {name}")
    else:
        number = competitions_pb2.TokenRole.Value(f"TOKEN_ROLE_{role.upper()}")
        request = competitions_pb2.CreateTokenRequest(name=name, role=number)
        say(service.call("CreateToken", request, f"making a token of {name}").token)


def tokens(service: Service | None, tokens_file: TokensFile = DEFAULT_TOKENS, as_json: Json = False) -> None:
    """List who has a token, and each holder's role."""
    from arena.service.tokens import Tokens
    from arena.v1 import competitions_pb2

    if service is None:
        listed = [(caller.name, caller.role.value) for caller in Tokens(tokens_file).callers()]
    else:
        answer = service.call("ListTokens", competitions_pb2.ListTokensRequest(), "listing tokens")
        listed = [
            (entry.name, competitions_pb2.TokenRole.Name(entry.role).removeprefix("TOKEN_ROLE_").lower())
            for entry in answer.tokens
        ]
    if as_json:
        say_json({"tokens": [{"name": name, "role": role} for name, role in listed]})
    else:
        for name, role in listed:
            say(f"{name}: {role}")
