"""The command `academy` put together."""

import logging
import signal
import sys
from io import TextIOWrapper
from typing import Annotated

import typer.main

from academy.cli import (
    contests,
    data_folder,
    games,
    history,
    libraries,
    players,
    serving,
    tokens,
    transfer,
    web_pages,
)
from academy.cli.commands import Commands
from academy.wire import interrupts
from academy.wire.command_line import Program

application = Program(
    "academy",
    "ACADEMY keeps what competing players learn of their games. "
    "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 no server answers, or it "
    "cannot do it now, 4 the data are damaged.",
    Commands,
    pretty_exceptions_enable=False,
    epilog="First steps: academy tokens create me --role admin --data library; academy serve --data library",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"academy {metadata.version('academy-arena')}")
        raise typer.Exit


@application.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


# A command says itself what it is refused; a server has these lines in its log.
logging.getLogger("academy.store.shared_log.shared_writer").addHandler(logging.NullHandler())

for room in (serving, libraries, history, contests, transfer, games, tokens, players, data_folder, web_pages):
    room.add_to(application)


def main() -> None:
    """The console entry point."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal may not have all letters of names.
        sys.stdout.reconfigure(errors="backslashreplace")
    with interrupts.ending_the_process():
        command = typer.main.get_command(application)
    try:
        command()
    finally:
        # A server's very end takes a moment. Another signal must not interrupt it.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
