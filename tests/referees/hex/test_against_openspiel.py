"""Random games go in OpenSpiel's Hex as in ours: the same legal moves, boards and outcomes."""

import random

import pytest

pytest.importorskip("pyspiel")

from referees.hex import Hex
from research.against_openspiel import hex


@pytest.mark.parametrize(
    ("settings", "games"),
    [
        ({"board_size": 2}, 50),
        ({"board_size": 3, "swap": True}, 200),
        ({"board_size": 5, "swap": True}, 200),
        ({"board_size": 4, "columns": 7}, 100),
        ({"board_size": 7}, 50),
        ({"board_size": 11, "swap": True}, 50),
    ],
)
def test_random_games_agree_with_openspiel(settings: dict[str, object], games: int) -> None:
    judge = Hex.from_settings(settings)
    results = {hex.play(judge, random.Random(seed)) for seed in range(games)}
    assert results == {"B+", "W+"}
