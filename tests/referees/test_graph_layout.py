"""Graphs laid out in the plane by the distances wanted between their nodes."""

from math import dist

import numpy as np
import pytest
from numpy.typing import NDArray

from referees.graph_layout import reachable, spread


@pytest.mark.parametrize("count", [1, 2, 5])
def test_nodes_equally_far_from_each_other_have_places_of_their_own(count: int) -> None:
    spots = spread(np.full((count, count), float(count)), rounds=120, lengthwise=True)
    assert len(set(spots)) == count
    assert all(0 <= right <= 1 and 0 <= down <= 1 for right, down in spots)


def row(*places: float) -> NDArray[np.float64]:
    far: NDArray[np.float64] = np.abs(np.subtract.outer(places, places))
    return far


def test_linked_nodes_are_near() -> None:
    spots = spread(row(3, 0, 1, 4, 2), rounds=60)
    assert sorted(range(5), key=lambda node: dist(spots[node], spots[1])) == [1, 2, 4, 0, 3]


def test_the_longest_way_goes_from_left_to_right() -> None:
    spots = spread(row(3, 0, 1, 4, 2), rounds=120, lengthwise=True)
    order = sorted(range(5), key=lambda node: spots[node][0])
    assert order in ([1, 2, 4, 0, 3], [3, 0, 4, 2, 1])
    assert [spots[node][0] for node in order] == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=0.02)


def test_steps_are_counted_as_far_as_ways_lead() -> None:
    assert reachable([[1], [0, 2], [1], []], 0) == {0: 0, 1: 1, 2: 2}
