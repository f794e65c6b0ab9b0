"""What survives a long search for cycles is not searched again; new cycles are still found."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from academy.service.gc_tuning import GcPauseLimiter


class Node:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def no_other_searches() -> Iterator[None]:
    """Nothing is frozen at first, and Python searches only when it is told to."""
    others = gc.callbacks[:]
    gc.callbacks.clear()
    gc.disable()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.enable()
    gc.callbacks.extend(others)


def test_only_after_a_long_search_is_everything_left_alone() -> None:
    searches = GcPauseLimiter(iter((0.0, 0.004, 10.0, 10.006)).__next__)
    for _ in range(2):
        assert gc.get_freeze_count() == 0
        searches("start", {"generation": 2})
        searches("stop", {"generation": 2})
    assert gc.get_freeze_count() > 0

    lost = Node()
    seen = weakref.ref(lost)
    del lost
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("generation", [0, 1])
def test_a_search_among_the_young_says_nothing(generation: int) -> None:
    searches = GcPauseLimiter(iter((0.0, 1.0)).__next__)
    searches("start", {"generation": generation})
    searches("stop", {"generation": generation})
    assert gc.get_freeze_count() == 0
