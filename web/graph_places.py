"""Places to draw the nodes of a map at, made once for each map."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from academy.knowledge.boards import GraphGeometry
from referees.graph_layout import reachable, spread

__all__ = ["MOST_DRAWN", "Place", "places_of"]

Place = tuple[float, float]
# A map with more nodes would take seconds, and nobody could read it.
MOST_DRAWN: Final = 300
_ROUNDS: Final = 150


@lru_cache(maxsize=256)
def places_of(geometry: GraphGeometry, nodes: tuple[int, ...] | None = None) -> tuple[Place, ...] | None:
    """Return where to draw nodes, from 0 to 1 to the right and down.

    Args:
        geometry: The map.
        nodes: Some nodes, to be drawn by themselves; None for all.

    Returns:
        A place for each node; None where there are too many to draw.
    """
    shown = tuple(range(geometry.size)) if nodes is None else nodes
    if len(shown) > MOST_DRAWN or geometry.size > 4 * MOST_DRAWN:
        return None
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
