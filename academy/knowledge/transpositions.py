"""Other orders of a line's moves that an opening tree has.

The tree keeps moves, no boards: whether another order leads to the same position, only the rules of the game
can say (a capture may depend on the order).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree

__all__ = ["Transposition", "find_transpositions"]

# Steps from node to node, for all images together. A tree of a thousand nodes has far fewer that fit a line.
_MOST_STEPS: Final = 2_000
_MOST_FOUND: Final = 8
# Before the third move nobody can have moved twice.
_LEAST_MOVES: Final = 3


@dataclass(frozen=True, slots=True)
class Transposition:
    """The moves of a line in another order.

    Attributes:
        moves: The moves, spelt as in the line.
        node: The node that they lead to.
    """

    moves: tuple[str, ...]
    node: OpeningNode


def find_transpositions(tree: OpeningTree, moves: Sequence[str]) -> list[Transposition]:
    """Find the nodes that are reached by the same moves of the same players in another order.

    Args:
        tree: The tree. In games of simultaneous moves there are no such orders.
        moves: The line, in any symmetric image; the tree need not have it.

    Returns:
        At most 8 of those found within a bounded search, the most visited first.
    """
    if tree.spec.simultaneous or not _LEAST_MOVES <= len(moves) <= tree.depth:
        return []
    movers = tree.movers(moves)
    own = tree.find(moves)
    orders: dict[int, Transposition] = {}
    steps = iter(range(_MOST_STEPS))
    for image in dict.fromkeys(tree.spec.move_images(moves)):
        spelt = dict(zip(image, moves, strict=True))
        for node in _find_nodes(tree, Counter(zip(movers, image, strict=True)), steps):
            line = tuple(spelt[move] for move in _line_to(tree, node))
            if node is not own and node.node_id not in orders:
                orders[node.node_id] = Transposition(line, node)
    by_visits = sorted(orders.values(), key=lambda other: (-other.node.visits, other.moves))
    return by_visits[:_MOST_FOUND]


def _line_to(tree: OpeningTree, node: OpeningNode) -> list[str]:
    line = []
    while node.node_id != ROOT:
        line.append(node.move)
        node = tree.nodes[node.parent_id]
    return line[::-1]


def _find_nodes(
    tree: OpeningTree, wanted: Mapping[tuple[int, str], int], steps: Iterator[int]
) -> Iterator[OpeningNode]:
    """Yield the nodes that take up all the moves, each by its player, as long as there are `steps`."""
    depth = sum(wanted.values())
    waiting = [(tree.root, dict(wanted))]
    while waiting and next(steps, None) is not None:
        node, left = waiting.pop()
        if node.depth == depth:
            yield node
            continue
        for child in tree.children(node.node_id):
            move = child.mover, child.move
            if left.get(move):
                waiting.append((child, left | {move: left[move] - 1}))
