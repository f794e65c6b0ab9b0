"""Until the command says how it is used, it loads nothing that it does not need for that."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer
from typer.main import get_command

from academy.cli import app, data_folder, tokens
from academy.store.maintenance import compaction
from academy.store.tokens import Role
from arena.cli.app import make_application
from tests.academy.cli.conftest import run

HEAVY = ("academy.store.library_store", "asyncio", "lmdb", "llvmlite", "numba", "numpy", "structlog")


COMMANDS = ("", "serve", "patterns list", "tokens create", "compact", "import")
ALL_HELP = f"""
import sys
from contextlib import suppress
from academy.cli import main
for words in {COMMANDS!r}:
    sys.argv = ["academy", *words.split(), "--help"]
    with suppress(SystemExit):
        main()
print(*sorted({{"grpc", *{HEAVY!r}}} & set(sys.modules)), file=sys.stderr)
"""


def test_help_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", ALL_HELP], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "\n")
    assert done.stdout.count("Usage:") == len(COMMANDS)


def test_what_options_say_without_loading_the_store_is_what_the_store_says() -> None:
    parameters = inspect.signature(tokens.create_token).parameters
    assert get_args(get_args(parameters["role"].annotation)[0]) == tuple(Role)
    assert inspect.signature(data_folder.compact).parameters["keep"].default == compaction.EVENTS_KEPT


def test_help_in_a_narrow_terminal_shows_options_whole_and_none_for_programs_only() -> None:
    text = run("serve", "--help", COLUMNS="80").out
    shown = set(re.findall(r"--[a-z-]+", text))
    assert {"--analysis-patterns", "--concurrent-calls", "--metrics-address"} <= shown
    assert not [option for option in shown if option.startswith("--embedded")]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("typed", "offered"), [("academy ga", {"games"}), ("academy games ", {"list", "create", "delete"})]
)
def test_a_shell_completes_commands_also_where_list_may_be_left_out(typed: str, offered: set[str]) -> None:
    line = {
        "_ACADEMY_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    assert set(run(**line).out.split()) == offered


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


@pytest.mark.parametrize("application", [app.application, make_application()], ids=["academy", "arena"])
def test_arguments_are_shown_in_capitals_with_brackets_and_dots_once(application: typer.Typer) -> None:
    shown = {
        f"{path} {word}": word
        for path, command in commands(get_command(application), "")
        for argument in command.params
        if argument.param_type_name == "argument"
        for word in argument.get_usage_pieces(typer.Context(command))
    }
    assert len(shown) > 10
    wrong = [
        where for where, word in shown.items() if not re.fullmatch(r"(\{[A-Z]+\}|\[[A-Z=]+\])(\.\.\.)?", word)
    ]
    assert not wrong
