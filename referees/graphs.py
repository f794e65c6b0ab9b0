"""Graphs, as maps are: nodes from 0, and the neighbours of each."""

from collections.abc import Sequence


def reachable(neighbours: Sequence[Sequence[int]], start: int) -> dict[int, int]:
    """The nodes that can be reached from one, with the number of steps to each."""
    steps = {start: 0}
    for at in (queue := [start]):
        for near in neighbours[at]:
            if near not in steps:
                steps[near] = steps[at] + 1
                queue.append(near)
    return steps
