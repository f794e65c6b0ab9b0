"""Positions read from observations are those that the observations were made of."""

import random

from referees.diplomacy.deepmind import DiplomacyState
from referees.diplomacy.deepmind.observation import position_of
from referees.diplomacy.position import Phase
from tests.referees.diplomacy.deepmind.random_actions import random_actions


def test_every_position_of_random_games_is_read_back() -> None:
    chance = random.Random(9)
    seen = set()
    for _ in range(4):
        state = DiplomacyState()
        while state.position.year < 1912 and not state.is_terminal():
            position = state.position
            assert position_of(state.observation(), state.legal_actions(), position.year) == position
            seen.add((position.phase, bool(position.dislodged)))
            state.step(random_actions(state, chance))
    assert seen == {(Phase.MOVES, False), (Phase.RETREATS, True), (Phase.BUILDS, False)}
