"""The token bucket."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.service.rates import Bucket, Buckets, RateExceeded


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_passes_and_then_the_rate_holds() -> None:
    clock = Clock()
    bucket = Bucket(2.0, 3.0, clock)
    bucket.take(3)
    with pytest.raises(RateExceeded) as caught:
        bucket.take(1)
    assert caught.value.retry_after == pytest.approx(0.5)
    clock.now += caught.value.retry_after
    bucket.take(1)


def test_more_than_a_burst_passes_when_the_bucket_is_full_and_is_paid_for_after() -> None:
    clock = Clock()
    bucket = Bucket(10.0, 5.0, clock)
    bucket.take(25)
    with pytest.raises(RateExceeded) as caught:
        bucket.take(1)
    assert caught.value.retry_after == pytest.approx(2.1)


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
    for wait, questions in steps:
        clock.now += wait
        try:
            bucket.take(questions)
        except RateExceeded as refused:
            # What is promised holds: asking again after that time passes.
            clock.now += refused.retry_after + 1e-6
            bucket.take(questions)
        passed += questions
        largest = max(largest, questions)
        assert passed <= burst + (clock.now - 100.0) * per_second + largest + 1e-3


def test_each_caller_has_a_bucket() -> None:
    buckets = Buckets(1.0, 2.0, clock=Clock())
    buckets.take("ann", 2)
    buckets.take("bob", 2)
    with pytest.raises(RateExceeded):
        buckets.take("ann", 1)


def test_where_there_are_many_callers_those_are_forgotten_who_ask_within_the_rate() -> None:
    clock = Clock()
    buckets = Buckets(1.0, 10.0, most=100, clock=clock)
    for number in range(10_000):
        buckets.take(f"caller {number}", 1)
        clock.now += 1.0
        if number % 5 == 0:
            with suppress(RateExceeded):
                buckets.take("flooder", 10)
        assert len(buckets) <= 100
    # The one who asked too fast is remembered all the time.
    with pytest.raises(RateExceeded):
        buckets.take("flooder", 10)


def test_however_many_callers_flood_only_so_many_are_remembered() -> None:
    buckets = Buckets(1.0, 2.0, most=100, clock=Clock())
    for number in range(1_000):
        buckets.take(f"caller {number}", 2)
        assert len(buckets) <= 100
    with pytest.raises(RateExceeded):
        buckets.take("caller 999", 1)
