"""Books of a game's opening tree, and which of its nodes a reader may see."""

import math
from collections import OrderedDict
from functools import partial
from typing import Final

from academy.knowledge.book import Book, OwnValues
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree
from academy.knowledge.votes import ELO_SCALE

# A game's readers of very different strength; each takes up to 200 kB.
_BOOKS_REMEMBERED: Final = 4


class Books:
    """The books of an opening tree, kept from answer to answer: one for each bound on what readers accept."""

    def __init__(self) -> None:
        self._own = OwnValues()
        self._books: OrderedDict[int | None, Book] = OrderedDict()
        # A tree, how often it had followed, and the greatest bound at which all of it was accepted then.
        self._whole: tuple[OpeningTree, int, float] | None = None

    def of(self, tree: OpeningTree, least: int | None) -> Book:
        """Return the book of a tree for readers who accept nodes of more Elo than `least`, in hundredths.

        None: all nodes.
        """
        if len(self._own) > 2 * len(tree.nodes):
            # Most of them have left the tree.
            self._own.forget()
        if least is not None and least <= self._greatest_bound(tree):
            # Ratings change with each contest, and mostly nothing follows for what is accepted.
            least = None
        book = self._books.pop(least, None)
        if book is None or book.tree is not tree:
            book = Book(tree, partial(accepts, least=least), self._own)
        self._books[least] = book
        while len(self._books) > _BOOKS_REMEMBERED:
            self._books.popitem(last=False)
        return book

    def _greatest_bound(self, tree: OpeningTree) -> float:
        """Return the greatest bound at which readers accept all of a tree's nodes."""
        if self._whole is None or self._whole[:2] != (tree, tree.followed):
            bounds = (_greatest_bound(node) for node in tree.nodes.values() if node.node_id != ROOT)
            self._whole = tree, tree.followed, min(bounds, default=math.inf)
        return self._whole[2]


def least_hundredths(least_elo: float | None) -> int | None:
    """The bound on what a reader accepts, for `accepts`."""
    # As floats 365.13 - 165.13 may be more or less than 200.
    return None if least_elo is None else round(least_elo * ELO_SCALE)


def accepts(node: OpeningNode, least: int | None) -> bool:
    """Whether a reader with this bound may see a node."""
    # No player moved to the first position: it has no Elo.
    return least is None or node.node_id == ROOT or node.elo_hundredths > least * node.visits


def _greatest_bound(node: OpeningNode) -> float:
    """The greatest bound for which `accepts` has a node that is not the root."""
    return (node.elo_hundredths - 1) // node.visits if node.visits else -math.inf
