"""How far a run is, and how fast it goes."""

import pytest

from arena.terminal.progress import Pace, duration_text, pace_text


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_pace_is_unknown_before_the_first_game_is_over() -> None:
    pace = Pace(Clock())
    assert pace.games_per_second is None
    assert pace.seconds_for(10) is None


def test_the_pace_is_games_by_time_and_falls_while_none_is_finished() -> None:
    clock = Clock()
    pace = Pace(clock)
    for _ in range(4):
        clock.now += 5
        pace.note_game()
    assert pace.games_per_second == 0.2
    assert pace.seconds_for(30) == 150.0
    assert pace.seconds_for(None) is None
    clock.now += 20
    assert pace.games_per_second == 0.1


def test_only_the_latest_hundred_games_count() -> None:
    clock = Clock()
    pace = Pace(clock)
    for seconds in (*[60] * 50, *[1] * 101):
        clock.now += seconds
        pace.note_game()
    assert pace.games_per_second == 1.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (3660, "1 h 01 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_are_printed_in_two_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("pace", "text"), [(12.34, "12.3 games/s"), (0.5, "30.0 games/min"), (0.001, "3.6 games/h")]
)
def test_a_pace_is_printed_in_a_suitable_unit(pace: float, text: str) -> None:
    assert pace_text(pace) == text
