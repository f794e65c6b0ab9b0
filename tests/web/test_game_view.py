"""What stands beside the board of a game."""

import pytest

from arena.v1 import competitions_pb2
from web.game_view import clocks_of


@pytest.mark.parametrize(
    ("seconds", "shown"), [(9.96, "0:10.0"), (59.97, "1:00.0"), (61.24, "1:01.2"), (119.99, "2:00.0")]
)
def test_a_clock_that_rounds_to_a_minute_shows_the_minute(seconds: float, shown: str) -> None:
    move = competitions_pb2.GameMove(seat=1, text="A1")
    move.clock.FromNanoseconds(round(1e9 * seconds))
    assert clocks_of([move]) == [(1, shown)]
