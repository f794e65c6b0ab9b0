"""What the command lines of ACADEMY and of the arena have in common."""

import math
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperGroup

_LONGEST_SENTENCE: Final = 1_000
_Number = TypeVar("_Number", float, float | None)


class CommandGroup(TyperGroup):
    """A group of commands whose help cuts no sentence."""

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


def not_nan(value: _Number) -> _Number:
    """Check an option. Raises typer.BadParameter for what is not a number: comparisons let it through."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value
