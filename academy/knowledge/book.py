"""The opening tree as a book: which known move is best in a position, and what it promises its mover.

A node's own value is the mean of its results and of the values that players stated, with some even results
added: `PRIOR_VISITS`, or one for each reply in the tree where these are more. What an analyst's search
found counts as up to 30 more, by its effort. The value of the best reply stands against it, and counts half
where it was played as often as there are even results, more where it was played more. So a book of many
replies that few players tried believes little of the best one, which owes its place to chance above all.
Moves are compared by what is left of their value after a deduction for few visits. What few contests played
is not compared at all, unless the reader trusts its players: a much stronger player's choice is better than
one's own. All figures come from the tree alone, in whole millionths, so that every machine has the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Final

from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import OpeningTree
from academy.knowledge.votes import VALUE_SCALE

__all__ = ["FEWEST_VISITS", "PRIOR_VISITS", "Book", "OwnValues", "Recommendation"]

# A move of fewer visits is not recommended, nor held to be a reply worth fearing, unless somebody analysed it
# or the reader trusts those who played it.
FEWEST_VISITS: Final = 4
# The least number of even results that are added to a node's own.
PRIOR_VISITS: Final = 6
# What a move of one visit would lose in a comparison, in millionths; of more visits, by their root.
CAUTION: Final = VALUE_SCALE // 2


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The move that a book would play.

    Attributes:
        node: Where the move leads.
        value: What its mover may expect then, from 0.0 to 1.0, the known replies considered.
    """

    node: OpeningNode
    value: float


class OwnValues:
    """Each player's own value of a tree's nodes in millionths, remembered while a node stays as it is."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[OpeningNode, int, tuple[int, ...]]] = {}

    def of(self, node: OpeningNode, even_results: int = PRIOR_VISITS) -> tuple[int, ...]:
        """Return each player's mean of results, stated values and the analysis, drawn towards an even share.

        Args:
            node: The node.
            even_results: How many even results are added.
        """
        known = self._known.get(node.node_id)
        # A node that changes is another object.
        if known is not None and known[0] is node and known[1] == even_results:
            return known[2]
        values = _own_values(node, even_results)
        self._known[node.node_id] = node, even_results, values
        return values

    def forget(self) -> None:
        """Forget all nodes, those that have left the tree among them."""
        self._known.clear()

    def __len__(self) -> int:
        return len(self._known)


class Book:
    """What the tree, as it is now, recommends to one reader; positions are looked into on demand.

    Args:
        tree: The opening tree. While the book is in use it may change by `follow` alone: then only the lines
            that changed are looked into again.
        accepts: Whether a node may be used; others are ignored.
        trusts: Whether a node counts however few visits it has.
        own: The nodes' own values, where they are remembered from one book to the next.
    """

    def __init__(
        self,
        tree: OpeningTree,
        accepts: Callable[[OpeningNode], bool] = lambda node: True,
        trusts: Callable[[OpeningNode], bool] = lambda node: False,
        own: OwnValues | None = None,
    ) -> None:
        self.tree = tree
        self.accepts = accepts
        self._trusts = trusts
        self._own = OwnValues() if own is None else own
        # By node, in millionths: each player's value with the replies considered; and the move to play there.
        self._values: dict[int, tuple[int, ...]] = {}
        self._best: dict[int, OpeningNode] = {}
        # How often the tree had followed when the value was found.
        self._found: dict[int, int] = {}

    def recommend(self, node: OpeningNode) -> Recommendation | None:
        """Return the move to play after a node; None where no known move counts.

        Args:
            node: The node of the position.
        """
        self._look_into(node)
        best = self._best.get(node.node_id)
        if best is None:
            return None
        return Recommendation(best, self._values[best.node_id][best.mover - 1] / VALUE_SCALE)

    def _look_into(self, node: OpeningNode) -> None:
        """Find the values of a node and of all below it that count."""
        if len(self._values) > 2 * len(self.tree.nodes):
            # Most of them have left the tree.
            self._values.clear()
            self._best.clear()
            self._found.clear()
        if self._is_known(node):
            return
        below, to_evaluate = [node], []
        for position in below:
            replies = list(filter(self.accepts, self.tree.children(position.node_id)))
            known = [reply for reply in replies if self._counts(reply)]
            to_evaluate.append((position, known, max(PRIOR_VISITS, len(replies))))
            below += [reply for reply in known if not self._is_known(reply)]
        for position, known, even_results in reversed(to_evaluate):
            self._evaluate(position, known, even_results)

    def _counts(self, reply: OpeningNode) -> bool:
        return reply.visits >= FEWEST_VISITS or reply.analysis is not None or self._trusts(reply)

    def _is_known(self, node: OpeningNode) -> bool:
        return self._found.get(node.node_id, -1) >= self.tree.last_change(node.node_id)

    def _evaluate(self, node: OpeningNode, replies: list[OpeningNode], even_results: int) -> None:
        own = self._own.of(node, even_results)
        self._found[node.node_id] = self.tree.followed
        if not replies:
            self._values[node.node_id] = own
            self._best.pop(node.node_id, None)
            return
        best = min(replies, key=self._rank)
        self._best[node.node_id] = best
        # A search of the node has looked at its replies, too.
        trust = even_results if node.analysis is not None else best.visits
        most = trust + even_results
        self._values[node.node_id] = tuple(
            [
                (trust * backed + even_results * mean + most // 2) // most
                for backed, mean in zip(self._values[best.node_id], own, strict=True)
            ]
        )

    def _rank(self, reply: OpeningNode) -> tuple[int, int, str]:
        """Return what puts the best reply first; of equals that which was played more, then by its name."""
        visits = reply.visits if reply.analysis is None else reply.visits + reply.analysis.visits
        value = self._values[reply.node_id][reply.mover - 1] - isqrt(CAUTION * CAUTION // visits)
        return (-value, -reply.visits, reply.move)


def _own_values(node: OpeningNode, even_results: int) -> tuple[int, ...]:
    visits, players = node.visits + even_results, len(node.wins)
    # In quarters of a millionth: the result counts half of a visit, and a draw is half a win.
    even = 4 * even_results * VALUE_SCALE // players
    sums = [
        (2 * wins + draws) * VALUE_SCALE + 2 * stated + even
        for wins, draws, stated in zip(node.wins, node.draws, node.value_millionths, strict=True)
    ]
    if node.analysis is not None:
        searches = node.analysis.visits
        visits += searches
        searched = node.analysis.value_millionths
        # Only games of two are analysed.
        of_players = [searched, VALUE_SCALE - searched]
        if node.mover != 1:
            of_players.reverse()
        sums = [total + 4 * searches * value for total, value in zip(sums, of_players, strict=True)]
    return tuple([(total + 2 * visits) // (4 * visits) for total in sums])
