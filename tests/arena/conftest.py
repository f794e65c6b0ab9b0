"""What tests of several rooms of the arena share."""

from collections.abc import Iterator

import pytest

from tests.arena.postgresql import postgresql_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The beginning of the URL of a PostgreSQL server of our own."""
    with postgresql_server() as url:
        yield url
