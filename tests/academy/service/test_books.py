"""Readers of every strength get the book of what they may see, and those who may see all share one."""

from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import LibrarySettings
from academy.service.books import Books, accepts
from tests.academy.knowledge.games import DRAUGHTS, LOSS, WIN, contest


def taught(tree: OpeningTree, elo: float, fresh: int) -> int:
    """Have a tree learn one contest of players of an Elo; return the next node's number."""
    report = contest(["11-15", "23-19"], (WIN, LOSS), elos=[elo, elo], names=["a", "b"])
    return tree.learn(report, fresh, 60.0, LibrarySettings(prune_below=0.0))


def test_readers_who_may_see_all_share_one_book_until_a_contest_leaves_something_that_they_may_not() -> None:
    tree, books = OpeningTree(DRAUGHTS), Books()
    fresh = taught(tree, 1500.0, 1)
    tree.follow([], [])
    bounds = range(149_990, 150_010)
    assert (
        [least for least in bounds if books.of(tree, least) is books.of(tree, None)]
        == [least for least in bounds if all(accepts(node, least) for node in tree.nodes.values())]
        == [*range(149_990, 150_000)]
    )
    taught(tree, 1300.0, fresh)
    tree.follow([], [])
    assert books.of(tree, 139_999) is books.of(tree, None)
    assert books.of(tree, 140_000) is not books.of(tree, None)
    fresh_tree = OpeningTree(DRAUGHTS)
    assert books.of(fresh_tree, 10**9) is books.of(fresh_tree, None)
