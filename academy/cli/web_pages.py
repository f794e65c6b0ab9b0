"""The command `academy web`: the same as `academy-web`, whose process takes the place of this one."""

import importlib.util
import os
import sys
from typing import Final

import typer

from academy.cli.commands import CommandError

_NEEDED: Final = ("jinja2", "sse_starlette", "starlette", "uvicorn")


def add_to(application: typer.Typer) -> None:
    """Add the command."""
    # The options are those of the other program, its --help too.
    as_given = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    application.command("web", context_settings=as_given)(web)


def web(context: typer.Context) -> None:
    """Show what ACADEMY knows in a browser; takes the options of `academy-web`."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CommandError(f"web needs {', '.join(missing)}: pip install 'academy-arena[web]'")
    # Nothing of ACADEMY imports the pages, which ask it only over gRPC.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "web.cli", *context.args])
