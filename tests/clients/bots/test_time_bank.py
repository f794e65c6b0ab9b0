"""Time that moves from the book leave over is spent on later moves, and no player has more in all."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clients.bots.advised_player import AdvisedPlayer
from clients.bots.strength import Strength
from clients.bots.thinking import Candidate
from clients.bots.time_bank import TimeBank
from clients.seat import Seat
from referees.api import Referee
from referees.go import Go


@dataclass
class Hands:
    """A clock that shows what the test sets it to, and goes on by a tick whenever somebody looks."""

    shows: float = 0.0
    tick: float = 0.0

    def __call__(self) -> float:
        self.shows += self.tick
        return self.shows


def test_what_moves_leave_over_makes_later_ones_longer_and_what_they_overdraw_shorter() -> None:
    clock = Hands(100.0)
    bank = TimeBank(8.0, clock)

    def move(takes: float) -> float:
        seconds = bank.begin()
        clock.shows += takes
        bank.end()
        return seconds

    assert move(2.0) == 8.0
    assert move(9.5) == 8.0 + 0.25 * 6.0
    assert bank.saved == 4.5
    # A question that took very long: moves get shorter, but never less than half.
    assert move(104.5) == 8.0 + 0.25 * 4.5
    assert move(4.0) == 4.0


@dataclass
class Booked(AdvisedPlayer[Any, Any]):
    """Plays two moves at once, as if a book had them."""

    rules: Referee[Any, Any]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        thinker = Strength("monte-carlo", seconds=0.05, clock=self.clock).thinker(
            self.rules, random.Random(1)
        )
        spec = self.rules.spec()
        seat = Seat(spec.game_id, spec.geometry, 1)
        super().__init__(thinker, self.rules, None, seat, saves_time=True)

    def book_move(self, position: Any, moves: Any, own_moves: int) -> Candidate[Any] | None:
        if own_moves < 2:
            return Candidate(next(iter(self.rules.legal_moves(position, 1) or ())), 0.5)
        return None


def test_a_player_that_saves_time_thinks_longer_after_its_book() -> None:
    clock = Hands(tick=0.001)
    go = Go.from_settings({"board_size": 5, "komi": 0.5})
    player = Booked(go, clock)
    took = []
    for own_moves in range(3):
        began = clock.shows
        player.choose(go.start(0), (), own_moves)
        took.append(clock.shows - began)
    assert took[0] + took[1] < 0.01
    # A quarter of the two moves' 0.1 seconds comes on top of its own 0.05.
    assert 0.07 < took[2] < 0.085
