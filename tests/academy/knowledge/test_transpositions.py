"""The same moves of the same players in another order, as far as the opening tree has it."""

from dataclasses import replace

import pytest

from academy.knowledge.openings import OpeningTree
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.transpositions import find_transpositions

from .games import DRAUGHTS, MAP, contest

THREE = GameSpec("three", MAP.geometry, players=3, symmetric=False)


def grown(*lines: str, spec: GameSpec = DRAUGHTS) -> OpeningTree:
    """The tree of contests, each its moves. Where a plus stands before them, the second player begins."""
    tree, fresh = OpeningTree(spec), 1
    for line in lines:
        first = 2 if line.startswith("+") else 1
        results, elos = contest().results[:1] * spec.players, [1500.0] * spec.players
        report = contest(line.strip("+").split(), results, elos=elos, names="abc"[: spec.players])
        plies = [replace(ply, player=(ply.player + first - 2) % spec.players + 1) for ply in report.plies]
        fresh = tree.learn(replace(report, plies=tuple(plies)), fresh, 60.0, LibrarySettings(prune_below=0.0))
    return tree


def found(tree: OpeningTree, line: str) -> list[str]:
    return [" ".join(other.moves) for other in find_transpositions(tree, line.split())]


@pytest.mark.parametrize(
    ("line", "others"),
    [
        # The tree has it, its beginning, or nothing of it.
        ("3 2 1 4", ["1 2 3 4"]),
        ("3 2 1", ["1 2 3"]),
        ("1 4 3 2", ["1 2 3 4"]),
        ("5 2 1", []),
        # Those are other players' moves.
        ("2 1 4", []),
        ("1 2 3 4", []),
        ("3 4", []),
    ],
)
def test_a_line_need_not_be_in_the_tree_itself(line: str, others: list[str]) -> None:
    assert found(grown("1 2 3 4", "7 8"), line) == others


def test_who_begins_most_contests_begins_a_line_that_is_not_in_the_tree() -> None:
    """After a handicap that is the second player."""
    assert found(grown("+1 2 3", "+1 2 3", "4 5 6"), "3 2 1") == ["1 2 3"]
    assert found(grown("+1 2 3", "4 5 6", "4 5 6"), "6 5 4") == ["4 5 6"]


def test_each_of_three_players_has_its_own_moves() -> None:
    tree = grown("a b c d", spec=THREE)
    assert found(tree, "d b c a") == ["a b c d"]
    assert found(tree, "a c b d") == []
    assert found(grown("a b c d e", "a b", spec=THREE), "a e c d b") == ["a b c d e"]


def test_of_many_orders_the_eight_most_visited_are_named() -> None:
    lines = [
        f"{a} {b} {c} {d} {e}"
        for a, c, e in ("135", "153", "315", "351", "513", "531")
        for b, d in ("24", "42")
    ]
    visits = [line for number, line in enumerate(lines, 1) for _ in range(number)]
    assert found(grown(*visits), lines[0]) == lines[:3:-1]
