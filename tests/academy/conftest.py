"""A NATS server for tests that break it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.academy.store.shared_log.nats_servers import NatsServer


@pytest.fixture
def own_nats(tmp_path: Path) -> Iterator[NatsServer]:
    """A NATS server that a test may kill."""
    with NatsServer(tmp_path / "nats") as server:
        yield server
