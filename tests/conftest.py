"""What all tests need before the first begins."""

import gc
import os
import re
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from academy.matching import kernels
from academy.matching.warming import warm_up

# Where Debian has its games, such as GNU Go; the superuser's path lacks it.
os.environ["PATH"] += ":/usr/games"
# Each process with NumPy would have a second thread for products of matrices, and that spins for 45 ms first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The programs read these where a test leaves out an option. Only the kernel is for the user to choose.
for _name in [name for name in os.environ if name.startswith(("ACADEMY_", "ARENA_"))]:
    if _name != kernels.VARIABLE:
        del os.environ[_name]

# A busy machine is slow, and not wrong. Loaded anywhere else, a profile would hold for tests elsewhere too.
settings.register_profile(
    "patient", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


# Files whose few tests last longest begin: else one process would still be at them when the others are done.
_FIRST = ("web", "end_to_end", "benchmarks", "research", "fuzz", "test_documents.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the files with the longest tests run first."""
    items.sort(key=lambda item: (*_FIRST, place := _place(item.nodeid)).index(place))


def _place(nodeid: str) -> str:
    """The folder of `tests`, or the file there, that a test is in."""
    return re.split("/|::", nodeid.removeprefix("tests/"), maxsplit=1)[0]


def _shared_out(nodeid: str) -> str:
    """What one process has with a test: its file, or all tests of the pages, for which it starts servers."""
    return "web" if _place(nodeid) == "web" else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    """Share the tests among processes."""
    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = _shared_out
    return scheduler


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the thousands of tests, which stay to the end, out of the searches for cycles."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have the kernel compiled, as servers that start in tests would else compile it beside them, slowly.

    Here, and not in a fixture, no test's limit of time counts for it. Where several processes share the
    tests, the one that starts them does it; the others load it where a test asks for it.
    """
    if not session.config.option.collectonly and not hasattr(session.config, "workerinput"):
        warm_up()


@pytest.fixture(scope="session", autouse=True)
def servers_match_with_numpy() -> Iterator[None]:
    """Spare each of the servers that tests start the second that the compiled kernel takes to load.

    Both kernels answer the same, as the tests of `academy.matching` show. This process keeps the kernel
    that it chose; a test whose server needs the compiled one sets the variable.
    """
    kernels.chosen()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(kernels.VARIABLE, "numpy")
        yield
