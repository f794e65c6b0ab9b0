"""What tests of several subjects of the results share."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.results.database import ResultsDatabase, sqlite_url


@pytest.fixture(scope="session")
def empty_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results database without games; for copies, as to make its tables takes three times as long."""
    file = tmp_path_factory.mktemp("empty") / "results.sqlite"
    ResultsDatabase.open(sqlite_url(file)).close()
    return file


@pytest.fixture
def database(empty_results: Path, tmp_path: Path) -> Iterator[ResultsDatabase]:
    """An empty results database."""
    shutil.copy(empty_results, tmp_path)
    with closing(ResultsDatabase.open(sqlite_url(tmp_path / empty_results.name))) as database:
        yield database
