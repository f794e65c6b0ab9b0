"""What a process keeps of downloaded weights."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from academy.v1 import consultation_pb2
from academy.wire.games import read_spec
from clients import local_weights
from clients.local_weights import LocalWeights, held_weights, hold_weights
from tests.academy.service.examples import tiny_go

SPEC = read_spec(tiny_go("tiny"))


@pytest.fixture
def many_switches() -> Iterator[None]:
    """Threads take turns at every step, and what they keep is forgotten afterwards."""
    before, interval = dict(held_weights), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    held_weights.clear()
    held_weights.update(before)


@pytest.mark.usefixtures("many_switches")
def test_threads_keep_weights_at_the_same_time() -> None:
    weights = LocalWeights(SPEC, consultation_pb2.DownloadWeightsResponse())

    def keep(thread: int) -> None:
        for number in range(5_000):
            hold_weights((f"academy-{thread}", f"game-{number}", SPEC), weights)

    with ThreadPoolExecutor(8) as threads:
        for kept in [threads.submit(keep, thread) for thread in range(8)]:
            kept.result()
    assert len(held_weights) == local_weights._MOST_HELD
