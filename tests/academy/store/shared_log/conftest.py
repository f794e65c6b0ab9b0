import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from academy.store.library_store import Store
from academy.store.shared_log.address import LogAddress
from tests.academy.store.shared_log.nats_servers import NatsServer

OpenStore = Callable[..., Store]


@pytest.fixture(scope="session")
def nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A NATS server that all tests share; each has a stream of its own."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def log(nats: NatsServer, request: pytest.FixtureRequest) -> LogAddress:
    """A new stream."""
    # Its end says which parameters a test has.
    return nats.address(re.sub(r"\W", "-", request.node.name[-60:]))


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[OpenStore]:
    """Opens stores by their folders' names, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(name: str, log: LogAddress | None = None) -> Store:
            return opened.enter_context(Store(tmp_path / name, log=log))

        yield open_one
