"""The opening tree: what is counted where, what leaves it, and what is pruned."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.contests import ContestReport, Result
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree, UnknownLineError, depth_limit
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import GameSpec

from .games import DIPLOMACY, DRAUGHTS, DRAW, GO, LOSS, MAP, WIN, contest

THREE = GameSpec("three", MAP.geometry, players=3, symmetric=False)
FREE = LibrarySettings(prune_below=0.0)


class Grove:
    """A tree that numbers its nodes as they come. Pruning is off unless asked for."""

    def __init__(self, spec: GameSpec = DRAUGHTS, settings: LibrarySettings = FREE) -> None:
        self.tree = OpeningTree(spec)
        self.settings = settings
        self.fresh = 1

    def learn(self, report: ContestReport, average_length: float = 60.0) -> None:
        self.fresh = self.tree.learn(report, self.fresh, average_length, self.settings)

    def play(
        self,
        moves: str,
        *results: Result,
        average_length: float = 60.0,
        elos: Sequence[float] = (),
        values: Mapping[int, Mapping[int, float]] | None = None,
    ) -> None:
        """A contest, its moves written with blanks between."""
        results = results or (WIN, LOSS)
        elos = elos or [1500.0] * len(results)
        names = [f"p{seat}" for seat in range(len(results))]
        self.learn(contest(moves.split(), results, elos=elos, names=names, values=values), average_length)

    def at(self, moves: str, player: int = 0) -> OpeningNode:
        node = self.tree.find(moves.split(), player)
        assert node is not None, f"no node after {moves!r}"
        return node

    @property
    def lines(self) -> set[str]:
        """The moves that lead to each node, the root's left out."""

        def line(node: OpeningNode) -> list[str]:
            return [*line(self.tree.nodes[node.parent_id]), node.move] if node.depth else []

        return {" ".join(line(node)) for node in self.tree.nodes.values() if node.depth}


# What is counted


def test_a_contest_counts_once_in_every_position_it_passed() -> None:
    grove = Grove()
    grove.play("1 2 3", WIN, LOSS)
    grove.play("1 2 4", LOSS, WIN)
    grove.play("1 5", DRAW, DRAW)
    assert grove.lines == {"1", "1 2", "1 2 3", "1 2 4", "1 5"}
    first = grove.at("1")
    assert (first.visits, first.wins, first.draws, first.losses) == (3, (1, 1), (1, 1), (1, 1))
    assert grove.tree.root.visits == 3
    assert (grove.at("1 2").visits, grove.at("1 2").wins) == (2, (1, 1))
    assert (grove.at("1 2 4").wins, grove.at("1 2 4").losses) == ((0, 1), (1, 0))


def test_each_position_knows_its_depth_mover_and_parent() -> None:
    grove = Grove()
    grove.play("1 2 3")
    path = [grove.at(moves) for moves in ("", "1", "1 2", "1 2 3")]
    assert [node.depth for node in path] == [0, 1, 2, 3]
    assert [node.mover for node in path] == [0, 1, 2, 1]
    assert [node.parent_id for node in path[1:]] == [node.node_id for node in path[:-1]]
    assert path[0] is grove.tree.root
    assert grove.tree.depth == 3
    assert len(grove.tree) == 3


def test_the_elo_of_a_position_is_the_mean_of_those_who_moved_there() -> None:
    grove = Grove()
    grove.play("1 2", elos=(1000, 2000))
    grove.play("1 3", elos=(1500, 500))
    assert grove.at("1").elo == 1250
    assert grove.at("1 2").elo == 2000
    assert grove.tree.root.elo == 0


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # Nobody reported a value: the result counts.
        ({}, (1.0, 0.0)),
        ({1: 0.7}, (0.7, 0.3)),
        ({2: 0.4}, (0.6, 0.4)),
        ({1: 0.7, 2: 0.5}, (0.6, 0.4)),
    ],
)
def test_expected_value_is_the_stated_one_or_else_the_result(
    stated: dict[int, float], expected: tuple[float, float]
) -> None:
    grove = Grove()
    grove.play("1", values={1: stated})
    node = grove.at("1")
    assert (node.value(1), node.value(2)) == expected
    assert node.values == bool(stated)
    assert node.wins == (1, 0)


def test_node_value_is_the_mean_of_stated_values_and_results() -> None:
    grove = Grove()
    grove.play("1", WIN, LOSS, values={1: {1: 0.6}})
    grove.play("1", LOSS, WIN)
    grove.play("1", DRAW, DRAW)
    assert grove.at("1").value(1) == pytest.approx((0.6 + 0.0 + 0.5) / 3, abs=1e-6)
    assert grove.at("1").value(2) == pytest.approx((0.4 + 1.0 + 0.5) / 3, abs=1e-6)
    assert grove.at("1").values == 1


def test_three_players_have_separate_values() -> None:
    grove = Grove(THREE)
    grove.play("a b c", WIN, DRAW, LOSS, values={1: {2: 0.3}})
    node = grove.at("a")
    assert [node.value(player) for player in (1, 2, 3)] == [1.0, 0.3, 0.0]
    assert (node.wins, node.draws, node.losses) == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert [grove.at(line).mover for line in ("a", "a b", "a b c")] == [1, 2, 3]


# Symmetric lines


@pytest.mark.parametrize("line", ["A1 C5", "A5 E3", "E1 A3", "E5 C1", "E1 C5", "A5 C1"])
def test_mirrored_openings_share_their_nodes(line: str) -> None:
    grove = Grove(GO)
    grove.play("A1 C5")
    grove.play(line)
    assert len(grove.tree) == 2
    assert grove.at("A1 C5").visits == grove.at(line).visits == 2


def test_continuations_are_spelled_in_the_askers_orientation() -> None:
    grove = Grove(GO)
    grove.play("C3 A1 E5")
    grove.play("C3 A1 A2")
    grove.play("E5 pass")
    root = {continuation.moves: continuation.node.visits for continuation in grove.tree.continuations([])}
    assert root == {("C3",): 2, ("A1", "A5", "E1", "E5"): 1}
    after = {
        continuation.moves: continuation.node.visits
        for continuation in grove.tree.continuations(["C3", "E1"])
    }
    assert after == {("A5",): 1, ("D1", "E2"): 1}
    assert grove.tree.continuations(["B2"]) == []


# Depth


@pytest.mark.parametrize(
    ("average", "limit"), [(60.0, 20), (59.9, 19), (9.0, 3), (8.99, 2), (3.0, 1), (2.0, 1), (1.0, 1)]
)
def test_the_tree_is_a_third_of_an_average_game_deep(average: float, limit: int) -> None:
    assert depth_limit(DRAUGHTS, average) == limit
    grove = Grove()
    grove.play(" ".join(["1"] * 40), average_length=average)
    assert grove.tree.depth == limit


def test_where_games_get_shorter_what_is_known_stays() -> None:
    grove = Grove()
    grove.play("1 2 3 4")
    grove.play("9 8 7 6", average_length=9.0)
    assert grove.lines == {"1", "1 2", "1 2 3", "1 2 3 4", "9", "9 8", "9 8 7"}


# Room


def test_the_leaf_of_least_value_by_depth_leaves_and_stays_counted_in_its_parent() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=3, prune_below=0.0))
    # Worth for the mover: `1 2` (player 2) .9/2 = .45; `3` (player 1) .4/1.
    grove.play("1 2", DRAW, DRAW, values={1: {1: 0.9}, 2: {2: 0.9}})
    grove.play("3", DRAW, DRAW, values={1: {1: 0.4}})
    grove.play("4", DRAW, DRAW, values={1: {1: 0.41}})
    assert grove.lines == {"1", "1 2", "4"}
    grove.play("1 5", WIN, LOSS, values={2: {2: 0.95}})
    assert grove.lines == {"1", "1 2", "1 5"}
    grove.play("1 6", WIN, LOSS, values={2: {2: 0.91}})
    assert grove.lines == {"1", "1 5", "1 6"}
    node = grove.at("1")
    assert (node.visits, node.wins, node.draws) == (3, (2, 0), (1, 1))
    assert grove.tree.root.visits == 5


def test_a_deep_leaf_is_worth_less_than_a_shallow_one_of_the_same_value() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=3, prune_below=0.0))
    grove.play("1 2", DRAW, DRAW)
    grove.play("3", DRAW, DRAW)
    grove.play("4", DRAW, DRAW)
    assert grove.lines == {"1", "3", "4"}


def test_the_oldest_of_equally_worthy_leaves_goes_first() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=2, prune_below=0.0))
    for move in ("1", "2", "3"):
        grove.play(move, DRAW, DRAW)
    assert grove.lines == {"2", "3"}


def test_a_line_tried_once_does_not_push_out_one_that_proved_itself() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=2, prune_below=0.0))
    for _ in range(3):
        grove.play("1", WIN, LOSS)
        grove.play("2", DRAW, DRAW)
    # Worth 1.5 of 7 visits with four losses added against 1 of 5.
    grove.play("3", WIN, LOSS)
    assert grove.lines == {"1", "2"}


def test_a_new_line_worth_least_finds_no_room_with_all_its_moves() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=2, prune_below=0.0))
    grove.play("1", WIN, LOSS)
    grove.play("2", WIN, LOSS)
    grove.play("3 4 5", LOSS, WIN)
    assert grove.lines == {"1", "2"}
    assert grove.tree.root.visits == 3


def test_without_room_only_the_root_counts() -> None:
    grove = Grove(settings=LibrarySettings(opening_capacity=0))
    grove.play("1 2")
    assert (len(grove.tree), grove.tree.root.visits) == (0, 1)


def test_a_smaller_tree_is_cut_back_leaf_by_leaf() -> None:
    grove = Grove()
    grove.play("1 2 3", DRAW, DRAW)
    grove.play("4", DRAW, DRAW)
    assert [node.move for node in grove.tree.evict_beyond(2)] == ["3", "2"]
    assert grove.tree.evict_beyond(2) == []
    assert grove.lines == {"1", "4"}


def test_what_leaves_a_full_tree_is_always_the_leaf_of_least_worth_and_of_these_the_oldest() -> None:
    """Leaves change their worth, get children, lose them and come back, while the tree is cut back."""
    chance = random.Random(1)
    grove = Grove()
    for _ in range(60):
        for _ in range(chance.randint(1, 12)):
            moves = " ".join(str(chance.randint(1, 3)) for _ in range(chance.randint(1, 6)))
            grove.play(moves, *chance.choice([(WIN, LOSS), (LOSS, WIN), (DRAW, DRAW)]))
        tree = grove.tree
        gone = tree.delete(chance.choice([node.node_id for node in tree.children(ROOT)]))
        tree.put_back(gone[: chance.randint(0, len(gone))], {}, capacity=1000)
        for _ in range(chance.randint(0, max(0, len(tree) - 1))):
            leaves = [node for node in tree.nodes.values() if node.depth and not tree.children(node.node_id)]
            worst = min(leaves, key=lambda node: (node.worth, node.node_id))
            assert tree.evict_beyond(len(tree) - 1) == [worst]


def test_before_any_contest_nothing_is_expected_of_the_root() -> None:
    root = OpeningTree(GO).root
    assert (root.visits, root.elo, root.value(1), root.value(2)) == (0, 0.0, 0.5, 0.5)


# Pruning


def test_when_all_moves_are_bad_for_the_mover_they_are_erased_and_the_position_loses_half() -> None:
    grove = Grove(settings=LibrarySettings())
    # Player 2 to move after `1`: both replies turned out badly for them.
    grove.play("1 2", WIN, LOSS, values={1: {2: 0.4}, 2: {2: 0.2}})
    assert grove.lines == {"1"}
    node = grove.at("1")
    # Half for player 2, and so more for player 1; visits and results stay.
    assert (node.value(2), node.value(1)) == (0.2, 0.8)
    grove.play("1 3", WIN, LOSS, values={1: {2: 0.4}, 2: {2: 0.32}})
    node = grove.at("1")
    # The mean of 0.2 and 0.4, halved.
    assert (node.value(2), node.value(1)) == (0.15, 0.85)
    assert (node.visits, node.wins) == (2, (2, 0))
    # A reply that is no worse than 0.33 stays, and keeps others that are.
    grove.play("1 4", DRAW, DRAW, values={1: {2: 0.4}, 2: {2: 0.33}})
    grove.play("1 2", WIN, LOSS, values={1: {2: 0.4}, 2: {2: 0.2}})
    assert grove.lines == {"1", "1 2", "1 4"}


@given(st.integers(0, 10**6))
def test_pruned_lines_of_strong_and_weak_players_are_restored_as_they_were(seed: int) -> None:
    chance = random.Random(seed)
    grove = Grove()
    for _ in range(20):
        moves = " ".join(str(chance.randint(1, 2)) for _ in range(chance.randint(1, 4)))
        elo = chance.choice([1210.0, 1340.0, 1460.0])
        stated = {ply: {2 - ply % 2: chance.random() / 2} for ply in range(1, 1 + len(moves.split()))}
        grove.play(moves, *chance.choice([(WIN, LOSS), (LOSS, WIN)]), elos=(elo, elo), values=stated)
    tree, before = grove.tree, dict(grove.tree.nodes)
    tree.prune(0.33, 0.5)
    gone = [node for number, node in before.items() if number not in tree.nodes]
    taken = {number: before[number].value_taken(node) for number, node in tree.nodes.items()}
    assert tree.put_back(gone, taken, capacity=1000) == sorted(
        gone, key=lambda node: (node.depth, node.node_id)
    )
    assert tree.nodes == before


def test_moves_are_listed_oldest_first_after_a_restoration_too_as_in_a_copy() -> None:
    grove = Grove()
    for move in ("a", "b", "c"):
        grove.play(move)
    gone = grove.tree.delete(grove.at("a").node_id)
    grove.tree.put_back(gone, {}, capacity=1000)
    copy = OpeningTree(DRAUGHTS)
    copy.restore(grove.tree.nodes.values())
    assert [node.move for node in grove.tree.children(ROOT)] == ["a", "b", "c"]
    assert grove.tree.children(ROOT) == copy.children(ROOT)


def test_value_that_pruning_took_comes_back_as_far_as_the_visits_that_are_left_can_have_it() -> None:
    """Contests of the lower level left the node meanwhile, and one came, and one of a level between."""
    grove = Grove()
    for _ in range(10):
        grove.play("1", elos=(1000, 1000), values={1: {1: 0.4}})
    grove.play("1", elos=(1300, 1300), values={1: {1: 0.4}})
    pruned = grove.at("1").with_less_value([1], 0.5)
    taken = grove.at("1").value_taken(pruned)
    assert taken == {10: (2_000_000, -2_000_000), 13: (200_000, -200_000)}
    grove.tree.restore([pruned.without_below(12)])
    grove.play("1", elos=(1000, 1000), values={1: {1: 0.9}})
    grove.play("1", elos=(1200, 1200), values={1: {1: 0.7}})
    restored = grove.at("1").with_value_back(taken)
    assert [part.value_millionths for part in restored.parts()] == [
        (1_000_000, 0), (700_000, 300_000), (400_000, 600_000)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("replies", "pruned"),
    [
        ({"1 2": 0.2, "1 3": 0.3299}, True),
        ({"1 2": 0.2, "1 3": 0.33}, False),
        ({"1 2": 0.2, "1 3": 0.9}, False),
        # One is enough.
        ({"1 2": 0.32}, True),
        ({"1 2": 0.33}, False),
        # Not all children are leaves.
        ({"1 2": 0.1, "1 3 4": 0.1}, False),
        ({"1 2": 0.1, "1 3": 0.1, "1 4": 0.1}, True),
    ],
)
def test_children_are_erased_where_all_are_leaves_and_strictly_negative(
    replies: dict[str, float], pruned: bool
) -> None:
    grove = Grove()
    for line, value in replies.items():
        stated = {1: {2: 0.5}, 2: {2: value}, 3: {2: 0.5}}
        grove.play(line, DRAW, DRAW, values=stated)
    before = grove.at("1").value(2)
    erased = grove.tree.prune(0.33, 0.5)
    assert bool(erased) is pruned
    assert grove.lines == ({"1"} if pruned else {" ".join(x) for y in replies for x in beginnings(y)})
    assert grove.at("1").value(2) == pytest.approx(before * (0.5 if pruned else 1.0))


def beginnings(line: str) -> list[list[str]]:
    moves = line.split()
    return [moves[:length] for length in range(1, len(moves) + 1)]


def test_a_node_emptied_by_pruning_may_let_its_parent_be_pruned() -> None:
    grove = Grove(THREE)
    # Player 3 moves to `a b c` and `a b d`; player 2 to `a b` and `a e`.
    low = {2: {2: 0.2}, 3: {2: 0.1, 3: 0.1}, 1: {2: 0.4}}
    for line in ("a b c", "a b d", "a e"):
        grove.play(line, DRAW, DRAW, DRAW, values=low)
    assert {node.move for node in grove.tree.prunable(0.33, 0.5)} == {"c", "d", "b", "e"}
    assert len(grove.tree) == 5, "asking changes nothing"
    erased = grove.tree.prune(0.33, 0.5)
    assert {node.move for node in erased} == {"c", "d", "b", "e"}
    assert grove.lines == {"a"}
    # Only the player to move there is thought the worse of.
    assert grove.at("a").value(2) == pytest.approx(0.2)
    assert grove.at("a").value(3) == 0.5


def test_pruning_a_bad_position_makes_it_good_for_who_moved_there() -> None:
    """With two players, no cascade: what is bad for one player to move is good for the other."""
    grove = Grove()
    for line in ("1 2 3", "1 2 4", "1 5"):
        grove.play(line, values={1: {1: 0.5}, 2: {2: 0.2}, 3: {1: 0.1}})
    assert {node.move for node in grove.tree.prune(0.33, 0.5)} == {"3", "4"}
    assert grove.at("1 2").value(1) == pytest.approx(0.4)
    assert grove.at("1 2").value(2) == pytest.approx(0.6)


def test_first_moves_are_pruned_like_all_others() -> None:
    grove = Grove(settings=LibrarySettings())
    grove.play("1", LOSS, WIN)
    grove.play("2", LOSS, WIN)
    assert grove.lines == set()
    assert grove.tree.root.visits == 2


@pytest.mark.parametrize(("below", "factor", "value"), [(0.5, 0.25, 0.1), (0.4, 0.5, 0.4), (0.41, 0.5, 0.2)])
def test_threshold_and_factor_are_the_admins(below: float, factor: float, value: float) -> None:
    grove = Grove(settings=LibrarySettings(prune_below=below, prune_factor=factor))
    grove.play("1 2", values={1: {2: 0.4}, 2: {2: 0.4}})
    assert grove.at("1").value(2) == pytest.approx(value)


# Silent contests


STRONG, WEAK = (2400.0, 2400.0), (1200.0, 1200.0)


@pytest.mark.parametrize(("elo", "counts"), [(2100.0, True), (2099.99, False)])
@pytest.mark.parametrize("first", [True, False])
def test_silent_is_what_lies_four_levels_below_whether_it_came_first_or_last(
    elo: float, counts: bool, first: bool
) -> None:
    grove = Grove()
    strong, lower = [STRONG] * 30, [(1800.0, 1800.0), (elo, elo)]
    for elos in [*lower, *strong, STRONG] if first else [*strong, *lower, STRONG]:
        grove.play("1", elos=elos)
    assert grove.at("1").visits == 31 + counts
    assert [part.level for part in grove.at("1").parts()] == ([21, 24] if counts else [24])
    assert grove.tree.root.visits == 33


def a_restoration(grove: Grove) -> None:
    grove.play("2", elos=WEAK)
    gone = grove.tree.delete(grove.at("2").node_id)
    for _ in range(30):
        grove.play("1", elos=STRONG)
    grove.tree.put_back(gone, {}, capacity=1000)


def an_import(grove: Grove) -> None:
    elsewhere = Grove()
    elsewhere.play("2", elos=WEAK)
    for _ in range(30):
        grove.play("1", elos=STRONG)
    grove.fresh = grove.tree.unite(list(elsewhere.tree.nodes.values()), grove.fresh)


def many_contests_in_between(grove: Grove) -> None:
    """With these the strongest twentieth holds weaker contests too, until the strong catch up."""
    for elos in [STRONG] * 30 + [(2100.0, 2100.0)] * 610:
        grove.play("1", elos=elos)
    grove.play("2", elos=(1800.0, 1800.0))
    for _ in range(3):
        grove.play("1", elos=STRONG)


@pytest.mark.parametrize("come_by", [a_restoration, an_import, many_contests_in_between])
def test_silent_contests_go_with_the_next_contest_however_they_came(come_by: Callable[[Grove], None]) -> None:
    grove = Grove()
    come_by(grove)
    grove.play("1", elos=STRONG)
    assert grove.lines == {"1"}


def test_contests_kept_without_their_levels_have_those_of_the_movers_mean_elos() -> None:
    """Trees of earlier versions have no levels."""
    earlier, grove = Grove(), Grove()
    for line, elos in [("2", WEAK)] * 5 + [("1", STRONG)] * 29:
        earlier.play(line, elos=elos)
    grove.fresh = earlier.fresh
    grove.tree.restore(replace(node, level=None, weaker=()) for node in earlier.tree.nodes.values())
    grove.play("1", elos=STRONG)
    # The root's level is 22, the mean of all first moves'.
    assert (grove.lines, grove.at("1").visits) == ({"1"}, 30)
    for elo in (1900.0, 1899.99):
        grove.play("3", elos=(elo, elo))
    assert grove.at("3").visits == 1


# Simultaneous moves


def test_with_simultaneous_moves_each_player_has_a_tree() -> None:
    grove = Grove(DIPLOMACY)
    grove.play("A B C d e f", WIN, LOSS, LOSS)
    grove.play("A B X", LOSS, WIN, LOSS)
    assert grove.lines == {
        "player 1", "player 1 A", "player 1 A d",
        "player 2", "player 2 B", "player 2 B e",
        "player 3", "player 3 C", "player 3 C f", "player 3 X",
    }  # fmt: skip
    assert grove.at("A", player=1).visits == 2
    assert grove.at("C f", player=3).mover == 3
    assert grove.tree.find(["A"], 2) is None
    assert {continuation.moves for continuation in grove.tree.continuations([], 3)} == {("C",), ("X",)}
    assert grove.tree.root.visits == 2


@pytest.mark.parametrize(("average", "own_moves"), [(45.0, 5), (44.0, 4), (18.0, 2), (9.0, 1), (8.0, 0)])
def test_a_players_own_tree_holds_a_third_of_an_average_players_moves(average: float, own_moves: int) -> None:
    grove = Grove(DIPLOMACY)
    grove.play("A B C " * 20, WIN, LOSS, LOSS, average_length=average)
    assert grove.tree.depth == depth_limit(DIPLOMACY, average) == 1 + own_moves
    assert grove.at("A " * own_moves, player=1).depth == 1 + own_moves


def test_the_players_own_trees_are_never_pruned_as_if_they_were_moves() -> None:
    grove = Grove(DIPLOMACY, LibrarySettings())
    for _ in range(3):
        # Nobody but player 1 expects much; no one has a move in reach.
        grove.play("A B C", LOSS, LOSS, LOSS, average_length=3.0)
    assert grove.lines == {"player 1", "player 2", "player 3"}
    assert grove.tree.root.visits == 3


# Trees from elsewhere


def test_a_tree_united_with_another_has_the_figures_of_both() -> None:
    here, there, both = Grove(GO), Grove(GO), Grove(GO)
    for grove in (here, both):
        grove.play("A1 C3", WIN, LOSS, elos=(1000, 1200))
    for grove in (there, both):
        grove.play("E5 C3", LOSS, WIN, elos=(1400, 1000), values={1: {1: 0.3}})
        grove.play("C3 A1", DRAW, DRAW)
    fresh = here.tree.unite(list(there.tree.nodes.values()), here.fresh)
    assert fresh == 5
    assert here.tree.nodes == both.tree.nodes


def test_nodes_written_in_another_orientation_find_their_place() -> None:
    def node(number: int, parent: int, move: str, depth: int) -> OpeningNode:
        return OpeningNode(number, parent, move, depth, 1, 1, (1, 0), (0, 0), (0, 1), (10**6, 0), 0, 150_000)

    grove = Grove(GO)
    grove.tree.unite([node(9, 7, "E4", 2), node(7, 0, "E5", 1), node(0, 0, "", 0)], 1)
    assert grove.lines == {"A1", "A1 A2"}
    assert grove.at("E5 E4").visits == 1


def test_a_node_without_its_parent_is_named() -> None:
    orphan = OpeningNode(9, 7, "E4", 2, 2, 1, (1, 0), (0, 0), (0, 1), (10**6, 0), 0, 150_000)
    with pytest.raises(UnknownLineError, match=r"node 9 \('E4'\): its parent 7 is missing"):
        Grove(GO).tree.unite([orphan], 1)


def test_a_cleared_tree_is_as_good_as_new() -> None:
    grove = Grove(GO)
    grove.play("A1 C3")
    grove.tree.clear()
    assert grove.tree.nodes == OpeningTree(GO).nodes
    grove.fresh = 1
    grove.play("A1 C3")
    assert grove.at("A1").node_id == 1


def test_a_restored_tree_is_the_same_tree() -> None:
    grove = Grove(GO, LibrarySettings(opening_capacity=5))
    for line in ("A1 C3", "B2 C3", "C3 A1", "A1 B2", "C3 B2"):
        grove.play(line, DRAW, DRAW)
    tree = OpeningTree(GO)
    tree.restore(reversed(list(grove.tree.nodes.values())))
    assert tree.nodes == grove.tree.nodes
    assert [node.move for node in tree.children(ROOT)] == [node.move for node in grove.tree.children(ROOT)]
    again = Grove(GO, grove.settings)
    again.tree, again.fresh = tree, grove.fresh
    for some_grove in (grove, again):
        some_grove.play("E1 C3 A1", DRAW, DRAW)
    assert again.tree.nodes == grove.tree.nodes


# Laws


CONTESTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["A1", "E5", "B2", "C3", "C1"]), max_size=5),
        st.sampled_from([(WIN, LOSS), (LOSS, WIN), (DRAW, DRAW)]),
        st.sampled_from([6.0, 9.0, 15.0]),
    ),
    max_size=15,
)


def test_a_list_that_leaves_the_tree_costs_only_its_way_in_it() -> None:
    grove = Grove(GO)
    grove.play("A1 B2 C3")
    for beginning in ([], ["A1", "B2"]):
        line = beginning + ["A1" * 500] * 4_000
        started = time.process_time()
        assert grove.tree.find(line) is None
        assert grove.tree.continuations(line) == []
        assert time.process_time() - started < 0.25


@settings(max_examples=60)
@given(CONTESTS, st.integers(0, 6))
def test_any_play_keeps_the_tree_a_tree_within_its_limits(
    contests: list[tuple[list[str], tuple[Result, Result], float]], capacity: int
) -> None:
    grove = Grove(GO, LibrarySettings(opening_capacity=capacity))
    grove.tree.take_changes()
    limit = 0
    for moves, results, average in contests:
        before = dict(grove.tree.nodes)
        grove.play(" ".join(moves), *results, average_length=average)
        after = grove.tree.nodes
        assert len(grove.tree) <= capacity
        limit = max(limit, depth_limit(GO, average))
        assert grove.tree.depth <= limit
        assert grove.tree.take_changes() == {
            number for number in before.keys() | after.keys() if before.get(number) != after.get(number)
        }
        for node in after.values():
            children = grove.tree.children(node.node_id)
            assert sum(child.visits for child in children) <= node.visits
            assert all(child.depth == node.depth + 1 for child in children)
            assert sum(node.value_millionths) == node.visits * 1_000_000
            for player in (0, 1):
                assert node.wins[player] + node.draws[player] + node.losses[player] == node.visits
    assert grove.tree.root.visits == len(contests)
