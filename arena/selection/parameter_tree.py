"""The tree of the Monte Carlo tuner: ever smaller parts of the parameters' ranges, and their results.

The formulas are those of Gomill's tuner. A node stands for a cuboid within the unit cuboid; its children
tile it, every side k being cut into split_k equal parts, the last side's index counting fastest. All nodes
start with V0 visits and W0 wins. Among children, a node's is chosen whose

    w / g + E * sqrt(ln(g_p) / g)

is greatest, g and w being its visits and wins, g_p the visits of the node itself.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.control.plans import MonteCarloPlan

Path = tuple[int, ...]
"""Places of children, from the root down."""


@dataclass
class Node:
    """A part of the ranges; `children` are empty until it is expanded."""

    visits: float
    wins: float
    children: list["Node"] = field(default_factory=list)


class ParameterTree:
    """The search tree of a Monte Carlo tuner."""

    def __init__(self, plan: MonteCarloPlan) -> None:
        self._splits: Final = tuple(parameter.split for parameter in plan.parameters)
        self._width: Final = math.prod(self._splits)
        self._plan = plan
        self.root = self._node()
        self._expand(self.root)

    def choose(self, chance: random.Random) -> Path:
        """Walk to the leaf to try next; leaves that were tried before are expanded, down to the depth."""
        path: list[int] = []
        node = self.root
        while node.children:
            place = self._best(node, chance)
            path.append(place)
            node = node.children[place]
            tried = node.visits != self._plan.initial_visits
            if not node.children and tried and len(path) < self._plan.max_depth:
                self._expand(node)
        return tuple(path)

    def take(self, path: Path, points: float) -> None:
        """Take in a result: one more visit and the points for the root and every node of the path."""
        for node in self._nodes(path):
            node.visits += 1
            node.wins += points

    def known(self, path: Path) -> bool:
        """Whether there can be such a path in this tree."""
        return 1 <= len(path) <= self._plan.max_depth and all(0 <= place < self._width for place in path)

    def centre(self, path: Path) -> tuple[float, ...]:
        """The middle of a node's cuboid, from 0 to 1 in every dimension."""
        lows, breadths = [0.0] * len(self._splits), [1.0] * len(self._splits)
        for digits in self.coordinates(path):
            for dimension, digit in enumerate(digits):
                breadths[dimension] /= self._splits[dimension]
                lows[dimension] += digit * breadths[dimension]
        return tuple(low + breadth / 2 for low, breadth in zip(lows, breadths, strict=True))

    def coordinates(self, path: Path) -> list[tuple[int, ...]]:
        """For every level the part chosen in each dimension."""
        levels = []
        for place in path:
            digits = []
            for split in reversed(self._splits):
                place, digit = divmod(place, split)
                digits.append(digit)
            levels.append(tuple(reversed(digits)))
        return levels

    def best(self) -> Path:
        """From the root down the child with the most wins, the first among equals."""
        path: list[int] = []
        node = self.root
        while node.children:
            place = max(range(self._width), key=lambda place: node.children[place].wins)
            path.append(place)
            node = node.children[place]
        return tuple(path)

    def tried(self, depth: int) -> list[tuple[Path, Node]]:
        """All nodes of a depth that were tried, the most visited first."""
        found = [
            (path, node) for path, node in self._at_depth(depth) if node.visits > self._plan.initial_visits
        ]
        return sorted(found, key=lambda item: (-item[1].visits, item[0]))

    def _at_depth(self, depth: int) -> Iterator[tuple[Path, Node]]:
        level: list[tuple[Path, Node]] = [((), self.root)]
        for _ in range(depth):
            level = [
                ((*path, place), child) for path, node in level for place, child in enumerate(node.children)
            ]
        yield from level

    def _node(self) -> Node:
        return Node(self._plan.initial_visits, self._plan.initial_wins)

    def _expand(self, node: Node) -> None:
        node.children = [self._node() for _ in range(self._width)]

    def _nodes(self, path: Sequence[int]) -> Iterator[Node]:
        node = self.root
        yield node
        for place in path:
            if not node.children:
                self._expand(node)
            node = node.children[place]
            yield node

    def _best(self, parent: Node, chance: random.Random) -> int:
        # A rotation settles equal values without favouring the first.
        start = chance.randrange(self._width)
        logarithm = math.log(parent.visits)
        best, best_value = start, -math.inf
        for step in range(self._width):
            place = (start + step) % self._width
            child = parent.children[place]
            value = child.wins / child.visits
            value += self._plan.exploration * math.sqrt(logarithm / child.visits)
            if value > best_value:
                best, best_value = place, value
        return best
