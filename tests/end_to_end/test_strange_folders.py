"""Commands that start in a folder of somebody else's, which has modules named like ours and like Python's."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.conftest import BIN, ENVIRONMENT

SECONDS = 120.0
NAMES = ("arena", "academy", "clients", "referees", "multiprocessing", "signal", "json", "subprocess", "grpc")
STRANGER = """\
import os
with open(os.path.join(os.path.dirname(__file__), "executed"), "a") as note:
    note.write(__name__)
raise ImportError("this is not the module that was meant")
"""
CONTROL = """\
[competition]
kind = "all-play-all"
rounds = 1
check_players = false
parallel = 2

[game]
name = "hex"
board_size = 3

[players.first]
protocol = "python"
command = "mine:first"

[players.engine]
command = "academy-bot hex --set board_size=3 --search random --seed 1"

[academy]
"""
RINGMASTERS = """\
competition_type = 'playoff'
scorer = 'internal'
board_size = 5
komi = 0.5
bot = 'academy-bot go --set board_size=5 --set komi=0.5 --search random'
players = {'a': Player(bot), 'b': Player(bot)}
matchups = [Matchup('a', 'b', number_of_games=1)]
"""
MINE = """\
def first(referee, seat, seed):
    return lambda view: referee.move_text(referee.legal_moves(view, seat)[0])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose modules note that they were executed."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(STRANGER)
    (tmp_path / "cup.toml").write_text(CONTROL)
    (tmp_path / "cup.ctl").write_text(RINGMASTERS)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def executed(folder: Path) -> list[str]:
    return [name for name in NAMES if (folder / name / "executed").exists()]


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.parametrize(("action", "control"), [("check", "cup.ctl"), ("run", "cup.toml")])
@pytest.mark.threat("bad_input")
def test_a_competition_beside_folders_named_like_our_packages_executes_none_of_them(
    folder: Path, action: str, control: str
) -> None:
    done = run(folder, BIN / "arena", action, *(["--quiet"] if action == "run" else []), control)
    assert done.returncode == 0, done.stderr
    assert executed(folder) == []


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = [str(BIN / "academy"), "serve", "--data", "data", "--address", "127.0.0.1:0", *options]
    with subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            yield server
        finally:
            server.terminate()
            server.communicate(timeout=SECONDS)


@pytest.mark.threat("bad_input")
def test_server_processes_started_there_serve_and_execute_none_of_them(folder: Path) -> None:
    with serving(folder, "--processes", "2") as server:
        assert server.stdout is not None
        assert "academy: serving" in server.stdout.readline()
    assert server.returncode == 0
    assert executed(folder) == []


@pytest.mark.threat("bad_input")
def test_the_processes_that_compile_and_that_look_for_damage_execute_none_of_them(folder: Path) -> None:
    program = (
        "from pathlib import Path; from academy.cli.server_process import _damage; "
        "from academy.matching.warming import Compiler; "
        "print(_damage(Path('data'))); print(Compiler().run())"
    )
    done = run(folder, sys.executable, "-P", "-c", program)
    assert done.stdout.splitlines()[-1] == "True", done.stderr
    assert "the module that was meant" not in done.stdout
    assert executed(folder) == []
