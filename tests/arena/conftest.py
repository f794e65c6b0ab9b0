"""What tests of several rooms of the arena share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.contest_server import ContestServer
from tests.arena.inline_worker import games_in_this_process
from tests.arena.postgresql import postgresql_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The beginning of the URL of a PostgreSQL server of our own."""
    with postgresql_server() as url:
        yield url


@pytest.fixture
def patient_obituary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arena waits long for the end of a program whose output has ended."""
    # On a busy machine the output can end well before the program does.
    monkeypatch.setattr("arena.players.process._OBITUARY_SECONDS", 30.0)


@pytest.fixture
def games_here() -> Iterator[None]:
    """Runs in the tests' own process play their games in it, too; for tests that show nothing of workers."""
    with games_in_this_process():
        yield


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ContestServer]:
    """A small ACADEMY that takes contests and can be made to fail."""
    server = ContestServer(tmp_path)
    server.start()
    yield server
    server.stop()
