"""A server for the tests of one module, and one of its own for a test that breaks things."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.v1 import contests_pb2
from tests.academy.service import examples
from tests.academy.service.asking import CONTEST, GAME
from tests.academy.service.examples import contest
from tests.academy.service.running import Client, Running, serving


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that a module's tests share: each takes game and contest ids of its own."""
    with serving(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Running]:
    """A server for one test alone."""
    with serving(tmp_path / "data") as running:
        yield running


@pytest.fixture(scope="module")
def everyone(academy: Running) -> Iterator[dict[str, Client]]:
    """An arena, an admin, and a player in an open contest of a registered game."""
    arena = academy.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)))
    request = contests_pb2.OpenContestRequest(contest=contest(CONTEST, GAME))
    ticket = arena.contests.OpenContest(request).tickets[0]
    yield {
        "arena": arena,
        "admin": academy.admin(),
        "reader": academy.bot("reader"),
        "player": academy.client(ticket),
    }
