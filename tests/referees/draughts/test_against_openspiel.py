"""English draughts against OpenSpiel's checkers, in random games."""

import random

import pytest

pytest.importorskip("pyspiel")

from research.against_openspiel import draughts

GAMES = 100


def test_the_same_moves_positions_and_outcomes() -> None:
    results = {draughts.play(random.Random(seed)) for seed in range(GAMES)}
    assert results == {"Black wins", "White wins", "draw"}
