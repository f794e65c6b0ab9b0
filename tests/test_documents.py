"""The README and the pages show what really runs."""

import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from academy.v1 import contests_pb2, game_pb2, libraries_pb2
from academy.wire.games import game_message
from referees.go import Go
from tests.academy.cli.conftest import academy, run, running
from tests.academy.service.examples import contest
from tests.academy.service.running import serving
from tests.ports import free_ports
from web.cli.app import application as web_application

__all__ = ["academy", "running"]  # fixtures

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TOUR = re.compile(r"<!-- tour -->\n```sh\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.timeout(600)
def test_the_quickstart_runs(tmp_path: Path) -> None:
    page = (DOCS / "quickstart.md").read_text()
    steps = TOUR.findall(page)
    assert len(steps) == 4
    (tmp_path / "ask.py").write_text(PYTHON.findall(page)[0])
    # The tour begins in the checkout, where `.venv` is; the tests may run in another environment.
    steps[0] = f'export PATH="{Path(sys.executable).parent}:$PATH"\n'
    # A port of its own, so that a server that runs already is not in the way.
    tour = "".join(steps).replace("50551", str(*free_ports(1)))
    # A tour that ends early must not leave its server behind.
    script = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{tour}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Openings of go-5x5" in done.stdout
    assert "endgame" in done.stdout
    assert "sound" in done.stdout
    assert re.search(r"opening \w\d: value 0\.\d\d in \d+ games", done.stdout)
    assert "A1 completes" in done.stdout
    assert (tmp_path / "cup.txt").read_text().strip()
    assert "<html" in (tmp_path / "cup.html").read_text()


def test_the_quickstart_stops_waiting_where_another_server_has_the_port(tmp_path: Path) -> None:
    (wait,) = re.findall(r"^until academy .*$", (DOCS / "quickstart.md").read_text(), re.MULTILINE)
    with serving(tmp_path) as server:
        done = subprocess.run(
            ["bash", "-c", wait],
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "ACADEMY_ADDRESS": str(server.address),
                "ACADEMY_TOKEN": "of-another-folder",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert "the token is not known here" in done.stderr


def test_the_readme_shows_the_program_of_the_quickstart() -> None:
    (shown,) = PYTHON.findall((ROOT / "README.md").read_text())
    assert shown == PYTHON.findall((DOCS / "quickstart.md").read_text())[0]
    assert len(shown.splitlines()) <= 15


def test_the_readme_and_the_page_on_the_browser_open_the_demo_with_one_command() -> None:
    command = ".venv/bin/academy-web --library build/demo-library --competitions build/demo-competition"
    for page in (ROOT / "README.md", DOCS / "how-to" / "web.md"):
        assert command in page.read_text(), page


def execute(program: str) -> None:
    """Run a program of a page in this process: its imports would take most of the time of one of its own."""
    exec(compile(program, "example", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("number", range(5))
def test_the_examples_for_bots_run(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = PYTHON.findall((DOCS / "tutorials" / "first-bot.md").read_text())
    assert len(examples) == 5
    monkeypatch.delenv("ACADEMY_ADDRESS", raising=False)
    execute(examples[number])


@pytest.mark.parametrize("number", range(4))
def test_the_examples_for_bots_ask_in_a_contest_of_a_forked_game(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = PYTHON.findall((DOCS / "tutorials" / "first-bot.md").read_text())[number]
    spec = replace(Go.from_settings({"board_size": 9, "komi": 7.5}).spec(), game_id="go-9x9-fork")
    with serving(tmp_path) as server:
        contests = server.arena().contests
        contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game_message(spec)))
        weights = game_pb2.LibrarySettings(local_weights=True)
        request = libraries_pb2.UpdateSettingsRequest(game_id=spec.game_id, settings=weights)
        server.admin().libraries.UpdateSettings(request)
        opened = contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest("cup/1", spec.game_id)))
        environment = {
            "ACADEMY_ADDRESS": str(server.address),
            "ACADEMY_TOKEN": opened.tickets[0],
            "ACADEMY_CONTEST": "cup/1",
            "ACADEMY_PLAYER": "1",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        execute(example)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data folder `library` in it."""
    made = run("tokens", "create", "first", "--data", tmp_path / "library")
    assert made.exit_code == 0, made.err
    return tmp_path


def test_the_commands_for_running_a_server_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ("production", "tls-and-tokens", "backup")
    (serve,), (tokens,), (copies,) = (
        SHELL.findall((DOCS / "how-to" / f"{page}.md").read_text()) for page in pages
    )
    monkeypatch.chdir(folder)
    program, *words = shlex.split(serve.replace("50551", "0"))
    assert program == "academy"
    done = []
    with subprocess.Popen([sys.executable, "-m", program, *words], stdout=subprocess.PIPE) as server:
        # The server must be ready before the tokens are made beside it, and ends cleanly on SIGTERM.
        assert server.stdout is not None and b"serving" in server.stdout.readline()
        for line in (tokens + copies).splitlines():
            program, *words = shlex.split(line)
            assert program == "academy"
            done.append(run(*words))
        server.terminate()
    assert server.returncode == 0
    assert [result.exit_code for result in done] == [0] * 6, done
    assert any(re.search("revoked [0-9a-f]{16} of mybot", result.out) for result in done)
    assert (folder / "restored" / "data.mdb").exists()


HOW_TOS = "\n".join(page.read_text() for page in sorted((DOCS / "how-to").glob("*.md")))


def test_the_tables_of_commands_name_what_there_is() -> None:
    shown = re.findall(r"`(academy [^`]+)`", HOW_TOS)
    assert len(shown) > 10
    options: dict[tuple[str, ...], set[str]] = {}
    for line in shown:
        command = tuple(itertools.takewhile(re.compile("[a-z]+$").match, line.split()[1:]))
        options.setdefault(command, set()).update(re.findall("--[a-z-]+", line))
    # Another program takes the place of its process, which is here that of the tests.
    del options["web",]
    for command, named in options.items():
        helped = run(*command, "--help", COLUMNS="200")
        assert helped.exit_code == 0, f"{command}: {helped.err}"
        assert {option for option in named if option not in helped.out} == set(), command


def test_academy_web_is_academy_web() -> None:
    academy_web = subprocess.run(
        [sys.executable, "-P", "-m", "academy", "web", "--help"], capture_output=True, check=True, text=True
    )
    same = CliRunner().invoke(web_application, ["--help"], prog_name="academy-web")
    # The two may break lines at other places.
    assert academy_web.stdout.split() == same.stdout.split() and "--library" in same.stdout


# What stands for the reader's own names in the tables, with the game and folder of these tests.
MEANT = {
    "GAME": ["go"],
    "[GAME]": [],
    "[MOVES...]": ["c3"],
    "[NAME=VALUE...]": ["endgame_capacity=100"],
    "FOLDER": ["library"],
    "ARENA": ["arena"],
}
# These need what only the reader has: a pattern's number, a tesuji's code, a file, an abandoned contest,
# another arena, a removal. And what lasts until Ctrl-C.
INCOMPLETE = {
    *(
        "academy serve",
        "academy watch",
        "academy contests void",
        "academy history pattern",
        "academy games create",
        "academy games delete",
        "academy prune",
        "academy export",
        "academy backup",
    ),
    *("academy arenas link", "academy arenas allow", "academy arenas forbid"),
    *("academy openings delete", "academy tesujis delete", "academy removals", "academy players"),
}


def test_the_commands_in_the_tables_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, academy: Callable[..., Any]
) -> None:
    monkeypatch.chdir(folder)
    ran = 0
    for line in re.findall(r"^\| `(academy [^`]+)`", HOW_TOS, re.MULTILINE):
        if any(line.startswith(command) for command in INCOMPLETE):
            continue
        words = [meant for word in line.split()[1:] for meant in MEANT.get(word, [word])]
        outcome = academy(*words)
        assert outcome.exit_code == 0, f"{line}: {outcome.err}"
        ran += 1
    assert ran >= 6


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_of_files_beside_the_site_lead_somewhere(name: str) -> None:
    # The links between pages of the site are checked when it is built.
    link = re.compile(r"\]\((?!https?:|#)([^)#]+)")
    for target in link.findall((ROOT / name).read_text()):
        assert (ROOT / target).exists(), f"{name} links to {target}"


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_says_first_for_whom_it_is(page: Path) -> None:
    title, _, first = page.read_text().partition("\n\n")
    assert title.startswith("# ")
    assert re.match(r"\*For \w", first)
