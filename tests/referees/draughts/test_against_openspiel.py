"""English draughts against OpenSpiel's checkers, in random games."""

import random

import pytest

pytest.importorskip("pyspiel")

from research.against_openspiel import draughts

GAMES = 75


@pytest.mark.parametrize("batch", range(4))
def test_the_same_moves_positions_and_outcomes(batch: int) -> None:
    seeds = range(batch * GAMES, (batch + 1) * GAMES)
    results = {draughts.play(random.Random(seed)) for seed in seeds}
    assert results == {"Black wins", "White wins", "draw"}
