"""What survives a long search for cycles is not searched again; new cycles are still found."""

import gc
import weakref

import pytest

from academy.service.pauses import _Watch


class Node:
    def __init__(self) -> None:
        self.itself = self


def test_only_after_a_long_search_is_everything_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = _Watch()
    now = iter((0.0, 0.004, 10.0, 10.006))
    monkeypatch.setattr("academy.service.pauses.time.perf_counter", lambda: next(now))
    before = gc.get_freeze_count()
    try:
        for _ in range(2):
            assert gc.get_freeze_count() == before
            watch("start", {"generation": 2})
            watch("stop", {"generation": 2})
        assert gc.get_freeze_count() > before
        lost = Node()
        seen = weakref.ref(lost)
        del lost
        gc.collect()
        assert seen() is None
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("generation", [0, 1])
def test_a_search_among_the_young_says_nothing(generation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = _Watch()
    now = iter((0.0, 1.0))
    monkeypatch.setattr("academy.service.pauses.time.perf_counter", lambda: next(now))
    before = gc.get_freeze_count()
    watch("start", {"generation": generation})
    watch("stop", {"generation": generation})
    assert gc.get_freeze_count() == before
