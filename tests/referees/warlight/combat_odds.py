"""All that can come of a fight, each with its probability, by the rules' text."""

from collections import defaultdict
from fractions import Fraction
from math import comb

from referees.warlight.turn import UNIT, CombatRules, Fight


def fight_odds(rules: CombatRules, attackers: int, defenders: int) -> dict[Fight, Fraction]:
    chances: dict[Fight, Fraction] = defaultdict(Fraction)
    losses = _kill_odds(rules, rules.defence, defenders)
    for kills, first in _kill_odds(rules, rules.offence, attackers).items():
        for lost, second in losses.items():
            killed, dead = min(kills, defenders), min(lost, attackers)
            # The last defender survives where the last attacker falls.
            killed -= killed == defenders and dead == attackers
            chances[Fight(killed, dead, killed == defenders)] += first * second
    return dict(chances)


def _kill_odds(rules: CombatRules, rate: int, armies: int) -> dict[int, Fraction]:
    chances: dict[int, Fraction] = defaultdict(Fraction)
    share, luck = Fraction(rate, UNIT), Fraction(rules.luck, UNIT)
    for hits in range(armies + 1) if luck else (0,):
        weight = comb(armies, hits) * share**hits * (1 - share) ** (armies - hits) if luck else Fraction(1)
        whole, rest = divmod(share * armies * (1 - luck) + hits * luck, 1)
        up = rest if rules.weighted else Fraction(int(2 * rest >= 1))
        for kills, part in ((int(whole), 1 - up), (int(whole) + 1, up)):
            if part:
                chances[kills] += part * weight
    return dict(chances)
