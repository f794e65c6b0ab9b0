"""Each reader gets the book of what it may see and trusts, and readers who may see all share one."""

import pytest

from academy.knowledge.fair_use import LUDAE_FAIR_USE
from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import LibrarySettings
from academy.service.books import Books, Reader
from tests.academy.knowledge.games import DRAUGHTS, LOSS, WIN, contest


def taught(tree: OpeningTree, elo: float, fresh: int, moves: str = "11-15 23-19") -> int:
    """Have a tree learn one contest of players of an Elo; return the next node's number."""
    report = contest(moves.split(), (WIN, LOSS), elos=[elo, elo], names=["a", "b"])
    return tree.learn(report, fresh, 60.0, LibrarySettings(prune_below=0.0))


def test_readers_who_may_see_all_share_one_book_until_a_contest_leaves_something_that_they_may_not() -> None:
    tree, books = OpeningTree(DRAUGHTS), Books()
    fresh = taught(tree, 1500.0, 1)
    tree.follow([], [])
    bounds = range(149_990, 150_010)
    assert (
        [least for least in bounds if books.of(tree, Reader(least)) is books.of(tree, Reader())]
        == [least for least in bounds if all(Reader(least).accepts(node) for node in tree.nodes.values())]
        == [*range(149_990, 150_000)]
    )
    taught(tree, 1300.0, fresh)
    tree.follow([], [])
    assert books.of(tree, Reader(139_999)) is books.of(tree, Reader())
    assert books.of(tree, Reader(140_000)) is not books.of(tree, Reader())
    fresh_tree = OpeningTree(DRAUGHTS)
    assert books.of(fresh_tree, Reader(10**9)) is books.of(fresh_tree, Reader())


@pytest.mark.parametrize(
    ("elo", "move"),
    [
        (None, None),
        # The strongest player of the tree trusts nobody.
        (1500.0, None),
        (1460.0, None),
        # 100 Elo stronger, in steps of 50.
        (1449.9, "11-15"),
        (1400.0, "11-15"),
        (1300.0, "11-15"),
    ],
)
def test_a_move_that_was_played_once_counts_where_its_players_are_100_elo_stronger(
    elo: float | None, move: str | None
) -> None:
    tree, books = OpeningTree(DRAUGHTS), Books()
    taught(tree, 1500.0, 1)
    recommendation = books.of(tree, Reader.of(elo, LUDAE_FAIR_USE)).recommend(tree.root)
    assert (recommendation and recommendation.node.move) == move


def test_what_four_contests_played_is_preferred_to_what_a_stronger_player_won_with_once() -> None:
    tree, fresh = OpeningTree(DRAUGHTS), 1
    for _ in range(4):
        fresh = taught(tree, 1300.0, fresh, "9-13 23-19")
    taught(tree, 1500.0, fresh)
    recommendation = Books().of(tree, Reader.of(1300.0, LUDAE_FAIR_USE)).recommend(tree.root)
    assert recommendation is not None and recommendation.node.move == "9-13"


def test_readers_share_a_book_where_nobody_in_it_is_stronger_than_they() -> None:
    tree, books = OpeningTree(DRAUGHTS), Books()
    taught(tree, 1500.0, 1)
    everybody = books.of(tree, Reader())
    shared = [elo for elo in (1450, 1500, 1550) if books.of(tree, Reader(trusted=elo * 100)) is everybody]
    assert shared == [1550]


def test_what_equals_played_once_does_not_count_though_others_in_the_tree_are_stronger() -> None:
    tree = OpeningTree(DRAUGHTS)
    fresh = taught(tree, 1500.0, 1)
    taught(tree, 1300.0, fresh, "9-13 23-19")
    book = Books().of(tree, Reader.of(1300.0, LUDAE_FAIR_USE))
    by_stronger, by_equals = tree.find(["11-15"]), tree.find(["9-13"])
    assert by_stronger is not None and by_equals is not None
    assert book.recommend(by_stronger) is not None
    assert book.recommend(by_equals) is None
