"""A filled ACADEMY, the pages as a program of its own that asks it, and a browser that shows them."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from academy.store.tokens import Role
from tests.academy.service.running import Running, serving
from tests.arena.cli.command import arena
from tests.arena.inline_worker import games_in_this_process
from tests.arena.service.serving import Service
from tests.chromium import CHROMIUM
from tests.web.filling import fill
from tests.web.visiting import Answer, Visitor

BIN = Path(sys.executable).parent
# A busy machine is slow, and not wrong.
expect.set_options(timeout=60_000)
# The compiled kernel would take each ACADEMY that is started here a second to load.
ENVIRONMENT = {
    "PATH": f"{BIN}:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "ACADEMY_MATCHING_KERNEL": "numpy",
    # As `tests/conftest.py` has it.
    "OPENBLAS_NUM_THREADS": "1",
    # The programs of this checkout, also where another one is installed.
    "PYTHONPATH": str(Path(__file__).parents[2]),
}


@pytest.fixture(scope="session")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("data")) as running:
        fill(running)
        yield running


@contextmanager
def served_pages(*options: object, token: str = "") -> Iterator[Visitor]:
    """Run `academy-web` on a free port."""
    with served_by([BIN / "academy-web", "--address", "127.0.0.1:0", *options], token) as visitor:
        yield visitor


@contextmanager
def served_by(command: Sequence[object], token: str = "") -> Iterator[Visitor]:
    """Run a program that serves the pages."""
    environment = {**ENVIRONMENT, **({"ACADEMY_TOKEN": token} if token else {})}
    process = subprocess.Popen(
        list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        ready = process.stdout.readline()
        assert ready.startswith("Open http"), process.stderr.read()
        yield Visitor(ready.split()[1].rstrip("/"), process)
    finally:
        process.terminate()
        process.communicate(timeout=120)


@pytest.fixture(scope="session")
def token_file(academy: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tokens") / "admin"
    file.write_text(academy.token("admin", Role.ADMIN) + "\n")
    return file


@pytest.fixture(scope="session")
def pages(academy: Running, token_file: Path) -> Iterator[Visitor]:
    """The pages that an admin's token fills."""
    with served_pages("--academy", academy.address, "--academy-token-file", token_file) as visitor:
        yield visitor


def page_of_run(control: Path) -> Answer:
    """Run a competition to its end; return its page."""
    with games_in_this_process():
        assert arena("run", control, "-q").returncode == 0
    with served_pages("--competitions", control) as pages:
        return pages.get(f"/competition?name={control.stem}")


_CONTROL = """\
[competition]
kind = "all-play-all"
description = "A <b>bold</b> cup"
check_players = false
competitors = ["one", "two", "three"]
rounds = 2
seed = 1

[game]
name = "go"
board_size = 5
komi = 0.5
move_limit = 200

[players.one]
protocol = "python"
command = "tests.web.players:quick"

[players.two]
protocol = "python"
command = "tests.web.players:quick"

[players.three]
protocol = "python"
command = "tests.web.players:quick"
"""


@pytest.fixture(scope="session")
def competitions(
    academy: Running, token_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visitor]:
    """The pages with an arena's service that has a completed competition and one that has not begun."""
    folder = tmp_path_factory.mktemp("competitions")
    (folder / "cup.toml").write_text(_CONTROL)
    (folder / "later.toml").write_text(_CONTROL)
    with games_in_this_process():
        assert arena("run", folder / "cup.toml").returncode == 0
    with closing(Service(folder, environment=ENVIRONMENT)) as service:
        (folder / "eye").write_text(service.tokens["eye"])
        with served_pages(
            *("--academy", academy.address, "--academy-token-file", token_file),
            *("--arena", service.address, "--arena-token-file", folder / "eye"),
        ) as visitor:
            yield visitor


class FailsOnce:
    """Draws, but for the first time."""

    def __init__(self) -> None:
        self._failed = False

    async def __call__(self, *_: object) -> str:
        if not self._failed:
            self._failed = True
            raise KeyError("no such column")
        return "drawn"


class Watched:
    """A tab that notes what it asks for and what goes wrong."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.requests: list[str] = []
        self.faults: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        # A page of status 404 is noted too, and is meant.
        if message.type in ("error", "warning") and "404" not in message.text:
            self.faults.append(message.text)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def check_behaviour(self) -> None:
        assert not self.faults
        assert all(address.startswith(self.base + "/") for address in self.requests), self.requests


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
