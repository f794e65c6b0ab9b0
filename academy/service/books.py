"""Books of a game's opening tree, and which of its nodes a reader may see."""

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from academy.knowledge.book import Book, OwnValues
from academy.knowledge.fair_use import FairUse
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree
from academy.knowledge.votes import ELO_SCALE

# A game's readers of different strength; each takes up to 200 kB.
_BOOKS_REMEMBERED: Final = 8
# What players this much stronger than the reader played counts in the reader's book from the first visit on.
# Readers whose Elo differs by less than a step share a book.
_STRONGER: Final = 100 * ELO_SCALE
_STEP: Final = 50 * ELO_SCALE


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a book.

    Attributes:
        least: The Elo, in hundredths, that players of a node must exceed for the reader to see it; None: any.
        trusted: The Elo, in hundredths, from which on players' moves count whatever their visits; None: none.
    """

    least: int | None = None
    trusted: int | None = None

    @classmethod
    def of(cls, elo: float | None, rules: FairUse) -> "Reader":
        """Return the reader of an Elo under rules; one who sees all and trusts nobody where it has none."""
        if elo is None:
            return cls()
        # As floats 365.13 - 165.13 may be more or less than 200.
        least, own = round(rules.least_elo(elo) * ELO_SCALE), round(elo * ELO_SCALE)
        return cls(least, (own + _STRONGER) // _STEP * _STEP)

    def accepts(self, node: OpeningNode) -> bool:
        """Whether the reader may see a node."""
        # No player moved to the first position: it has no Elo.
        return self.least is None or node.node_id == ROOT or node.elo_hundredths > self.least * node.visits

    def trusts(self, node: OpeningNode) -> bool:
        """Whether a move counts in the reader's book though few players made it."""
        if self.trusted is None or not node.visits:
            return False
        return node.elo_hundredths >= self.trusted * node.visits


class Books:
    """The books of an opening tree, kept from answer to answer: one for each kind of reader."""

    def __init__(self) -> None:
        self._own = OwnValues()
        self._books: OrderedDict[Reader, Book] = OrderedDict()
        # A tree, how often it had followed, and between which Elo all of its nodes were then.
        self._whole: tuple[OpeningTree, int, tuple[float, float]] | None = None

    def of(self, tree: OpeningTree, reader: Reader) -> Book:
        """Return the book of a tree for a reader."""
        if len(self._own) > 2 * len(tree.nodes):
            # Most of them have left the tree.
            self._own.forget()
        # Ratings change with each contest, and mostly nothing follows for what is accepted or trusted.
        lowest, highest = self._bounds(tree)
        if reader.least is not None and reader.least <= lowest:
            reader = replace(reader, least=None)
        if reader.trusted is not None and reader.trusted > highest:
            reader = replace(reader, trusted=None)
        book = self._books.pop(reader, None)
        if book is None or book.tree is not tree:
            book = Book(tree, reader.accepts, reader.trusts, self._own)
        self._books[reader] = book
        while len(self._books) > _BOOKS_REMEMBERED:
            self._books.popitem(last=False)
        return book

    def _bounds(self, tree: OpeningTree) -> tuple[float, float]:
        """Return the greatest bound at which readers accept all nodes, and the greatest Elo of a node."""
        if self._whole is None or self._whole[:2] != (tree, tree.followed):
            nodes = [node for node in tree.nodes.values() if node.node_id != ROOT]
            lowest = min(map(_greatest_bound, nodes), default=math.inf)
            highest = max((node.elo * ELO_SCALE for node in nodes), default=-math.inf)
            self._whole = tree, tree.followed, (lowest, highest)
        return self._whole[2]


def _greatest_bound(node: OpeningNode) -> float:
    """The greatest bound at which readers accept a node that is not the root."""
    return (node.elo_hundredths - 1) // node.visits if node.visits else -math.inf
