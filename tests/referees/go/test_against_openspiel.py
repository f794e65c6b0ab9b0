"""Go against OpenSpiel's, in random games: the same legal moves, boards and winners."""

import random

import pytest

pytest.importorskip("pyspiel")

from research.against_openspiel import go


@pytest.mark.parametrize(("size", "games"), [(2, 100), (3, 100), (5, 60), (9, 20)])
def test_the_same_moves_boards_and_winners(size: int, games: int) -> None:
    judge = go.judge(size)
    results = {go.play(judge, random.Random(seed)) for seed in range(games)}
    assert {"Black wins", "White wins"} <= results
    # The smallest boards soon come to one that stood before.
    assert ("repetition" in results) == (size < 5)
