"""Actions drawn at random."""

import random

from referees.diplomacy.deepmind import DiplomacyState, OrderCode, parts


def random_actions(state: DiplomacyState, chance: random.Random) -> list[list[int]]:
    """A legal action for each unit, or as many builds and removals as are due, sometimes waived."""
    seen = state.observation()
    chosen: list[list[int]] = []
    for power, legal in enumerate(state.legal_actions()):
        by_province: dict[int, list[int]] = {}
        for action in legal:
            if parts(action).code is not OrderCode.WAIVE:
                by_province.setdefault(parts(action).province, []).append(action)
        picked = [chance.choice(choices) for choices in by_province.values()]
        if seen.season.is_builds():
            number = int(seen.build_numbers[power])
            picked = chance.sample(picked, abs(number))
            if number > 0 and chance.random() < 0.2:
                picked[-1] = 0x000300000000000D
        chosen.append(picked)
    return chosen
