"""Elo ratings as LUDAE has them.

    new Elo = old Elo + C · (score - expected score)

C is 30 for a player below Elo 2000, 10 above 2400, and between them 130 - (opponent's Elo)/20 as
LUDAE prints it. Against opponents above 2400 that falls below 10 and finally below zero, where
winning would cost Elo; 10, the least C of the rule, is kept as its floor.

LUDAE gives two forms of the expected score that disagree. Its "fast" form, the logistic curve
1 / (1 + 10^(-D/400)), is taken, because it is the one all other Elo lists use; the other one, a
normal distribution of deviation 200, can be chosen.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from arena.ratings.places import RatedBy, places_of
from referees.api import Outcome

# ACADEMY takes no rating that is farther from 0.
MOST_ELO: Final = 6_000.0


class Curve(Enum):
    """The form of the expected score."""

    LOGISTIC = "logistic"
    NORMAL = "normal"


@dataclass(frozen=True)
class EloRules:
    """How players are rated.

    `start` is a newcomer's Elo. LUDAE has random play at 0 and experts from 2000 on; 1000 lies in
    the middle, ten levels of 100 from either. `begin` are players who are not newcomers, with the Elo they
    begin with. `fixed` are players whose Elo never changes: they anchor the scale (LUDAE's random player: 0).
    `by` is what of an outcome is rated.
    """

    start: float = 1000.0
    curve: Curve = Curve.LOGISTIC
    fixed: Mapping[str, float] = field(default_factory=dict)
    begin: Mapping[str, float] = field(default_factory=dict)
    by: RatedBy = RatedBy.WINNERS

    def first(self, name: str) -> float:
        """The Elo a player begins with."""
        return self.fixed.get(name, self.begin.get(name, self.start))

    def rate_outcome(
        self, players: Sequence[str], elo: Sequence[float], outcome: Outcome
    ) -> tuple[float, ...]:
        """As `rate`, with the places that the outcome gives by these rules."""
        return self.rate(players, elo, outcome.winners, places_of(outcome, len(players), self.by))

    def rate(
        self, players: Sequence[str], elo: Sequence[float], winners: Sequence[int], places: Sequence[int] = ()
    ) -> tuple[float, ...]:
        """The players' Elo after a game, by seat.

        `elo` is what they had before it, `winners` the seats (from 1) that won: one of them won
        alone, several drew with each other, an empty one is an unknown result, which changes no rating.
        `places`, by seat and 0 the best, say who came before whom; without any all losers drew. A
        game of more than two counts as a game of each pair, and each player's change is the mean
        over their opponents, so that no game weighs more than another. A player in several seats
        gains and loses by each of them.
        """
        if not winners:
            return tuple(elo)
        order = places or [0 if seat in winners else 1 for seat in range(1, len(players) + 1)]
        gains: dict[str, float] = dict.fromkeys(players, 0.0)
        for seat, name in enumerate(players, start=1):
            opponents = [other for other in range(1, len(players) + 1) if players[other - 1] != name]
            for other in opponents:
                mine, theirs = elo[seat - 1], elo[other - 1]
                surplus = _score(order[seat - 1], order[other - 1]) - expected_score(
                    mine - theirs, self.curve
                )
                gains[name] += change_factor(mine, theirs) * surplus / len(opponents)
        return tuple(
            self.fixed[name] if name in self.fixed else before + gains[name]
            for name, before in zip(players, elo, strict=True)
        )


def change_factor(own: float, opponent: float) -> float:
    """LUDAE's C for a player of Elo `own` against one of Elo `opponent`."""
    if own < 2000:
        return 30.0
    if own > 2400:
        return 10.0
    return max(10.0, 130.0 - opponent / 20.0)


def expected_score(difference: float, curve: Curve = Curve.LOGISTIC) -> float:
    """The score, 0 to 1, expected of a player who is `difference` Elo better than the opponent."""
    if curve is Curve.NORMAL:
        return 0.5 * (1.0 + math.erf(difference / 200.0 / math.sqrt(2.0)))
    return 1.0 / (1.0 + math.pow(10.0, -difference / 400.0))


def _score(place: int, other: int) -> float:
    if place == other:
        return 0.5
    return 1.0 if place < other else 0.0
