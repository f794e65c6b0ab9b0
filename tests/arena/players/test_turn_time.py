"""The time of a turn with several requests, on a clock that stops between the lines."""

import pytest

from arena.jobs import PlayerSetup, TimeControl
from arena.players.clock import Clock
from arena.players.lines import TurnTime
from arena.players.player import Seating
from referees.warlight import WarLight

RULES = WarLight.from_settings({"map": "small_world"})
# As at theaigames, in seconds.
BANK = TimeControl(main_seconds=10, increment_seconds=0.5, most_seconds=10)


class Hands:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def seating(control: TimeControl | None) -> Seating:
    setup = PlayerSetup("bot", ("bot",), protocol="lines", move_seconds=6.0)
    return Seating(setup, 1, "bot", RULES, "1", 1, clock=None if control is None else Clock(control))


def test_a_bank_grows_after_each_request_up_to_its_most() -> None:
    hands, bot = Hands(), seating(BANK)
    clock = bot.clock
    assert clock is not None
    shown = []
    for seconds in [(4.0, 1.0), (0.2, 0.1), (6.0, 0.1)]:
        turn = TurnTime(bot, 0.0, hands)
        shown.append(turn.milliseconds)
        hands.time += seconds[0]
        turn.next_request()
        shown.append(turn.milliseconds)
        hands.time += seconds[1]
        assert turn.seconds == pytest.approx(sum(seconds))
        assert clock.spend(turn.seconds)
    assert shown == pytest.approx([10_000, 6_500, 6_000, 6_300, 6_700, 1_200], abs=1)
    assert clock.seconds == pytest.approx(1.6)


def test_grace_is_taken_from_nothing_and_used_up_once() -> None:
    hands, bot = Hands(), seating(BANK)
    turn = TurnTime(bot, 30.0, hands)
    assert turn.deadline == hands.time + 40
    hands.time += 25
    turn.next_request()
    assert turn.deadline == hands.time + 15
    assert turn.seconds == 0
    hands.time += 7
    turn.next_request()
    assert turn.milliseconds == 8_500
    assert turn.deadline == hands.time + 8.5
    assert turn.seconds == pytest.approx(2)


def test_a_player_that_uses_all_its_time_for_a_request_has_the_increment_left() -> None:
    hands, bot = Hands(), seating(BANK)
    clock = bot.clock
    assert clock is not None
    turn = TurnTime(bot, 0.0, hands)
    hands.time += 3
    turn.next_request()
    hands.time += 100
    assert turn.allowed == pytest.approx(7.5)
    assert turn.seconds == pytest.approx(10.5)
    assert clock.spend(turn.seconds)
    assert clock.seconds == 0.5


def test_without_a_clock_the_time_of_a_turn_is_for_all_its_requests() -> None:
    hands, bot = Hands(), seating(None)
    turn = TurnTime(bot, 0.0, hands)
    hands.time += 4
    turn.next_request()
    assert (turn.milliseconds, turn.deadline, turn.allowed) == (2_000, hands.time + 2, 6)
    hands.time += 9
    assert turn.seconds == 6
