"""What a clock shows, and when time is up. Each move is written as its seconds and what is left then."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.jobs import PlayerSetup, TimeControl
from arena.players.clock import Clock, describe_clock, overtime

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
def test_a_clock_has_its_time_and_stones_left_after_each_move(
    control: TimeControl, moves: list[tuple[float, float, int]]
) -> None:
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


def test_without_main_time_the_first_move_is_in_byo_yomi() -> None:
    clock = Clock(PER_MOVE)
    assert (clock.seconds, clock.stones) == (5, 1)


def test_a_part_of_a_move_that_takes_longer_than_all_the_time_makes_it_late() -> None:
    clock = Clock(FISCHER)
    clock.book(15)
    assert not clock.spend(15)


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


def test_late_player_learns_its_time_limit() -> None:
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
def test_player_within_the_limit_is_in_time_and_no_clock_runs_below_zero(
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


@pytest.mark.parametrize(
    ("control", "text", "sgf"),
    [
        (SUDDEN_DEATH, "10 s", ""),
        (FISCHER, "10 s + 2 s a move", "2 fischer"),
        (CANADIAN, "10 s, then 5 s for 2 moves", "2/5 Canadian"),
        (PER_MOVE, "5 s a move", "1x5 byo-yomi"),
        (PATIENT, "10 s, 1 s margin", ""),
        (TimeControl(0.25, 0.1, most_seconds=3), "0.25 s + 0.1 s a move up to 3 s", "0.1 fischer"),
        (TimeControl(increment_seconds=2), "+ 2 s a move", "2 fischer"),
        (
            TimeControl(60, 1, 30, 25),
            "60 s + 1 s a move, then 30 s for 25 moves",
            "1 fischer, 25/30 Canadian",
        ),
        (TimeControl(), "0 s", ""),
        (TimeControl(1234567.25), "1234567.25 s", ""),
    ],
)
def test_a_time_control_in_one_line(control: TimeControl, text: str, sgf: str) -> None:
    assert describe_clock(PlayerSetup("a", (), time_control=control)) == text
    assert overtime(control) == sgf


def test_without_a_clock_the_line_is_the_limit_of_a_move() -> None:
    assert describe_clock(PlayerSetup("a", (), move_seconds=2.5)) == "2.5 s a move"


_SECONDS = st.integers(0, 3).map(float) | st.floats(0, 1e6)
_CONTROLS = st.builds(
    TimeControl, _SECONDS, _SECONDS, _SECONDS, st.integers(1, 30), _SECONDS, st.none() | _SECONDS
)


@given(_CONTROLS, _CONTROLS)
def test_clocks_that_differ_in_effect_have_other_lines(first: TimeControl, other: TimeControl) -> None:
    def effect(control: TimeControl) -> TimeControl:
        """Without what changes nothing: the moves of no byo-yomi, a cap of no increment."""
        stones = control.byo_yomi_stones if control.byo_yomi_seconds else 1
        most = control.most_seconds if control.increment_seconds else None
        return replace(control, byo_yomi_stones=stones, most_seconds=most)

    lines = [describe_clock(PlayerSetup("a", (), time_control=clock)) for clock in (first, other)]
    assert (lines[0] == lines[1]) == (effect(first) == effect(other))
