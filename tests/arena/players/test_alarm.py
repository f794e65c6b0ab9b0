"""Interrupting what takes too long, without disturbing other timers."""

import signal
import time

import pytest

from arena.players.clock import TimeIsUpError, alarm
from tests.waiting import until


def test_a_call_that_ends_in_time_is_left_alone() -> None:
    # pytest may have set one.
    before, _ = signal.getitimer(signal.ITIMER_REAL)
    with alarm(3600):
        answer = sum(range(10))
    assert answer == 45
    assert signal.getitimer(signal.ITIMER_REAL)[0] <= before


def test_a_call_that_takes_too_long_is_interrupted_also_where_it_catches_exceptions() -> None:
    with pytest.raises(TimeIsUpError), alarm(0.05):
        try:
            time.sleep(10)
        except Exception:
            pytest.fail("swallowed")


def test_handler_and_timer_of_before_go_on_afterwards() -> None:
    rung = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    began = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with alarm(10):
            time.sleep(0.05)
        until(lambda: rung, seconds=30)
        assert len(rung) == 1 and rung[0] - began > 0.99
    finally:
        signal.setitimer(signal.ITIMER_REAL, left, interval)
        signal.signal(signal.SIGALRM, handler)
