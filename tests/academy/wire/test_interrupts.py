"""Ctrl-C while a command loads ends it without a traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Ctrl-C comes at the moment at which the command begins to load a module.
INTERRUPTED = """
import os, signal, sys
from importlib.abc import MetaPathFinder
# These tests may run in the background, where it is ignored.
signal.signal(signal.SIGINT, {handler})
class Interruption(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interruption())
{before}
sys.argv = [{package!r}, *{words!r}]
from {package}.cli import main
main()
"""


# It comes when all is loaded, as Typer makes options of the functions' parameters.
AS_OPTIONS_ARE_MADE = """
import typer.main
make_options = typer.main.get_params_from_function
def interrupt_and_make_options(function):
    os.kill(os.getpid(), signal.SIGINT)
    return make_options(function)
typer.main.get_params_from_function = interrupt_and_make_options
"""


def interrupted(
    package: str, module: str, *words: str, handler: str = "signal.default_int_handler", before: str = ""
) -> tuple[int, str]:
    """The exit status and standard error of a command that is interrupted as it loads a module."""
    program = INTERRUPTED.format(package=package, module=module, words=words, handler=handler, before=before)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("academy", "academy.cli.app"),
        ("arena", "arena.cli.app"),
        ("arena", "arena.cli.serving"),
        ("web", "web.cli.app"),
    ],
)
def test_a_command_that_has_not_begun_ends_by_the_signal(package: str, module: str) -> None:
    assert interrupted(package, module, "--help") == (-signal.SIGINT, "")


@pytest.mark.parametrize("package", ["academy", "arena", "web"])
def test_a_command_whose_options_are_being_made_ends_by_the_signal(package: str) -> None:
    assert interrupted(package, "", "--help", before=AS_OPTIONS_ARE_MADE) == (-signal.SIGINT, "")


def test_a_command_that_was_started_to_ignore_ctrl_c_goes_on_loading() -> None:
    assert interrupted("arena", "arena.cli.app", "--help", handler="signal.SIG_IGN") == (0, "")


def test_a_run_that_still_loads_says_that_it_was_interrupted(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.touch()
    assert interrupted("arena", "arena.results.migrations", "run", str(control)) == (
        3,
        "arena: interrupted; games in progress will be played again\n",
    )
