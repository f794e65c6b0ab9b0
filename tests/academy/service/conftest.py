"""A server for the tests of one module, and one of its own for a test that breaks things."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.academy.service.running import Running, serving


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
