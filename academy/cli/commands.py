"""Groups of commands: a failure is one line and an exit code, and `list` may be left out."""

import sys
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import typer
from typer.exceptions import TyperException

from academy.store.errors import (
    ConflictError,
    GameInUseError,
    InvalidRecordError,
    LogUnavailableError,
    LogUpgradingError,
    StoreCorruptError,
    StoreError,
    UnknownRecordError,
)
from academy.wire.command_line import CommandGroup, forget_output

if TYPE_CHECKING:
    import grpc


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


class NoDataError(CommandError):
    """A folder without data of ACADEMY."""

    def __init__(self, folder: Path, what_else: str = "; this command works on a data folder only") -> None:
        super().__init__(
            f"{folder}: holds no data of ACADEMY; give the folder with --data{what_else}", ExitCode.USAGE
        )
        self.folder = folder


_EXPECTED: Final = (
    CommandError,
    StoreError,
    UnknownRecordError,
    InvalidRecordError,
    ConflictError,
    GameInUseError,
    OSError,
    UnicodeEncodeError,
)
_NO_SERVER: Final = "start one with `academy serve`, or give its --address (and the TLS options it needs)"
_REMEDIES: Final = {
    "UNAUTHENTICATED": (
        "give a token with --token-file, --token or ACADEMY_TOKEN; `academy tokens create` makes one"
    ),
    "PERMISSION_DENIED": "use an admin's token; `academy tokens create --role admin` makes one",
}
# What the server's words are called here.
_REMEDIES_OF_REASONS: Final = {
    "IMPORTED_BEFORE": "`--replace` empties the libraries first; `--again` counts them twice",
}


class Commands(CommandGroup):
    """A group of commands that report a failure in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            result = super().invoke(ctx)
            # What cannot be written fails here, not in Python's own end.
            sys.stdout.flush()
            return result
        except (typer.Exit, TyperException):
            raise
        except BrokenPipeError:
            # The reader of the output has seen enough.
            forget_output()
            raise typer.Exit(ExitCode.DONE) from None
        except Exception as error:
            if not (isinstance(error, _EXPECTED) or _is_rpc_error(error) or _misses_nats(error)):
                raise
            message, exit_code = describe_error(error)
            _finish_output()
            sys.stderr.write(f"academy: {message}\n")
            raise typer.Exit(exit_code) from error


def _finish_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        forget_output()


class ListingCommands(CommandGroup):
    """A group in which `list` need not be named: what begins with no command of it is for `list`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the command where it was left out."""
        needs_more = self.no_args_is_help and not args
        # A shell that completes what is typed asks for all commands.
        if (
            not ctx.resilient_parsing
            and not needs_more
            and (not args or args[0] not in {*self.commands, "--help"})
        ):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def describe_error(error: Exception) -> tuple[str, ExitCode]:
    """Return a failure as one line, and the command's exit code."""
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if isinstance(error, ModuleNotFoundError):
        return "a shared log needs the client of NATS: pip install 'academy-arena[nats]'", ExitCode.FAILED
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[:80]!r} is not text: give what is not a path in UTF-8", ExitCode.USAGE
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'cannot go on'}: {error.strerror}", ExitCode.FAILED
    if not _is_rpc_error(error):
        kinds = (
            (StoreCorruptError, ExitCode.FAULTY),
            (LogUnavailableError, ExitCode.UNREACHABLE),
            (LogUpgradingError, ExitCode.UNREACHABLE),
        )
        code_of_kind = (code for kind, code in kinds if isinstance(error, kind))
        return " ".join(str(error).split()), next(code_of_kind, ExitCode.FAILED)
    code, reason = error.code(), reason_of(error)
    is_unavailable = code.name == "UNAVAILABLE"
    exit_code = ExitCode.UNREACHABLE if is_unavailable else ExitCode.FAILED
    # A server that answers gives a reason.
    if is_unavailable and not reason:
        return f"no server answers ({error.details()}); {_NO_SERVER}", exit_code
    line = f"{error.details()} [{', '.join(filter(None, (code.name, reason)))}]"
    remedy = _REMEDIES.get(code.name) or _REMEDIES_OF_REASONS.get(reason)
    return (f"{line}; {remedy}" if remedy else line), exit_code


def _misses_nats(error: Exception) -> bool:
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "nats"


def _is_rpc_error(error: Exception) -> "TypeGuard[grpc.RpcError]":
    import grpc

    return isinstance(error, grpc.RpcError)


def reason_of(error: "grpc.RpcError") -> str:
    """Why a server refused a call, as its error says in one word; "" where it does not."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    status = rpc_status.from_call(cast("grpc.Call", error))
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return str(info.reason)
    return ""
