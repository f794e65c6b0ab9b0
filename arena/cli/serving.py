"""Actions of the gRPC service: serve, token, watch."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.lobby.addresses import DEFAULT_ADDRESS, Endpoint
from arena.output import say

TokensFile = Annotated[
    Path, typer.Option("--tokens", envvar="ARENA_TOKENS", help="The file of tokens; see `arena token`.")
]


def add_to(application: typer.Typer) -> None:
    """Add the actions."""
    for action in (serve, token, watch):
        application.command()(action)


def serve(
    folder: Annotated[Path, typer.Argument(help="The folder of control files.")] = Path(),
    tokens: TokensFile = Path("arena.tokens"),
    address: Annotated[
        str, typer.Option(help="Where to listen: host:port (port 0: any free one) or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM certificate of the server.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM key of the certificate.")] = None,
    insecure: Annotated[bool, typer.Option(help="Let other machines connect without TLS.")] = False,
    allow_uploads: Annotated[
        bool, typer.Option(help="Let operators send control files: they then run any program as you.")
    ] = False,
    metrics_address: Annotated[
        str, typer.Option(help="Serve Prometheus metrics at this host:port.", show_default=False)
    ] = "",
) -> None:
    """Serve competitions of a folder, and players that dial in, until SIGTERM or Ctrl-C."""
    import asyncio

    import structlog

    from arena.service.serving import ServiceSettings
    from arena.service.serving import serve as serve_competitions

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(typer.get_text_stream("stderr")))
    endpoint = Endpoint(address, tls_cert, tls_key, insecure)
    settings = ServiceSettings(folder, tokens, endpoint, allow_uploads, metrics_address)
    asyncio.run(serve_competitions(settings, lambda where: say(f"arena: serving {folder} at {where}")))


def token(
    name: Annotated[str, typer.Argument(help="Whose token; a player's is its name in control files.")],
    role: Annotated[
        Literal["watcher", "operator", "player"], typer.Option(help="What it is good for.")
    ] = "player",
    tokens: TokensFile = Path("arena.tokens"),
) -> None:
    """Make a token and print it; the file keeps its digest only. A running service knows it at once."""
    from arena.service.tokens import Role, add_token

    say(add_token(tokens, name, Role(role)))


def watch(
    name: Annotated[str, typer.Argument(help="The competition's name at the service.")],
    address: Annotated[str, typer.Option(envvar="ARENA_ADDRESS", help="The service.")] = DEFAULT_ADDRESS,
    token: Annotated[
        str, typer.Option(envvar="ARENA_TOKEN", help="A watcher's or operator's token.", show_default=False)
    ] = "",
    tls_ca: Annotated[
        Path | None, typer.Option(help="PEM file to check the service's certificate by.")
    ] = None,
    from_start: Annotated[bool, typer.Option(help="Tell the games played before, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write a line of JSON for each event.")] = False,
) -> None:
    """Follow a competition that a service runs, until it stands still."""
    import json

    import grpc
    from google.protobuf.json_format import MessageToDict

    from arena.cli.event_line import event_line
    from arena.v1 import competitions_pb2, competitions_pb2_grpc
    from clients.connection import Connection, explained

    connection = Connection(address, token=token, ca=tls_ca)
    request = competitions_pb2.WatchCompetitionRequest(name=name, after=0 if from_start else None)
    with connection.channel() as channel:
        stub = competitions_pb2_grpc.CompetitionServiceStub(channel)
        try:
            for event in stub.WatchCompetition(request, metadata=connection.metadata):
                say(json.dumps(MessageToDict(event)) if as_json else event_line(event))
        except grpc.RpcError as error:
            raise explained(error, f"watching {name}") from None
