"""The command `arena`: in the tests' own process, where starting another takes too long, and as another."""

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.cli import main

ARENA = (sys.executable, "-m", "arena.cli")


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
        patch.setattr(sys, "argv", ["arena", *map(str, arguments)])
        try:
            main()
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    return Done(status, stdout.getvalue(), stderr.getvalue())
