"""What client programs have in common: `--version`, examples below the help, the end without an output."""

import argparse
import errno
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NoReturn

from referees.legible_text import legible

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

# The disk or the user's share of it is full, a file is too large, or the terminal is closed.
_UNWRITABLE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def ending_with_its_output(program: str) -> Iterator[None]:
    """End a program whose output goes nowhere: quietly if its reader left, else by saying why.

    Args:
        program: the program's name.
    """
    failure: BaseException | None = None
    try:
        try:
            yield
        except BaseException as error:
            failure = error if _is_failure(error) else None
            raise
        finally:
            # A program may have been started without an output, and may have closed it.
            if _has_output():
                sys.stdout.flush()
    except OSError as error:
        if not _has_output() or error.errno not in (errno.EPIPE, *_UNWRITABLE):
            raise
        # What is left of the output, Python writes at its end: that has to go somewhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        if failure is not None:
            # The user of a program that fails learns why, also where nobody reads its output.
            raise failure from None
        sys.exit(0 if error.errno == errno.EPIPE else f"{program}: cannot write its output: {error.strerror}")


def _has_output() -> bool:
    return sys.stdout is not None and not sys.stdout.closed


def _is_failure(error: BaseException) -> bool:
    """Whether a program fails with this for another reason than its output: it does not just exit."""
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return not isinstance(error, OSError)


class _PrintVersion(argparse.Action):
    """Prints the version; the package's metadata are read only then, not at each start."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        print(f"{parser.prog} {version('academy-arena')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Fails where its help cannot be written, which argparse passes over where Python does not buffer.

    Errors are often words of a game's package: these command no terminal.
    """

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with 2."""
        super().error(legible(message))

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help. Raises OSError."""
        print(self.format_help(), end="", file=file)


def program_parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """Return a parser of a program's arguments.

    Args:
        name: the program's name.
        description: what the program does, in a sentence.
        examples: what stands below the options in the help, printed as it is.
    """
    parser = _Parser(
        prog=name,
        description=textwrap.fill(description, 79),
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version")
    return parser
