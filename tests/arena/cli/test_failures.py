"""What the command says of errors."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, StatementError

from arena.cli.failures import describe_failure
from arena.control.settings import ControlError
from arena.runner.exit_status import ExitStatus
from clients.connection import AcademyUnavailableError
from tests.arena.cli.command import ARENA, arena
from tests.arena.control_files import PASSING, write_control


def test_a_database_error_is_shown_in_one_line_without_the_query() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(DBAPIError) as caught, engine.connect() as connection:
        connection.execute(text("SELECT 1 FROM missing"))
    engine.dispose()
    assert describe_failure(caught.value) == (
        "the database: no such table: missing",
        ExitStatus.ERROR,
    )


def test_an_error_of_a_database_names_it_and_what_to_do(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING})
    results = tmp_path / "contest.results.sqlite"
    assert arena("run", control, "-q", "-g", "1").returncode == 0
    with closing(sqlite3.connect(results)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON \"ARENA_Game\" BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
    stopped = arena("run", control, "-q")
    assert stopped.returncode == 1
    assert stopped.stderr.endswith(
        "arena: the database: no room\n"
        f"(results database sqlite:///{results}; what it has stays: "
        "see that it can be used, then try again)\n"
    )


def test_an_error_in_a_statement_is_shown_without_its_values() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(StatementError) as caught, engine.connect() as connection:
        connection.execute(text("SELECT :kept"), {"secret": 1})
    engine.dispose()
    message, _ = describe_failure(caught.value)
    assert "A value is required for bind parameter 'kept'" in message and len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            FileNotFoundError(2, "No such file or directory", "cup.toml"),
            "cup.toml: No such file or directory",
        ),
        (AcademyUnavailableError("no answer"), "no answer"),
        (ControlError("no such game"), "no such game"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_errors_remedy_stands_below_it(error: Exception, message: str) -> None:
    error.add_note("(give --address)")
    assert describe_failure(error) == (f"{message}\n(give --address)", ExitStatus.ERROR)


@pytest.mark.parametrize(
    ("game", "remedy"),
    [
        ("go", "add `--set board_size=9` (a size from 2 to 25)"),
        ("hex", "add `--set board_size=7` (a size from 2 to 26)"),
        ("draughts", "add `--set variant=english` (one of 'english', "),
        ("openspiel", "add `--set 'game=breakthrough(rows=6,columns=6)'` (a game string"),
    ],
)
def test_a_game_without_its_setting_is_answered_with_an_option_that_works(game: str, remedy: str) -> None:
    refused = arena("describe", game)
    assert refused.returncode == 2
    assert refused.stderr.startswith("arena: missing setting: ") and remedy in refused.stderr
    (option,) = re.findall(r"`--set ([^`]+)`", refused.stderr)
    assert arena("describe", game, "--set", *shlex.split(option)).returncode == 0


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        ("-S -n 20", 0, ""),
        (
            "-n 60",
            1,
            "arena: 2 games at a time need about 74 open files, and this process may have 60: "
            "raise its limit (`ulimit -n 74`), or play fewer games at a time (--parallel)\n",
        ),
    ],
)
def test_many_games_at_a_time_raise_the_limit_of_open_files_or_say_who_can(
    tmp_path: Path, limit: str, status: int, words: str
) -> None:
    control = write_control(tmp_path, {"one": PASSING, "two": PASSING}, None, "rounds = 2")
    command = [*ARENA, "run", str(control), "-q", "-j", "2"]
    done = subprocess.run(
        ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *command], stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (status, words)


def test_a_pipe_that_breaks_in_an_action_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def break_down(*_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("arena.cli.results.open_competition", break_down)
    done = arena("show", write_control(tmp_path, {"one": PASSING, "two": PASSING}, None, "rounds = 2"))
    assert (done.returncode, done.stderr) == (1, "arena: cannot go on: Broken pipe\n")


def test_the_traceback_of_an_error_in_a_package_commands_no_terminal(tmp_path: Path) -> None:
    package = tmp_path / "loud-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[arena.referees]\nloud = loud_rules:Loud\n")
    (tmp_path / "loud_rules.py").write_text(
        "from referees.hex import Hex\n"
        "class Loud(Hex):\n"
        "    @classmethod\n"
        "    def from_settings(cls, settings):\n"
        "        raise ZeroDivisionError('\\x1b[31m a bug')\n"
    )
    path = os.pathsep.join((str(tmp_path), *sys.path))
    done = subprocess.run(
        [*ARENA, "describe", "loud"], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("\nZeroDivisionError: \\x1b[31m a bug\n")
