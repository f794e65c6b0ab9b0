"""The command `arena`: in the tests' own process, where starting another takes too long, and as another."""

import contextlib
import functools
import io
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from arena.cli import app, main
from tests.waiting import until

ARENA = (sys.executable, "-m", "arena.cli")

# To put the whole command together takes longer than most actions do; a process does it once.
_make_application = functools.cache(app.make_application)
_get_command = functools.cache(typer.main.get_command)


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def arena(*arguments: str | Path) -> Done:
    """Run the command in this process, as its console entry point would be."""
    stdout, stderr, status = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        patch.setattr(sys, "excepthook", sys.excepthook)
        patch.setattr(sys, "argv", ["arena", *map(str, arguments)])
        # Players of Python that are checked add the folders where their modules may be.
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(app, "make_application", _make_application)
        patch.setattr(typer.main, "get_command", _get_command)
        try:
            main()
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    return Done(status, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def running_arena(control: Path) -> Iterator[tuple[str, Path, "subprocess.Popen[bytes]"]]:
    """A run that waits for players: the address where they dial in, its output, the process."""
    output = control.with_name("output")
    with output.open("w") as log:
        run = subprocess.Popen([*ARENA, "run", str(control)], stdout=log, stderr=subprocess.STDOUT)
    try:
        until(lambda: re.search(r"dial in at .*\n", output.read_text()), run)
        address = re.search(r"dial in at ([\w.:]+)", output.read_text())
        assert address is not None
        yield address[1], output, run
    except AssertionError as error:
        error.add_note(output.read_text())
        raise
    finally:
        run.send_signal(signal.SIGINT)
        try:
            run.wait(60)
        finally:
            run.kill()
            run.wait()
