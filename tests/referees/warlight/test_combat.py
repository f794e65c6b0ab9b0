"""Combat: kill rates of 60 and 70 percent, rounding, luck, and the last defender who survives."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referees.warlight.turn import CombatRules, Fight
from tests.referees.warlight.combat_odds import fight_odds

DRAWS = 25_000
# Attackers, defenders: the probability of (attackers left, defenders left) in hundredths, by WarLight's
# published rules without luck. Nobody left to defend means that the attackers have the territory.
VECTORS = [
    (1, 1, {(1, 0): 18, (0, 1): 70, (1, 1): 12}),
    (2, 1, {(1, 0): 70, (2, 0): 30}),
    (2, 2, {(1, 0): 12, (0, 1): 40, (1, 1): 48}),
    (3, 2, {(1, 0): 32, (2, 0): 48, (1, 1): 8, (2, 1): 12}),
    (4, 2, {(2, 0): 40, (3, 0): 60}),
    (3, 3, {(0, 1): 8, (0, 2): 2, (1, 1): 72, (1, 2): 18}),
    (5, 3, {(2, 0): 10, (3, 0): 90}),
    (8, 5, {(4, 0): 40, (5, 0): 40, (4, 1): 10, (5, 1): 10}),
    (9, 5, {(5, 0): 50, (6, 0): 50}),
    (1, 3, {(0, 2): 60, (0, 3): 40}),
    (100, 60, {(58, 0): 100}),
]


def left(attackers: int, defenders: int, fight: Fight) -> tuple[int, int]:
    assert fight.captured == (fight.killed == defenders)
    return attackers - fight.lost, defenders - fight.killed


@pytest.mark.parametrize(("attackers", "defenders", "expected"), VECTORS)
def test_the_odds_are_the_published_ones(
    attackers: int, defenders: int, expected: dict[tuple[int, int], int]
) -> None:
    odds: Counter[tuple[int, int]] = Counter()
    for fight, probability in fight_odds(CombatRules(), attackers, defenders).items():
        odds[left(attackers, defenders, fight)] += probability  # type: ignore[assignment]
    assert odds == {ends: Fraction(hundredths, 100) for ends, hundredths in expected.items()}


@pytest.mark.parametrize(("attackers", "defenders", "expected"), VECTORS)
def test_fights_come_out_as_often_as_the_odds_say(
    attackers: int, defenders: int, expected: dict[tuple[int, int], int]
) -> None:
    chance, rules = random.Random(7), CombatRules()
    seen = Counter(rules.fight(attackers, defenders, chance) for _ in range(DRAWS))
    results = {left(attackers, defenders, fight): count for fight, count in seen.items()}
    assert results.keys() == expected.keys()
    for ends, hundredths in expected.items():
        # Five standard deviations of so few draws are at most 1.6 %; the seed is fixed.
        assert results[ends] / DRAWS == pytest.approx(hundredths / 100, abs=0.016)


@pytest.mark.parametrize(("defenders", "kills"), [(1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (15, 11)])
def test_straight_rounding_rounds_halves_up(defenders: int, kills: int) -> None:
    fight = CombatRules(weighted=False).fight(50, defenders, random.Random(1))
    assert fight.lost == kills


@pytest.mark.parametrize(("attackers", "kills"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4)])
def test_straight_rounding_is_to_the_nearest(attackers: int, kills: int) -> None:
    fight = CombatRules(weighted=False).fight(attackers, 50, random.Random(1))
    assert fight.killed == kills


def test_with_straight_rounding_one_never_takes_one() -> None:
    assert fight_odds(CombatRules(weighted=False), 1, 1) == {Fight(0, 1, False): 1}


def test_with_full_luck_every_army_draws_for_itself() -> None:
    odds = fight_odds(CombatRules(luck=1000), 2, 3)
    kills: Counter[int] = Counter()
    for fight, probability in odds.items():
        kills[fight.killed] += probability  # type: ignore[assignment]
    assert kills == {0: Fraction(16, 100), 1: Fraction(48, 100), 2: Fraction(36, 100)}


@pytest.mark.parametrize("rules", [CombatRules(luck=1000), CombatRules(luck=160, weighted=False)])
def test_with_luck_fights_come_out_as_often_as_the_odds_say(rules: CombatRules) -> None:
    chance = random.Random(7)
    seen = Counter(rules.fight(6, 4, chance) for _ in range(DRAWS))
    odds = fight_odds(rules, 6, 4)
    assert seen.keys() <= odds.keys()
    for fight, probability in odds.items():
        assert seen[fight] / DRAWS == pytest.approx(float(probability), abs=0.016)


@settings(deadline=None)
@given(
    st.integers(1, 12),
    st.integers(0, 12),
    st.sampled_from([CombatRules(luck=luck, weighted=w) for luck in (0, 160, 1000) for w in (True, False)]),
    st.integers(0, 2**32),
)
def test_odds_of_a_fight_sum_to_one(attackers: int, defenders: int, rules: CombatRules, seed: int) -> None:
    odds = fight_odds(rules, attackers, defenders)
    assert sum(odds.values()) == 1
    assert rules.fight(attackers, defenders, random.Random(seed)) in odds
    assert all(fight.lost < attackers or not fight.captured for fight in odds)


@settings(deadline=None)
@given(st.integers(1, 10_000))
def test_whole_expected_numbers_are_never_rounded(tens: int) -> None:
    fight = CombatRules().fight(10 * tens, 20 * tens, random.Random(0))
    assert fight.killed == 6 * tens
