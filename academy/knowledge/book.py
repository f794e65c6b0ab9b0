"""The opening tree as a book: which known move is best in a position, and what it promises its mover.

A node's own value is the mean of its results and of the values that players stated, with `PRIOR_VISITS` even
results added. The value of the best reply stands against it, and is believed the more, the more
often that reply was played. Moves are compared by what is left of their value after a deduction for few
visits. All figures come from the tree alone, by operations that
every machine rounds alike.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from academy.knowledge.openings import OpeningNode, OpeningTree
from academy.knowledge.votes import VALUE_SCALE

__all__ = ["FEWEST_VISITS", "PRIOR_VISITS", "Book", "Recommendation"]

# A move of fewer visits is not recommended, nor is it held to be a reply worth fearing.
FEWEST_VISITS: Final = 4
# As many even results are added to a node's own, and as many visits let a reply count half.
PRIOR_VISITS: Final = 6.0
# What a move of one visit would lose in a comparison, of the whole point; of more visits, by their root.
CAUTION: Final = 0.5


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The move that a book would play.

    Attributes:
        node: Where the move leads.
        value: What its mover may expect then, from 0.0 to 1.0, the known replies considered.
    """

    node: OpeningNode
    value: float


class Book:
    """What the tree, as it is now, recommends to one reader; positions are looked into on demand.

    Args:
        tree: The opening tree. It must not change while the book is in use.
        accepts: Whether a node may be used; others are as if they were not there.
    """

    def __init__(self, tree: OpeningTree, accepts: Callable[[OpeningNode], bool] = lambda node: True) -> None:
        self._tree = tree
        self._accepts = accepts
        # By node: each player's value with the replies considered; and the move to play there.
        self._values: dict[int, tuple[float, ...]] = {}
        self._best: dict[int, OpeningNode] = {}

    def recommend(self, node: OpeningNode) -> Recommendation | None:
        """Return the move to play after a node; None where no known move has been tried often enough.

        Args:
            node: The node of the position.
        """
        self._look_into(node)
        best = self._best.get(node.node_id)
        return None if best is None else Recommendation(best, self._values[best.node_id][best.mover - 1])

    def _look_into(self, node: OpeningNode) -> None:
        """Find the values of a node and of all below it that count."""
        if node.node_id in self._values:
            return
        below = [node]
        replies: dict[int, list[OpeningNode]] = {}
        for position in below:
            replies[position.node_id] = known = [
                child
                for child in self._tree.children(position.node_id)
                if child.visits >= FEWEST_VISITS and self._accepts(child)
            ]
            below += known
        for position in reversed(below):
            self._evaluate(position, replies[position.node_id])

    def _evaluate(self, node: OpeningNode, replies: list[OpeningNode]) -> None:
        own = _own_values(node)
        if not replies:
            self._values[node.node_id] = own
            return
        best = max(replies, key=self._promise)
        self._best[node.node_id] = best
        trust = best.visits / (best.visits + PRIOR_VISITS)
        after = self._values[best.node_id]
        self._values[node.node_id] = tuple(
            round(trust * backed + (1.0 - trust) * mean, 6) for backed, mean in zip(after, own, strict=True)
        )

    def _promise(self, reply: OpeningNode) -> tuple[float, int, int]:
        value = self._values[reply.node_id][reply.mover - 1] - CAUTION / math.sqrt(reply.visits)
        return (round(value, 6), reply.visits, -reply.node_id)


def _own_values(node: OpeningNode) -> tuple[float, ...]:
    """Return each player's mean of results and stated values, drawn towards an even share."""
    even = PRIOR_VISITS / len(node.wins)
    return tuple(
        round(((wins + draws / 2 + stated / VALUE_SCALE) / 2 + even) / (node.visits + PRIOR_VISITS), 6)
        for wins, draws, stated in zip(node.wins, node.draws, node.value_millionths, strict=True)
    )
