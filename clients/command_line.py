"""What the command lines of all client programs have in common: `--version`, and examples below the help."""

import argparse
import textwrap
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any


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


def program_parser(name: str, description: str, examples: str) -> argparse.ArgumentParser:
    """Return a parser of a program's arguments.

    Args:
        name: the program's name.
        description: what the program does, in a sentence.
        examples: what stands below the options in the help, printed as it is.
    """
    parser = argparse.ArgumentParser(
        prog=name,
        description=textwrap.fill(description, 79),
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version")
    return parser
