"""The action that begins a competition: init."""

from pathlib import Path
from typing import Annotated

import typer

from arena.control.sample import KINDS, sample
from arena.output import say


def add_to(application: typer.Typer) -> None:
    """Add the action."""
    application.command()(init)


def init(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"One of {', '.join(KINDS)}.", show_default=False)
    ],
    control: Annotated[
        Path | None,
        typer.Argument(metavar="[CONTROL]", help="The file to write; it must not exist.", show_default=False),
    ] = None,
) -> None:
    """Write a commented control file of a kind to begin with, or print it."""
    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="KIND")
    if control is None:
        say(sample(kind), end="")
        return
    try:
        with control.open("x", encoding="utf-8") as file:
            file.write(sample(kind))
    except OSError as error:
        raise typer.BadParameter(f"can't write {control}: {error.strerror}", param_hint="CONTROL") from None
    say(str(control))
