"""The token bucket."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.wire.rates import Bucket, Buckets


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_passes_and_then_the_rate_holds() -> None:
    clock = Clock()
    bucket = Bucket(2.0, 3.0, clock)
    assert bucket.take(3) == 0
    wait = bucket.take(1)
    assert wait == pytest.approx(0.5)
    clock.now += wait
    assert bucket.take(1) == 0


def test_bucket_gives_uses_until_it_is_empty() -> None:
    clock = Clock()
    bucket = Bucket(1.0, 2.0, clock)
    assert [bucket.use() for _ in range(3)] == [True, True, False]
    clock.now += 1.0
    assert [bucket.use() for _ in range(2)] == [True, False]


def test_more_than_a_burst_passes_when_the_bucket_is_full_and_is_paid_for_after() -> None:
    clock = Clock()
    bucket = Bucket(10.0, 5.0, clock)
    assert bucket.take(25) == 0
    assert bucket.take(1) == pytest.approx(2.1)


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(0, 20)), max_size=60),
    st.floats(0.5, 50),
    st.integers(1, 30),
)
def test_no_more_passes_than_the_rate_and_one_burst_allow(
    steps: list[tuple[float, int]], per_second: float, burst: int
) -> None:
    clock = Clock()
    bucket = Bucket(per_second, burst, clock)
    passed, largest = 0, 0
    for pause, questions in steps:
        clock.now += pause
        if wait := bucket.take(questions):
            # What is promised holds: asking again after that time passes.
            clock.now += wait + 1e-6
            assert bucket.take(questions) == 0
        passed += questions
        largest = max(largest, questions)
        assert passed <= burst + (clock.now - 100.0) * per_second + largest + 1e-3


def test_each_caller_has_a_bucket() -> None:
    buckets = Buckets(1.0, 2.0, clock=Clock())
    assert buckets.of("ann").take(2) == 0
    assert buckets.of("bob").take(2) == 0
    assert not buckets.of("ann").use()


def test_slow_callers_are_forgotten_first() -> None:
    clock = Clock()
    buckets = Buckets(1.0, 10.0, most=100, clock=clock)
    for number in range(10_000):
        assert buckets.of(f"caller {number}").use()
        clock.now += 1.0
        if number % 5 == 0:
            buckets.of("flooder").take(10)
        assert len(buckets) <= 100
    # The one who asked too fast is remembered all the time.
    assert buckets.of("flooder").take(10) > 0


def test_number_of_remembered_callers_is_limited() -> None:
    buckets = Buckets(1.0, 2.0, most=100, clock=Clock())
    for number in range(1_000):
        assert buckets.of(f"caller {number}").take(2) == 0
        assert len(buckets) <= 100
    assert not buckets.of("caller 999").use()
