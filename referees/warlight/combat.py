"""Combat: how many armies an attack kills and loses, and with what probability.

Of `a` attackers on `d` defenders each attacker kills with the offence rate and each defender with the
defence rate, once and at the same time; a luck modifier L mixes the expected number with a draw:

    kills  = round(rate * a * (1 - L) + binomial(a, rate) * L), at most d

and losses likewise. If nobody were left, one defender survives. These are WarLight's rules
(https://www.warzone.com/wiki/Combat_Basics, https://www.warzone.com/wiki/Luck_Modifier).
"""

import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final, NamedTuple

# Rates and luck are whole thousandths: 0.6 * 5 is 3, and no rounding of floats decides a fight.
UNIT: Final = 1000
_WHOLE: Final = UNIT * UNIT


class Fight(NamedTuple):
    """What an attack did: armies killed and lost, and whether the territory fell."""

    killed: int
    lost: int
    captured: bool


@dataclass(frozen=True)
class CombatRules:
    """Rates at which attackers and defenders kill, and luck, in thousandths; and how numbers are rounded.

    With `weighted` rounding the fraction is the probability of rounding up; without it numbers are
    rounded to the nearest, halves up.
    """

    offence: int = 600
    defence: int = 700
    luck: int = 0
    weighted: bool = True

    def fight(self, attackers: int, defenders: int, chance: random.Random) -> Fight:
        """Fight once."""
        return _settled(
            attackers,
            defenders,
            self._kills(self.offence, attackers, chance),
            self._kills(self.defence, defenders, chance),
        )

    def _kills(self, rate: int, armies: int, chance: random.Random) -> int:
        parts = rate * armies * (UNIT - self.luck)
        if self.luck:
            hits = sum([chance.random() * UNIT < rate for _ in range(armies)])
            parts += hits * UNIT * self.luck
        whole, rest = divmod(parts, _WHOLE)
        if not rest:
            return whole
        if self.weighted:
            return whole + (chance.random() * _WHOLE < rest)
        return whole + (2 * rest >= _WHOLE)

    def odds(self, attackers: int, defenders: int) -> dict[Fight, Fraction]:
        """All that can come of a fight, each with its probability."""
        found: dict[Fight, Fraction] = defaultdict(Fraction)
        losses = self._kill_odds(self.defence, defenders)
        for kills, first in self._kill_odds(self.offence, attackers).items():
            for lost, second in losses.items():
                found[_settled(attackers, defenders, kills, lost)] += first * second
        return dict(found)

    def _kill_odds(self, rate: int, armies: int) -> dict[int, Fraction]:
        found: dict[int, Fraction] = defaultdict(Fraction)
        share = Fraction(rate, UNIT)
        for hits in range(armies + 1) if self.luck else (0,):
            weight = comb(armies, hits) * share**hits * (1 - share) ** (armies - hits)
            parts = rate * armies * (UNIT - self.luck) + hits * UNIT * self.luck
            whole, rest = divmod(parts, _WHOLE)
            up = Fraction(rest, _WHOLE) if self.weighted else Fraction(int(2 * rest >= _WHOLE))
            for kills, part in ((whole, 1 - up), (whole + 1, up)):
                if part:
                    found[kills] += part * (weight if self.luck else 1)
        return dict(found)


def _settled(attackers: int, defenders: int, killed: int, lost: int) -> Fight:
    killed, lost = min(killed, defenders), min(lost, attackers)
    if killed == defenders and lost == attackers:
        killed -= 1
    return Fight(killed, lost, killed == defenders)
