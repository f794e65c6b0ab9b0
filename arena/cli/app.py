"""The command `arena` put together: its actions, and the order of its words.

As in the ringmaster, options and action may stand anywhere:
`arena run -j 2 cup.toml`, `arena cup.toml run -j 2`, `arena -j 2 cup.toml run` and, since running is
what is usually meant, `arena cup.toml -j 2` all say the same.
"""

import sys
import traceback
from collections.abc import Collection, Sequence
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Final

import typer.main
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException

from academy.wire import interrupts
from academy.wire.command_line import CommandGroup, Program
from arena.cli import running
from arena.output import complain
from arena.runner.exit_status import INTERRUPTION, ExitStatus

DEFAULT_ACTION: Final = "run"


class Actions(CommandGroup):
    """The actions of the command, which may stand behind their arguments; failures take one line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments in any order."""
        return super().parse_args(ctx, action_first(args, self.commands, _valued_options(self)))

    def invoke(self, ctx: Any) -> Any:
        """Carry out the action."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, TyperException):
            raise
        except KeyboardInterrupt:
            # What was just being loaded cannot be loaded again, so nothing more is.
            complain(f"arena: {INTERRUPTION}")
            raise typer.Exit(ExitStatus.INTERRUPTED) from None
        except Exception as error:
            from arena.cli.failures import EXPECTED, describe_failure

            if not isinstance(error, EXPECTED):
                raise
            message, status = describe_failure(error)
            complain(f"arena: {message}")
            raise typer.Exit(status) from None


def action_first(arguments: Sequence[str], actions: Collection[str], valued: Collection[str]) -> list[str]:
    """The arguments with the action in front, where a control file stands before it or alone.

    `valued` are the options that take a value as an argument of its own.
    """
    words = _words(arguments, valued)
    if not words:
        return list(arguments)
    first = arguments[words[0]]
    if first in actions:
        return _with_first(arguments, words[0])
    if len(words) > 1 and arguments[words[1]] in actions:
        return _with_first(arguments, words[1])
    if len(words) == 1 and _is_control_file(first):
        return [DEFAULT_ACTION, *arguments]
    return list(arguments)


def _is_control_file(word: str) -> bool:
    try:
        return bool(Path(word).suffix) or Path(word).exists()
    except OSError:  # The word is longer than a file's name may be.
        return False


def _with_first(arguments: Sequence[str], place: int) -> list[str]:
    return [arguments[place], *arguments[:place], *arguments[place + 1 :]]


def _words(arguments: Sequence[str], valued: Collection[str]) -> list[int]:
    """The places of the arguments that are neither options nor options' values."""
    words: list[int] = []
    place = 0
    while place < len(arguments):
        argument = arguments[place]
        if argument == "--":
            return [*words, *range(place + 1, len(arguments))]
        if not argument.startswith("-") or argument == "-":
            words.append(place)
        elif argument in valued or (not argument.startswith("--") and f"-{argument[-1]}" in valued):
            place += 1
        place += 1
    return words


def _valued_options(group: TyperGroup) -> frozenset[str]:
    return frozenset(
        name
        for command in group.commands.values()
        for option in command.params
        if isinstance(option, TyperOption) and not option.is_flag and not option.count
        for name in option.opts
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arena {version('academy-arena')}")
        raise typer.Exit


def _arena(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""
    # Before all that loads gRPC, which few runs need.
    if context.invoked_subcommand != DEFAULT_ACTION:
        import academy.wire.silent_grpc  # noqa: F401


def make_application(*, to_run: bool = False) -> typer.Typer:
    """Make the command; where it is `to_run` a competition, without most of the other actions."""
    application = Program(
        "arena",
        "Run competitions of game-playing programs, look at them, stop them. Options and the action may "
        "stand anywhere; without an action the competition is run. Exit status: 0 done, 1 an error, "
        "2 wrong usage, 3 interrupted, 4 halted by void games, or because no missing game can be played, "
        "5 reports to ACADEMY, or games to the league, still wait, 6 completed, except for "
        "games of players or matchups that are left out.",
        Actions,
        pretty_exceptions_enable=False,
        epilog="First steps: arena init all-play-all cup.toml; arena check cup.toml; arena run cup.toml",
    )
    application.callback()(_arena)
    if to_run:
        running.add_to(application)
        return application
    from arena.cli import control_files, league, members, pools, ratings, results, serving, teaching

    for actions in (control_files, running, results, teaching, league, members, pools, ratings, serving):
        actions.add_to(application)
    return application


def _show_traceback(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
    """Show what nobody expected as Python does, but so that its words command no terminal."""
    complain("".join(traceback.format_exception(kind, error, frames)).rstrip())


def main() -> None:
    """Run the command; the console's entry point."""
    sys.excepthook = _show_traceback
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal may not have all letters of names.
        sys.stdout.reconfigure(errors="backslashreplace")
    with interrupts.ending_the_process():
        # To load all actions takes longer than a short game.
        command = typer.main.get_command(make_application(to_run=sys.argv[1:2] == [DEFAULT_ACTION]))
    command()
