"""Talking to an arena's service: address, token and TLS from options or the environment."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tokens import read_token_file
from arena.lobby import DEFAULT_ADDRESS
from arena.output import say, say_json

if TYPE_CHECKING:
    import grpc
    from google.protobuf.message import Message

    from clients.connection import Connection

# Whose tokens actions need.
OPERATORS: Final = "an operator's"
WATCHERS: Final = "a watcher's or operator's"
MEMBERS: Final = "the member's own, or an operator's,"
ANY: Final = "any"
NOT_NEEDED: Final = ""
_CALL_SECONDS: Final = 60.0
_REMEDIES: Final = {
    "UNAVAILABLE": "start it with `arena serve`, or give its --address (and the TLS options it needs)",
    "DEADLINE_EXCEEDED": "it is there, but too busy to answer; try again later",
    "UNIMPLEMENTED": "it has no members and pools: start it with `arena serve --league`",
    "UNAUTHENTICATED": "give a token with --token-file, --token or ARENA_TOKEN; `arena token` makes one, "
    "`arena member rotate` a member's",
}


def _options(  # noqa: PLR0913 - the options of a command
    address: Annotated[
        str, typer.Option(envvar="ARENA_ADDRESS", help="The service: host:port or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    token: Annotated[str, typer.Option(envvar="ARENA_TOKEN")] = "",
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file that holds the token, instead.", show_default=False),
    ] = None,
    tls_ca: Annotated[
        Path | None,
        typer.Option(envvar="ARENA_TLS_CA", help="PEM file of the authority that the service is checked by."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(envvar="ARENA_TLS_CERT", help="PEM certificate of this client (mutual TLS)."),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar="ARENA_TLS_KEY", help="PEM key of this client's certificate.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option(help="Send the token without TLS even to another machine.")
    ] = False,
) -> None:
    """Only its signature is used: the options of actions of a service."""


_OPTIONS: Final = inspect.signature(_options).parameters
_OPTIONAL_ADDRESS: Final = _OPTIONS["address"].replace(
    default=None,
    annotation=Annotated[
        str | None,
        typer.Option(
            help="Do it at the service of this address (host:port or unix:PATH).", show_default=False
        ),
    ],
)


@dataclass(frozen=True)
class Service:
    """A service that can be called."""

    channel: "grpc.Channel"
    connection: "Connection"

    def call(self, method: str, request: Any, doing: str) -> Any:
        """The answer to a call about competitions.

        Raises AcademyUnavailableError and AcademyRefusedError, which begin with `doing`.
        """
        from arena.v1 import competitions_pb2_grpc

        return self.call_at(competitions_pb2_grpc.CompetitionServiceStub, method, request, doing)

    def call_at(self, stub: Callable[["grpc.Channel"], Any], method: str, request: Any, doing: str) -> Any:
        """The answer to a call to another of its services, with that one's stub. Raises as `call` does."""
        import grpc

        try:
            return getattr(stub(self.channel), method)(
                request, metadata=self.connection.metadata, timeout=_CALL_SECONDS
            )
        except grpc.RpcError as error:
            raise self.explain(error, doing) from None

    def pages(
        self, stub: Callable[["grpc.Channel"], Any], method: str, request: Any, field: str
    ) -> list[Any]:
        """All entries of a list. Raises as `call` does."""
        listed: list[Any] = []
        while True:
            answer = self.call_at(stub, method, request, f"listing {field}")
            listed += getattr(answer, field)
            if not answer.next_page_token:
                return listed
            request.page_token = answer.next_page_token

    def explain(self, error: "grpc.RpcError", doing: str) -> Exception:
        """A failed call as one of the command's errors, with what helps."""
        from clients.connection import to_client_error

        explanation = to_client_error(error, f"{self.connection.address}: {doing}")
        # Who gives a reason for being unavailable is there.
        is_there = explanation.code == "UNAVAILABLE" and explanation.reason
        if not is_there and (remedy := _REMEDIES.get(explanation.code)):
            explanation.add_note(f"({remedy})")
        return explanation


def say_message(message: "Message", as_json: bool, text: Callable[[Any], str]) -> None:
    """Print a message: as a text, or as JSON."""
    from google.protobuf.json_format import MessageToDict

    if as_json:
        say_json(MessageToDict(message))
    else:
        say(text(message))


def say_listed(name: str, listed: Sequence[Any], as_json: bool, text: Callable[[Any], str]) -> None:
    """Print messages: as a text, or as JSON under a name."""
    from google.protobuf.json_format import MessageToDict

    if as_json:
        say_json({name: [MessageToDict(message) for message in listed]})
    else:
        say(text(listed), end="")


def with_service(action: Callable[..., None], whose: str = WATCHERS) -> Callable[..., None]:
    """Give an action the options of a service, and the service as its first argument.

    `whose` says in the help whose token the service takes.
    """
    return _with_options(action, {**_OPTIONS, "token": _token_option(whose)})


def with_service_where_asked(action: Callable[..., None], whose: str = WATCHERS) -> Callable[..., None]:
    """As `with_service`; without --address the first argument is None: the action is to be done here."""

    @functools.wraps(action)
    def carry_out(service: Service | None, **arguments: Any) -> None:
        try:
            action(service, **arguments)
        except Exception as error:
            file, meant = arguments.get("file"), os.environ.get("ARENA_ADDRESS")
            if service is None and file is not None and not file.exists() and (meant or not file.suffix):
                meant = meant or DEFAULT_ADDRESS
                error.add_note(f"(a competition of a service needs --address, such as {meant})")
            raise

    options = {**_OPTIONS, "address": _OPTIONAL_ADDRESS, "token": _token_option(f"with --address, {whose}")}
    return _with_options(carry_out, options)


def _token_option(whose: str) -> inspect.Parameter:
    text = f"{whose[0].upper()}{whose[1:]} token." if whose else "Not needed."
    option = typer.Option(envvar="ARENA_TOKEN", help=text, show_default=False)
    return _OPTIONS["token"].replace(annotation=Annotated[str, option])


def _with_options(
    action: Callable[..., None], options: Mapping[str, inspect.Parameter]
) -> Callable[..., None]:
    signature = inspect.signature(action)
    own = list(signature.parameters.values())[1:]

    @functools.wraps(action)
    def carry_out(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in options}
        file, token = given.pop("token_file"), given["token"]
        if given["address"] is None:
            if file is not None:
                raise typer.BadParameter("is for a service: give --address too", param_hint="--token-file")
            action(None, **arguments)
            return
        if file is not None:
            if token and token != os.environ.get("ARENA_TOKEN"):
                raise typer.BadParameter("give --token or --token-file, not both")
            given["token"] = _token_of(file)
        with _reach_service(**given) as service:
            action(service, **arguments)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *options.values())
    ]
    carry_out.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    carry_out.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del carry_out.__wrapped__
    return carry_out


def _token_of(file: Path) -> str:
    try:
        return read_token_file(file)
    except OSError as error:
        raise typer.BadParameter(
            f"{file}: cannot be read ({error.strerror})", param_hint="--token-file"
        ) from None
    except ValueError as error:
        raise typer.BadParameter(f"{error}; `arena token` makes one", param_hint="--token-file") from None


@contextmanager
def _reach_service(
    address: str, token: str, tls_ca: Path | None, tls_cert: Path | None, tls_key: Path | None, insecure: bool
) -> Iterator[Service]:
    from clients.connection import Connection

    try:
        local = ServerAddress.parse(address).is_local
        connection = Connection(address, token=token, ca=tls_ca, certificate=tls_cert, key=tls_key)
    except (InvalidAddressError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
    if tls_ca is None and tls_cert is None and not local and not insecure:
        raise typer.BadParameter(
            f"{address} is another machine: give --tls-ca, or --insecure to send the token in clear"
        )
    with connection.channel() as channel:
        yield Service(channel, connection)
