"""What a clock shows, and when time is up. Each move is written as its seconds and what is left then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.clock import Clock
from arena.jobs import TimeControl

SUDDEN_DEATH = TimeControl(main_seconds=10)
FISCHER = TimeControl(main_seconds=10, increment_seconds=2)
CANADIAN = TimeControl(main_seconds=10, byo_yomi_seconds=5, byo_yomi_stones=2)
PER_MOVE = TimeControl(byo_yomi_seconds=5)
PATIENT = TimeControl(main_seconds=10, margin_seconds=1)


@pytest.mark.parametrize(
    ("control", "moves"),
    [
        (SUDDEN_DEATH, [(4, 6, 0), (6, 0, 0), (0, 0, 0)]),
        (FISCHER, [(4, 8, 0), (8, 2, 0), (2, 2, 0)]),
        (CANADIAN, [(4, 6, 0), (6, 0, 0), (1, 4, 1), (4, 5, 2), (5, 0, 1), (0, 5, 2)]),
        (CANADIAN, [(12, 3, 1), (1, 5, 2)]),
        (PER_MOVE, [(4, 5, 1), (5, 5, 1), (0, 5, 1)]),
        (PATIENT, [(9, 1, 0), (1.5, 0, 0), (1, 0, 0)]),
    ],
)
def test_what_is_left_after_each_move(control: TimeControl, moves: list[tuple[float, float, int]]) -> None:
    clock = Clock(control)
    for seconds, left, stones in moves:
        assert clock.spend(seconds)
        assert clock.seconds == pytest.approx(left)
        assert clock.stones == stones


@pytest.mark.parametrize(
    ("control", "moves", "late"),
    [
        (SUDDEN_DEATH, [4], 6.1),
        (FISCHER, [4, 8], 2.1),
        (CANADIAN, [], 15.1),
        (CANADIAN, [10, 1], 4.1),
        (PER_MOVE, [5, 5], 5.1),
        (PATIENT, [9], 2.1),
    ],
)
def test_a_move_that_takes_longer_loses(control: TimeControl, moves: list[float], late: float) -> None:
    clock = Clock(control)
    for seconds in moves:
        assert clock.spend(seconds)
    left = clock.seconds
    assert clock.limit < late
    assert not clock.spend(late)
    assert clock.seconds == left


def test_increments_fill_the_main_time_up_to_its_most() -> None:
    clock = Clock(TimeControl(main_seconds=10, increment_seconds=0.5, most_seconds=10))
    shown = []
    for seconds in (0.1, 3, 0, 20):
        clock.spend(seconds)
        shown.append(clock.seconds)
    # The last is late: it is not in time, and changes nothing.
    assert shown == [10, 7.5, 8, 8]


def test_a_main_time_above_the_most_is_not_cut() -> None:
    clock = Clock(TimeControl(main_seconds=30, increment_seconds=2, most_seconds=10))
    clock.spend(1)
    assert clock.seconds == 29


def test_a_late_player_is_told_what_it_had() -> None:
    clock = Clock(PATIENT)
    clock.spend(8)
    assert clock.description == "lost on time: 2 s were left, and a margin of 1 s"


@given(
    st.builds(
        TimeControl,
        main_seconds=st.floats(0, 100),
        increment_seconds=st.floats(0, 10),
        byo_yomi_seconds=st.floats(0, 100),
        byo_yomi_stones=st.integers(1, 5),
        margin_seconds=st.floats(0, 1),
    ),
    st.lists(st.floats(0, 1), max_size=30),
)
def test_whoever_keeps_to_the_limit_is_in_time_and_no_clock_runs_below_zero(
    control: TimeControl, shares: list[float]
) -> None:
    clock = Clock(control)
    for share in shares:
        assert clock.spend(clock.limit * share)
        assert clock.seconds >= 0
        assert 0 <= clock.stones <= control.byo_yomi_stones


@given(
    st.lists(st.floats(0, 20), min_size=1, max_size=5),
    st.sampled_from([FISCHER, CANADIAN, PER_MOVE, PATIENT, TimeControl(10, 0.1, most_seconds=3)]),
)
def test_a_move_in_parts_costs_what_as_many_moves_cost(parts: list[float], control: TimeControl) -> None:
    whole, clock = Clock(control), Clock(control)
    for seconds in parts[:-1]:
        assert whole.spend(min(seconds, whole.limit))
        clock.book(seconds)
    last = min(parts[-1], whole.limit)
    assert whole.spend(last)
    assert clock.spend(clock.booked + last)
    assert clock.seconds == pytest.approx(whole.seconds)
    assert clock.stones == whole.stones
    assert clock.booked == 0
