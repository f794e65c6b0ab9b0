"""A command's connection to a server, by options or the environment, and its failures as one line."""

import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from academy.store.errors import (
    ConflictError,
    GameInUseError,
    InvalidRecordError,
    LogUnavailableError,
    StoreCorruptError,
    StoreError,
    UnknownRecordError,
)

if TYPE_CHECKING:
    import grpc
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Concatenate, ParamSpec

from academy.wire.addresses import DEFAULT_ADDRESS

if TYPE_CHECKING:
    from academy.v1 import (
        consultation_pb2_grpc,
        contests_pb2_grpc,
        history_pb2_grpc,
        libraries_pb2_grpc,
        proposals_pb2_grpc,
        tokens_pb2_grpc,
    )


class ExitCode(IntEnum):
    """The exit codes of the command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    FAULTY = 4


class CommandError(RuntimeError):
    """A command that cannot be done; the message says why and what to do."""

    def __init__(self, what: str, exit_code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(what)
        self.exit_code = exit_code


_EXPECTED: Final = (
    CommandError,
    StoreError,
    UnknownRecordError,
    InvalidRecordError,
    ConflictError,
    GameInUseError,
)
_REMEDIES: Final = {
    "UNAVAILABLE": ("start one with `academy serve`, or give its --address (and the TLS options it needs)"),
    "UNAUTHENTICATED": ("give a token with --token or ACADEMY_TOKEN; `academy tokens create` makes one"),
    "PERMISSION_DENIED": "use an admin's token; `academy tokens create --role admin` makes one",
}


class Commands(TyperGroup):
    """A group of commands that report a failure in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, TyperException):
            raise
        except BrokenPipeError:
            # The reader of the output has seen enough.
            sys.stderr.close()
            raise typer.Exit(ExitCode.DONE) from None
        except Exception as error:
            if not isinstance(error, _EXPECTED) and not _is_rpc_error(error):
                raise
            message, exit_code = describe_error(error)
            sys.stderr.write(f"academy: {message}\n")
            raise typer.Exit(exit_code) from error


class ListingCommands(TyperGroup):
    """A group in which `list` need not be named: what begins with no command of it is for `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command where it was left out."""
        needs_more = self.no_args_is_help and not args
        if not needs_more and (not args or args[0] not in {*self.commands, "--help"}):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def describe_error(error: Exception) -> tuple[str, ExitCode]:
    """Return a failure as one line, and the command's exit code."""
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if not _is_rpc_error(error):
        kinds = ((StoreCorruptError, ExitCode.FAULTY), (LogUnavailableError, ExitCode.UNREACHABLE))
        code_of_kind = (code for kind, code in kinds if isinstance(error, kind))
        return " ".join(str(error).split()), next(code_of_kind, ExitCode.FAILED)
    code = error.code()
    remedy = _REMEDIES.get(code.name)
    if code.name == "UNAVAILABLE":
        return f"no server answers ({error.details()}); {remedy}", ExitCode.UNREACHABLE
    line = f"{error.details()} [{code.name}{_reason(error)}]"
    return (f"{line}; {remedy}" if remedy else line), ExitCode.FAILED


def _is_rpc_error(error: Exception) -> "TypeGuard[grpc.RpcError]":
    import grpc

    return isinstance(error, grpc.RpcError)


def _reason(error: "grpc.RpcError") -> str:
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    status = rpc_status.from_call(cast("grpc.Call", error))
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return f", {info.reason}"
    return ""


_P = ParamSpec("_P")


@dataclass(frozen=True)
class Server:
    """The services that commands call."""

    contests: "contests_pb2_grpc.ContestServiceStub"
    libraries: "libraries_pb2_grpc.LibraryServiceStub"
    proposals: "proposals_pb2_grpc.ProposalServiceStub"
    consultation: "consultation_pb2_grpc.ConsultationServiceStub"
    tokens: "tokens_pb2_grpc.TokenServiceStub"
    history: "history_pb2_grpc.HistoryServiceStub"


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


def with_server_where_asked(command: Callable[Concatenate[Server | None, _P], None]) -> Callable[..., None]:
    """As `with_server`; without --address the server is None: the command works on a data folder."""
    return _with_options(command, {**_OPTIONS, "address": _OPTIONAL_ADDRESS})


def with_server_to_compare(command: Callable[Concatenate[Server | None, _P], None]) -> Callable[..., None]:
    """As `with_server`, but the address is that of --against; without it the server is None."""
    connecting = {**_OPTIONS, "address": _AGAINST}
    return _with_options(command, connecting)


def _with_options(
    command: Callable[..., None], connecting: Mapping[str, inspect.Parameter]
) -> Callable[..., None]:
    signature = inspect.signature(command)
    own = list(signature.parameters.values())[1:]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        from academy.cli.channel import connect

        options = {name: arguments.pop(name) for name in connecting}
        if options["address"] is None:
            command(None, **arguments)
            return
        with connect(**options) as server:
            command(server, **arguments)

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in connecting.values()),
        ]
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *connecting.values())}
    del run.__wrapped__
    return run
