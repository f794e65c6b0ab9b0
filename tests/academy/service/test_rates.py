"""The token bucket."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.service.rates import Bucket, RateExceeded


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
