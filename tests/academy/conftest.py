"""A NATS server for tests that break it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.academy.store.shared_log.nats_servers import NatsServer

# How long an example takes depends on what else the machine does.
settings.register_profile("fewer", deadline=None, max_examples=50)
settings.load_profile("fewer")


@pytest.fixture
def own_nats(tmp_path: Path) -> Iterator[NatsServer]:
    """A NATS server that a test may kill."""
    server = NatsServer(tmp_path / "nats")
    try:
        yield server
    finally:
        server.kill()
