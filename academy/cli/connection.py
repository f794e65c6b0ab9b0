"""A command's connection to a server, by options or the environment."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec

import typer

from academy.cli.commands import CommandError, ExitCode, NoDataError, reason_of
from academy.cli.options import LibraryName, number_of
from academy.cli.services import Server
from academy.wire.addresses import DEFAULT_ADDRESS

_P = ParamSpec("_P")
# Refusals of calls about a pattern that the library does not have, or that was not deleted from it.
_NOT_IN_LIBRARY: Final = ("UNKNOWN_PATTERN", "PATTERN_NOT_DELETED")


def _connection_options(  # noqa: PLR0913 - the options of a command
    address: Annotated[
        str, typer.Option(envvar="ACADEMY_ADDRESS", help="The server: host:port or unix:PATH.")
    ] = DEFAULT_ADDRESS,
    token: Annotated[
        str, typer.Option(envvar="ACADEMY_TOKEN", help="A bearer token, mostly an admin's.")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file that holds the token, instead.")
    ] = None,
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
_CONTEXT: Final = inspect.Parameter(
    "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
)
_AGAINST: Final = _OPTIONS["address"].replace(
    default=None,
    annotation=Annotated[
        str | None,
        typer.Option(
            "--against",
            help="Compare with the server of this address, whose admin's token is needed.",
            show_default=False,
        ),
    ],
)
_OPTIONAL_ADDRESS: Final = _OPTIONS["address"].replace(
    default=None,
    annotation=Annotated[
        str | None,
        typer.Option(
            help="Do it at the server of this address, instead of in a data folder.", show_default=False
        ),
    ],
)


def with_server(command: Callable[Concatenate[Server, _P], None]) -> Callable[..., None]:
    """Give a command the connection options, and connect before it runs."""
    return _with_options(command, _OPTIONS)


def with_server_where_asked(command: Callable[..., None]) -> Callable[..., None]:
    """As `with_server`; without --address the server is None: the command works on a data folder."""

    @functools.wraps(command)
    def run(server: Server | None, **arguments: Any) -> None:
        try:
            command(server, **arguments)
        except NoDataError as error:
            meant = os.environ.get("ACADEMY_ADDRESS")
            remedy = f"; the command asks a server only with --address, such as {meant}" if meant else ""
            raise NoDataError(error.folder, remedy) from None

    return _with_options(run, {**_OPTIONS, "address": _OPTIONAL_ADDRESS})


def with_server_to_compare(command: Callable[Concatenate[Server | None, _P], None]) -> Callable[..., None]:
    """As `with_server`, but the address is that of --against; without it the server is None."""
    connecting = {**_OPTIONS, "address": _AGAINST}
    return _with_options(command, connecting)


def pages(call: Callable[[Any], Any], request: Any, items: str) -> Iterator[Any]:
    """All items of a listing, page by page."""
    while True:
        response = call(request)
        yield from getattr(response, items)
        if not response.next_page_token:
            return
        request.page_token = response.next_page_token


def ask_about_pattern(call: Callable[[Any], Any], request: Any, library: LibraryName | None) -> Any:
    """The answer of a call about a pattern, whose request then has the library.

    Without a library it is the one that has the pattern: the two number theirs by one count. Raises
    CommandError where neither has it.
    """
    import grpc

    request.library = number_of(library or "middle-game")
    try:
        return call(request)
    except grpc.RpcError as error:
        if library is not None or reason_of(error) not in _NOT_IN_LIBRARY:
            raise
    request.library = number_of("endgame")
    try:
        return call(request)
    except grpc.RpcError as error:
        if reason_of(error) != "UNKNOWN_PATTERN":
            raise
        raise CommandError(
            f"no pattern {request.pattern_id} in the libraries of {request.game_id}; `academy patterns list` "
            "shows those there are"
        ) from None


def _with_options(
    command: Callable[..., None], connecting: Mapping[str, inspect.Parameter]
) -> Callable[..., None]:
    signature = inspect.signature(command)
    own = list(signature.parameters.values())[1:]

    @functools.wraps(command)
    def run(context: typer.Context, **arguments: Any) -> None:
        from academy.cli.channel import connect

        options = {name: arguments.pop(name) for name in connecting}
        _check_used(context, options["address"] is not None, connecting)
        if options["address"] is None:
            command(None, **arguments)
            return
        file = options.pop("token_file")
        if file is not None:
            options["token"] = _token_of(file)
        with connect(**options) as server:
            command(server, **arguments)

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            _CONTEXT,
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in connecting.values()),
        ]
    )
    run.__annotations__ = {
        parameter.name: parameter.annotation for parameter in (_CONTEXT, *own, *connecting.values())
    }
    del run.__wrapped__
    return run


def _token_of(file: Path) -> str:
    from academy.wire.tokens import read_token_file

    try:
        return read_token_file(file)
    except OSError as error:
        raise CommandError(f"{file}: cannot be read ({error.strerror})", ExitCode.USAGE) from None
    except ValueError as error:
        raise CommandError(f"{error}; `academy tokens create` makes one", ExitCode.USAGE) from None


def _check_used(
    context: typer.Context, has_server: bool, connecting: Mapping[str, inspect.Parameter]
) -> None:
    """Refuse options of the command line that would be ignored. Raises CommandError."""

    def is_given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    address = "--against" if connecting["address"] is _AGAINST else "--address"
    for name in connecting:
        if not has_server and is_given(name):
            option = f"--{name.replace('_', '-')}"
            raise CommandError(f"{option} is for {address}: give the server's address too", ExitCode.USAGE)
    if is_given("token") and is_given("token_file"):
        raise CommandError("give --token or --token-file, not both", ExitCode.USAGE)
    if has_server and connecting["address"] is _OPTIONAL_ADDRESS and is_given("data"):
        raise CommandError("give --address or --data, not both", ExitCode.USAGE)
