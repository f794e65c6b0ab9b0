"""Places for the nodes of a graph: as far from each other as there are steps between them.

Stress majorisation (Gansner, Koren and North, "Graph Drawing by Stress Majorization", 2004).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from referees.diplomacy.tessellation import Point

_ROUNDS: Final = 120


def spread(neighbours: Sequence[Sequence[int]]) -> list[Point]:
    """A place from 0 to 1 both ways for each node, by the numbers of its neighbours."""
    count = len(neighbours)
    if count == 1:
        return [(0.5, 0.5)]
    far = np.array([_steps(neighbours, start) for start in range(count)], dtype=float)
    np.fill_diagonal(far, 1.0)
    weights = far**-2.0
    np.fill_diagonal(weights, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    turns = np.arange(count) * 2.399963  # the golden angle: a start without two equal places
    spots = np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.sqrt(np.arange(1, count + 1))[:, None]
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        pull = weights * far / np.maximum(apart, 1e-9)
        spots = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ spots
    # Along its longest way, from left to right.
    spots -= spots.mean(axis=0)
    spots = spots @ np.linalg.svd(spots, full_matrices=False)[2].T
    spots -= spots.min(axis=0)
    spots /= np.maximum(spots.max(axis=0), 1e-9)
    return [(float(right), float(down)) for right, down in spots]


def _steps(neighbours: Sequence[Sequence[int]], start: int) -> list[int]:
    """How many steps each node is from one; as many as there are nodes where no way leads."""
    found = [len(neighbours)] * len(neighbours)
    found[start], fresh, steps = 0, [start], 0
    while fresh:
        steps += 1
        fresh = sorted(
            {near for node in fresh for near in neighbours[node] if found[near] == len(neighbours)}
        )
        for node in fresh:
            found[node] = steps
    return found
