"""Talking to a server: address, token and TLS from options or the environment."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import grpc
import typer

from academy.cli.failures import CommandError, ExitCode
from academy.service.addresses import DEFAULT_ADDRESS, Address, Certificates, InvalidAddress
from academy.v1 import contests_pb2_grpc, libraries_pb2_grpc

_CALL_SECONDS: Final = 60.0
_TRANSFER_SECONDS: Final = 3_600.0
_P = ParamSpec("_P")


@dataclass(frozen=True)
class Server:
    """The services that commands call."""

    contests: contests_pb2_grpc.ContestServiceStub
    libraries: libraries_pb2_grpc.LibraryServiceStub


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
        options = {name: arguments.pop(name) for name in _OPTIONS}
        with _connected(**options) as server:
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


@contextmanager
def _connected(
    address: str, token: str, tls_ca: Path | None, tls_cert: Path | None, tls_key: Path | None, insecure: bool
) -> Iterator[Server]:
    try:
        place = Address.parse(address)
        certificates = Certificates(tls_cert, tls_key, tls_ca)
        secure = tls_ca is not None or tls_cert is not None
        if not secure and not place.is_local and not insecure:
            raise CommandError(
                f"{address} is another machine: give --tls-ca, or --insecure to send the token in clear",
                ExitCode.USAGE,
            )
        channel = (
            grpc.secure_channel(str(place), certificates.channel_credentials())
            if secure
            else grpc.insecure_channel(str(place))
        )
    except InvalidAddress as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    with channel:
        introduced = grpc.intercept_channel(channel, _Introduction(token))
        yield Server(
            contests_pb2_grpc.ContestServiceStub(introduced),
            libraries_pb2_grpc.LibraryServiceStub(introduced),
        )


class _Introduction(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
):
    """Adds the token and a deadline to every call."""

    def __init__(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._introduced(client_call_details, _CALL_SECONDS), request)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(self._introduced(client_call_details, _TRANSFER_SECONDS), request)

    def intercept_stream_unary(
        self, continuation: Any, client_call_details: Any, request_iterator: Any
    ) -> Any:
        return continuation(self._introduced(client_call_details, _TRANSFER_SECONDS), request_iterator)

    def _introduced(self, details: Any, seconds: float) -> Any:
        return details._replace(metadata=self._metadata, timeout=details.timeout or seconds)
