"""The places of a game's players, by what of its outcome is rated."""

import math
from enum import Enum

from referees.api import Outcome


class RatedBy(Enum):
    """What of an outcome is rated; games of two are always rated by their winner.

    `WINNERS`: who won and who did not, no matter how. `RANK`: the losers in their order too, by points and
    then by how late they were eliminated. `POINTS`: everybody in the order of points, winners too; where a
    game gives none, as `RANK`.
    """

    WINNERS = "winners"
    RANK = "rank"
    POINTS = "points"


def places_of(outcome: Outcome, seats: int, by: RatedBy) -> tuple[int, ...]:
    """Each seat's place, 0 the best; equal places drew with each other."""
    merits = [_merit(outcome, seat, RatedBy.WINNERS if seats == 2 else by) for seat in range(1, seats + 1)]
    order = sorted(set(merits), reverse=True)
    return tuple(order.index(merit) for merit in merits)


def _merit(outcome: Outcome, seat: int, by: RatedBy) -> tuple[float, ...]:
    won = seat in outcome.winners
    if by is RatedBy.WINNERS:
        return (float(won),)
    points = outcome.points[seat - 1] if outcome.points else 0.0
    eliminated = outcome.eliminated[seat - 1] if outcome.eliminated else None
    lasted = math.inf if eliminated is None else float(eliminated)
    if by is RatedBy.POINTS and outcome.points:
        return (points, lasted)
    return (1.0, 0.0, 0.0) if won else (0.0, points, lasted)
