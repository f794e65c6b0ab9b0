"""Fitness, strength and tenacity: moving averages of DAIDE's tournaments, which SAGA 1.0 keeps.

Fitness is the ability to be a winner, strength to be a leader (nobody has more points), tenacity to be
a survivor (points are left at the end). Each game moves an average by a tenth towards what the player
took of a pot into which every seat pays one: seats / N for each of the N winners (leaders, survivors),
nothing for the others. So fitness moves towards DAIDE's score + 1, and a game lost leaves 90 % of it.
Everybody starts with 1, the mean of all. Games without a result change nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Self

from referees.api import Outcome

KEPT: Final = 0.9


@dataclass(frozen=True)
class MovingAverages:
    """A player's averages so far."""

    fitness: float = 1.0
    strength: float = 1.0
    tenacity: float = 1.0

    def after(self, outcome: Outcome, seat: int, seats: int) -> Self:
        """The averages after a game in a seat, from 1. Without points winners alone led and survived."""
        if not outcome.winners:
            return self
        points = dict(enumerate(outcome.points, start=1))
        most = max(points.values(), default=0.0)
        leaders = [seat for seat, owned in points.items() if owned == most] or outcome.winners
        survivors = [seat for seat, owned in points.items() if owned > 0] or outcome.winners
        return type(self)(
            _move_average(self.fitness, seat, seats, outcome.winners),
            _move_average(self.strength, seat, seats, leaders),
            _move_average(self.tenacity, seat, seats, survivors),
        )


def _move_average(average: float, seat: int, seats: int, sharing: Collection[int]) -> float:
    taken = seats / len(sharing) if seat in sharing else 0.0
    return KEPT * average + (1.0 - KEPT) * taken
