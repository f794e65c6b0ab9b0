"""The command `arena` put together."""

from importlib.metadata import version
from typing import Annotated

import typer

from arena.cli import beginning, exchanging, looking, running, serving
from arena.cli.actions import Actions

application = typer.Typer(
    name="arena",
    cls=Actions,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Run competitions of game-playing programs, look at them, stop them. Options and the action may "
    "stand anywhere; without an action the competition is run. Exit status: 0 done, 1 an error, "
    "2 wrong usage, 3 interrupted, 4 halted by void games, 5 reports to ACADEMY still wait, "
    "6 completed but for who is left out.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"arena {version('academy-arena')}")
        raise typer.Exit


@application.callback()
def arena(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


for room in (beginning, running, looking, exchanging, serving):
    room.add_to(application)


def main() -> None:
    """Run the command; the console's entry point."""
    application()
