"""What the README and the guides show really runs."""

import itertools
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.academy.cli.conftest import academy, run, running

__all__ = ["academy", "running"]  # fixtures

ROOT = Path(__file__).parent.parent
TOUR = re.compile(r"<!-- tour -->\n```sh\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_the_tour_of_the_readme_runs(tmp_path: Path) -> None:
    steps = TOUR.findall((ROOT / "README.md").read_text())
    assert len(steps) == 3
    # The tour begins in the checkout, where `.venv` is; the tests may run in another environment.
    steps[0] = f'export PATH="{Path(sys.executable).parent}:$PATH"\n'
    # A port of its own, so that a server that runs already is not in the way.
    port = free_port()
    tour = "".join(steps).replace("50551", port)
    # A tour that ends early must not leave its server behind.
    script = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{tour}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "ACADEMY_ADDRESS": f"127.0.0.1:{port}"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Openings of go-5x5" in done.stdout
    assert "endgame" in done.stdout
    assert "sound" in done.stdout
    assert (tmp_path / "cup.txt").read_text().strip()


@pytest.mark.parametrize("number", range(3))
def test_the_examples_for_bots_run(number: int) -> None:
    examples = PYTHON.findall((ROOT / "docs" / "bots.md").read_text())
    assert len(examples) == 3
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACADEMY_")}
    done = subprocess.run(
        [sys.executable, "-c", examples[number]], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data folder `library` in it."""
    made = run("tokens", "create", "first", "--data", tmp_path / "library")
    assert made.exit_code == 0, made.err
    return tmp_path


def test_the_commands_for_running_a_server_run(folder: Path) -> None:
    serve, tokens, copies = SHELL.findall((ROOT / "docs" / "server.md").read_text())
    port = free_port()
    serve = serve.strip().replace("50551", port)
    # The server must be ready before the tokens are made beside it, and ends cleanly on SIGTERM.
    script = (
        f"set -euo pipefail\n{serve} >said & trap 'kill %1 2>/dev/null || true' EXIT\n"
        f"for try in $(seq 100); do grep -q {port} said && break; sleep 0.1; done\n{tokens}\n"
        f"{copies}\nkill %1; wait %1"
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search("revoked [0-9a-f]{16} of mybot", done.stdout)
    assert (folder / "restored" / "data.mdb").exists()


def test_the_tables_of_commands_name_what_there_is() -> None:
    document = (ROOT / "docs" / "server.md").read_text()
    shown = re.findall(r"`(academy [^`]+)`", document)
    assert len(shown) > 10
    for line in shown:
        words = line.split()[1:]
        command = list(itertools.takewhile(re.compile("[a-z]+$").match, words))
        helped = run(*command, "--help", COLUMNS="200")
        assert helped.exit_code == 0, f"{line}: {helped.err}"
        for option in re.findall("--[a-z-]+", line):
            assert option in helped.out, line


# What stands for the reader's own names in the tables, with the game and folder of these tests.
MEANT = {
    "GAME": ["go"],
    "[GAME]": [],
    "[MOVES...]": ["c3"],
    "[NAME=VALUE...]": ["endgame_capacity=100"],
    "FOLDER": ["library"],
    "ARENA": ["arena"],
}
# These need what only the reader has: a pattern's number, a file, an abandoned contest, another arena, a
# removal.
INCOMPLETE = {
    *(
        "academy serve",
        "academy contests void",
        "academy games create",
        "academy games delete",
        "academy prune",
        "academy export",
        "academy backup",
    ),
    *("academy arenas link", "academy arenas allow", "academy arenas forbid"),
    *("academy openings delete", "academy removals", "academy players"),
}


def test_the_commands_in_the_tables_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, academy: Callable[..., Any]
) -> None:
    monkeypatch.chdir(folder)
    document = (ROOT / "docs" / "server.md").read_text()
    ran = 0
    for line in re.findall(r"^\| `(academy [^`]+)`", document, re.MULTILINE):
        if any(line.startswith(command) for command in INCOMPLETE):
            continue
        words = [meant for word in line.split()[1:] for meant in MEANT.get(word, [word])]
        said = academy(*words)
        assert said.exit_code == 0, f"{line}: {said.err}"
        ran += 1
    assert ran >= 6


def test_every_link_leads_somewhere() -> None:
    link = re.compile(r"\]\((?!https?:|#)([^)#]+)")
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in link.findall(document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
