"""Talking to a server: address, token and TLS from options or the environment."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec

import typer

from academy.wire.addresses import DEFAULT_ADDRESS

if TYPE_CHECKING:
    from academy.v1 import contests_pb2_grpc, libraries_pb2_grpc, proposals_pb2_grpc

_P = ParamSpec("_P")


@dataclass(frozen=True)
class Server:
    """The services that commands call."""

    contests: "contests_pb2_grpc.ContestServiceStub"
    libraries: "libraries_pb2_grpc.LibraryServiceStub"
    proposals: "proposals_pb2_grpc.ProposalServiceStub"


def _connection_options(
    address: Annotated[
        str, typer.Option(envvar="ACADEMY_ADDRESS", help="The server: host:port or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    token: Annotated[
        str, typer.Option(envvar="ACADEMY_TOKEN", help="A bearer token, mostly an admin's.")
    ] = "",
    tls_ca: Annotated[
        Path | None,
        typer.Option(envvar="ACADEMY_TLS_CA", help="PEM file of the authority the server is checked by."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(envvar="ACADEMY_TLS_CERT", help="PEM certificate of this client (mutual TLS)."),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar="ACADEMY_TLS_KEY", help="PEM key of this client's certificate.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option(help="Send the token without TLS even to another machine.")
    ] = False,
) -> None:
    """Only its signature is used: the options of every command that talks to a server."""


_OPTIONS: Final = inspect.signature(_connection_options).parameters


def with_server(command: Callable[Concatenate[Server, _P], None]) -> Callable[..., None]:
    """Give a command the connection options, and connect before it runs."""
    signature = inspect.signature(command)
    own = list(signature.parameters.values())[1:]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        from academy.cli.channel import connected

        options = {name: arguments.pop(name) for name in _OPTIONS}
        with connected(**options) as server:
            command(server, **arguments)  # type: ignore[call-arg]

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in _OPTIONS.values()),
        ]
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *_OPTIONS.values())}
    del run.__wrapped__
    return run
