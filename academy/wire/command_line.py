"""What the command lines of ACADEMY and of the arena have in common."""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

_LONGEST_SENTENCE: Final = 1_000
_Number = TypeVar("_Number", float, float | None)


def forget_output() -> None:
    """Let what still waits to be written go nowhere, where Python would fail to write it at its end."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


@contextmanager
def _failing_in_one_line(program: str | None, parent: Any) -> Iterator[None]:
    """Say in one line that a program's own help or version cannot be written, and end it."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the output has seen enough.
        forget_output()
        raise typer.Exit(0) from None
    except OSError as error:
        # What else fails in a command within is for the outermost group's `invoke` to say.
        if parent is not None:
            raise
        forget_output()
        sys.stderr.write(f"{program}: cannot go on: {error.strerror}\n")
        raise typer.Exit(1) from error


class Command(TyperCommand):
    """A command, or a program that is one: who has seen enough of its help may leave."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Read the arguments, which prints the help or the version where they ask for it."""
        with _failing_in_one_line(self.name, parent):
            return super().make_context(info_name, args, parent, **extra)


class CommandGroup(TyperGroup):
    """A group of commands whose help cuts no sentence."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Read the arguments, which prints the help or the program's version where they ask for it."""
        with _failing_in_one_line(self.name, parent):
            return super().make_context(info_name, args, parent, **extra)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with whole sentences, in as many lines as they take."""
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (command.name, command.get_short_help_str(limit=_LONGEST_SENTENCE))
                    for command in commands
                    if not command.hidden
                ]
            )


class Program(typer.Typer):
    """A program, or a group within it, of commands of the class Command; alone it prints its help."""

    def __init__(
        self, name: str, purpose: str, cls: type[CommandGroup] = CommandGroup, **settings: Any
    ) -> None:
        # Rich cuts the names of options in a narrow terminal.
        settings = {"no_args_is_help": True, "rich_markup_mode": None} | settings
        super().__init__(name=name, help=purpose, cls=cls, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """Add a command."""
        return super().command(name, cls=Command, **settings)


def not_nan(value: _Number) -> _Number:
    """Check an option. Raises typer.BadParameter for what is not a number: comparisons let it through."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value
