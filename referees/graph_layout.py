"""Graphs, as maps are: the steps between their nodes, and places to draw the nodes at."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import GraphGeometry

_ROUNDS: Final = 150


def reachable(neighbours: Sequence[Sequence[int]], start: int) -> dict[int, int]:
    """The nodes that can be reached from one, with the number of steps to each."""
    steps = {start: 0}
    for at in (queue := [start]):
        for near in neighbours[at]:
            if near not in steps:
                steps[near] = steps[at] + 1
                queue.append(near)
    return steps


def spread(far: NDArray[np.float64], *, rounds: int, lengthwise: bool = False) -> list[tuple[float, float]]:
    """A place for each node, from 0 to 1 to the right and down.

    `far` has the distance wanted for each pair of nodes; more `rounds` come nearer to it. `lengthwise` turns
    the drawing, its longest way from left to right.
    """
    count = len(far)
    if count == 1:
        return [(0.5, 0.5)]
    far = far.copy()
    np.fill_diagonal(far, 1.0)
    weights = far**-2.0
    np.fill_diagonal(weights, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    turns = np.arange(count) * 2.399963  # the golden angle: a start without two equal places
    spots = np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.sqrt(np.arange(1, count + 1))[:, None]
    for _ in range(rounds):
        apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        pull = weights * far / np.maximum(apart, 1e-9)
        spots = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ spots
    if lengthwise:
        spots -= spots.mean(axis=0)
        spots = spots @ np.linalg.svd(spots, full_matrices=False)[2].T
    spots -= spots.min(axis=0)
    spots /= np.maximum(spots.max(axis=0), 1e-9)
    return [(float(right), float(down)) for right, down in spots]


@lru_cache(maxsize=256)
def spread_nodes(
    geometry: GraphGeometry, nodes: tuple[int, ...] | None = None
) -> tuple[tuple[float, float], ...]:
    """Return places for a board's nodes, from 0 to 1 to the right and down, as far apart as there are steps.

    Args:
        geometry: The graph.
        nodes: Some nodes, to be drawn by themselves; None for all.
    """
    shown = tuple(range(geometry.size)) if nodes is None else nodes
    neighbours = _neighbours(geometry)
    size = len(shown)
    far = np.zeros((size, size))
    for row, node in enumerate(shown):
        steps = reachable(neighbours, node)
        # What cannot be reached lies beyond all else.
        beyond = max(steps.values(), default=0) + 1.0
        far[row] = [steps.get(other, beyond) for other in shown]
    return tuple(spread(np.maximum(far, far.T), rounds=_ROUNDS, lengthwise=size > 2))


@lru_cache(maxsize=16)
def _neighbours(geometry: GraphGeometry) -> Sequence[Sequence[int]]:
    neighbours: list[list[int]] = [[] for _ in geometry.nodes]
    for first, second in geometry.edges:
        neighbours[first].append(second)
        neighbours[second].append(first)
    return neighbours
