"""The opening tree as a book: which move it recommends, and what the move promises."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.book import FEWEST_VISITS, Book, OwnValues
from academy.knowledge.contests import ContestReport, Result
from academy.knowledge.node_analysis import NodeAnalysis, SearchKind
from academy.knowledge.opening_node import OpeningNode
from academy.knowledge.openings import ROOT, OpeningTree
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import GameSpec

from .games import DRAUGHTS, DRAW, GO, LOSS, MAP, WIN, contest

FREE = LibrarySettings(prune_below=0.0)
RESULTS = {"+": (WIN, LOSS), "-": (LOSS, WIN), "=": (DRAW, DRAW)}


def grown(*contests: tuple[str, tuple[Result, ...]], spec: GameSpec = DRAUGHTS) -> OpeningTree:
    """The tree of contests, each its moves, with blanks between, and the result."""
    tree, fresh = OpeningTree(spec), 1
    for moves, results in contests:
        report = contest(
            moves.split(),
            results,
            elos=[1500.0] * len(results),
            names=[f"p{seat}" for seat, _ in enumerate(results)],
        )
        fresh = tree.learn(report, fresh, 60.0, FREE)
    return tree


def of(lines: dict[str, str], spec: GameSpec = DRAUGHTS) -> OpeningTree:
    """The tree of lines and the results of each: + won, - lost, = drawn by player 1."""
    return grown(
        *((line, RESULTS[result]) for line, results in lines.items() for result in results), spec=spec
    )


def recommended(tree: OpeningTree, line: str = "") -> tuple[str | None, float]:
    """The move of the book after a line, and its value; no move and an even value where it knows none."""
    node = tree.find(line.split())
    assert node is not None
    recommendation = Book(tree).recommend(node)
    return (None, 0.5) if recommendation is None else (recommendation.node.move, recommendation.value)


@pytest.mark.parametrize(
    ("lines", "move"),
    [
        # One contest fewer than needed, and enough.
        ({"1": "+++"}, None),
        ({"1": "++++"}, "1"),
        ({"1": "++++", "2": "+++++---"}, "1"),
        # A few wins do not outweigh a good record in many contests.
        ({"1": "++++", "2": "+" * 23 + "-" * 17}, "2"),
        # The best reply refutes the move that won more contests.
        ({"1 3": "+" * 30, "1 4": "-" * 20, "2": "+" * 25 + "-" * 25}, "2"),
        # Replies tried too seldom refute nothing.
        ({"1 3": "+" * 30, "1 4": "---", "2": "+" * 25 + "-" * 25}, "1"),
        # A losing move is recommended where it is all that is known.
        ({"1": "-----"}, "1"),
    ],
)
def test_the_recommended_move(lines: dict[str, str], move: str | None) -> None:
    assert recommended(of(lines))[0] == move


def test_the_second_player_gets_the_move_that_is_good_for_them() -> None:
    assert recommended(of({"1 2": "+" * 10, "1 3": "-" * 10}), "1") == ("3", 13 / 16)


def test_a_moves_value_counts_results_and_an_even_prior() -> None:
    # 8 wins of 10, and 6 even ones.
    assert recommended(of({"1": "+" * 8 + "--"})) == ("1", (8 + 3) / 16)


def test_a_value_is_drawn_towards_that_of_the_best_reply_by_its_visits() -> None:
    _, value = recommended(of({"1 2": "-" * 18, "1 3": "+" * 12}))
    own, refuted = (12 + 3) / 36, 3 / 24
    # Reply 2 has 18 visits: it counts 18/24.
    assert value == pytest.approx(0.75 * refuted + 0.25 * own, abs=2e-6)


def test_the_best_of_many_replies_counts_for_less() -> None:
    # Nine replies: nine even results, and the best reply, of four visits, counts 4/13.
    few = {f"1 {reply}": "+" for reply in range(4, 12)}
    _, value = recommended(of({"1 3": "-" * 4, **few}))
    own, refuted = (8 + 4.5) / (12 + 9), 3 / 10
    assert value == pytest.approx(4 / 13 * refuted + 9 / 13 * own, abs=2e-6)


def test_an_importer_that_refuses_knowledge_of_weak_players_gets_none_of_it() -> None:
    tree = OpeningTree(DRAUGHTS)
    fresh = 1
    for move, elo in (("1", 900.0), ("2", 1500.0)):
        for _ in range(FEWEST_VISITS):
            result = (WIN, LOSS) if move == "1" else (LOSS, WIN)
            fresh = tree.learn(contest([move], result, elos=(elo, 1500.0)), fresh, 60.0, FREE)

    def strong(node: OpeningNode) -> bool:
        return node.elo > 1000.0

    everything, only_strong = Book(tree).recommend(tree.root), Book(tree, strong).recommend(tree.root)
    assert everything is not None
    assert only_strong is not None
    assert (everything.node.move, only_strong.node.move) == ("1", "2")


def test_three_players_each_get_the_move_that_is_good_for_the_one_who_moves() -> None:
    three = GameSpec("three", MAP.geometry, players=3, symmetric=False)
    lines = [("a b c", (LOSS, LOSS, WIN)), ("a b d", (WIN, LOSS, LOSS)), ("a e c", (LOSS, WIN, LOSS))]
    tree = grown(*(line for line in lines for _ in range(8)), spec=three)
    assert [recommended(tree, line)[0] for line in ("", "a", "a b")] == ["a", "e", "c"]


# Laws

CONTESTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(("A1", "E5", "C3", "B2")), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(tuple(RESULTS.values())),
    ),
    max_size=40,
)


@given(CONTESTS, st.randoms(use_true_random=False))
def test_while_there_is_room_the_order_of_contests_does_not_matter(
    contests: list[tuple[str, tuple[Result, Result]]], chance: Random
) -> None:
    shuffled = chance.sample(contests, len(contests))
    here, there = (Book(tree).recommend(tree.root) for tree in (grown(*contests), grown(*shuffled)))
    assert (here and (here.node.move, here.value)) == (there and (there.node.move, there.value))


def analysed(tree: OpeningTree, line: str, value: float, budget: int = 2_000, analyst: str = "ann") -> bool:
    node = tree.find(line.split())
    assert node is not None
    return tree.analyse(node.node_id, NodeAnalysis(round(value * 1_000_000), budget, analyst))


@pytest.mark.parametrize(
    ("kind", "budget", "visits"),
    [
        (SearchKind.RANDOM_GAMES, 200, 3),
        (SearchKind.RANDOM_GAMES, 1_000, 15),
        (SearchKind.RANDOM_GAMES, 2_000, 30),
        (SearchKind.RANDOM_GAMES, 1_000_000, 30),
        (SearchKind.PLIES, 5, 3),
        (SearchKind.PLIES, 7, 15),
        (SearchKind.PLIES, 8, 30),
        (SearchKind.PLIES, 20, 30),
    ],
)
def test_an_analysis_counts_as_its_effort_up_to_thirty_visits(
    kind: SearchKind, budget: int, visits: int
) -> None:
    tree = of({"1": "+" * 8 + "--"})
    node = tree.find(["1"])
    assert node is not None and tree.analyse(node.node_id, NodeAnalysis(200_000, budget, "ann", kind))
    _, value = recommended(tree)
    assert value == pytest.approx((8 + 3 + visits * 0.2) / (10 + 6 + visits), abs=1e-6)


def test_a_search_that_refutes_the_usual_move_makes_the_book_play_another() -> None:
    tree = of({"1": "+" * 12 + "-" * 4, "2": "+" * 8 + "-" * 8})
    assert recommended(tree)[0] == "1"
    analysed(tree, "1", 0.1)
    assert recommended(tree)[0] == "2"


def test_a_reply_that_was_played_once_counts_when_it_was_analysed() -> None:
    tree = of({"1": "+" * 12, "1 3": "-"})
    assert recommended(tree, "1")[0] is None
    analysed(tree, "1 3", 0.9)
    assert recommended(tree, "1")[0] == "3"


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9), st.sampled_from("abc")), min_size=1, max_size=10)
)
def test_ten_analysts_move_a_node_no_further_than_the_one_who_searched_longest(
    analyses: list[tuple[float, int, str]],
) -> None:
    many, single = of({"1 2": "+" * 6 + "-" * 3}), of({"1 2": "+" * 6 + "-" * 3})
    for value, budget, analyst in analyses:
        analysed(many, "1", value, budget, analyst)
    analysed(single, "1", *max(analyses, key=lambda analysis: analysis[1]))
    assert many.nodes == single.nodes
    assert not any(analysed(many, "1", *analysis) for analysis in analyses)
    assert 0.0 <= recommended(many)[1] <= 1.0


@pytest.mark.parametrize(
    ("kind", "budget", "replaces"),
    [(SearchKind.PLIES, 5, True), (SearchKind.PLIES, 4, False), (SearchKind.RANDOM_GAMES, 200, True)],
)
def test_a_search_that_an_earlier_version_kept_though_it_was_short_gives_way_to_any_long_enough(
    kind: SearchKind, budget: int, replaces: bool
) -> None:
    assert NodeAnalysis(0, budget, "ann", kind).replaces(NodeAnalysis(0, 199, "ann")) is replaces


@given(
    CONTESTS,
    st.lists(st.tuples(st.sampled_from(("A1", "E5", "C3", "A1 C3")), st.floats(0, 1)), max_size=6),
)
def test_no_analysis_moves_a_value_out_of_its_range(
    contests: list[tuple[str, tuple[Result, Result]]], analyses: list[tuple[str, float]]
) -> None:
    tree = grown(*contests, spec=GO)
    for line, value in analyses:
        if tree.find(line.split()) is not None:
            analysed(tree, line, value)
    own, book = OwnValues(), Book(tree)
    for node in tree.nodes.values():
        values = own.of(node)
        assert all(0 <= value <= 1_000_000 for value in values)
        assert abs(sum(values) - 1_000_000) <= 1
        best = book.recommend(node)
        assert best is None or 0.0 <= best.value <= 1.0


@given(CONTESTS, CONTESTS)
def test_a_book_that_remembers_values_says_what_a_new_one_says(
    before: list[tuple[str, tuple[Result, Result]]], after: list[tuple[str, tuple[Result, Result]]]
) -> None:
    tree, own = grown(*before, spec=GO), OwnValues()
    Book(tree, own=own).recommend(tree.root)
    assert len(own)
    fresh = max(tree.nodes) + 1
    for moves, results in after:
        fresh = tree.learn(contest(moves.split(), results), fresh, 60.0, FREE)
    assert Book(tree, own=own).recommend(tree.root) == Book(tree).recommend(tree.root)


@given(CONTESTS, CONTESTS)
def test_a_book_of_a_followed_tree_says_what_a_new_one_says(
    before: list[tuple[str, tuple[Result, Result]]], after: list[tuple[str, tuple[Result, Result]]]
) -> None:
    tree, followed = grown(*before, spec=GO), OpeningTree(GO)
    followed.follow(tree.nodes.values(), ())

    def trusts(node: OpeningNode) -> bool:
        return node.elo > 1600.0

    book = Book(followed, trusts=trusts)
    book.recommend(followed.root)
    fresh, narrow = max(tree.nodes) + 1, LibrarySettings(opening_capacity=6)
    for number, (moves, results) in enumerate(after):
        known = dict(tree.nodes)
        elos = (1500.0 + 200.0 * (number % 2), 1500.0)
        fresh = tree.learn(contest(moves.split(), results, elos=elos), fresh, 60.0, narrow)
        changed = [node for node_id, node in tree.nodes.items() if known.get(node_id) is not node]
        followed.follow(changed, known.keys() - tree.nodes.keys())
        assert followed.nodes == tree.nodes
        for node in followed.nodes.values():
            assert book.recommend(node) == Book(followed, trusts=trusts).recommend(node)


TURNED = {"A1": "E5", "E5": "A1", "C3": "C3", "B2": "D4"}


@given(CONTESTS)
def test_a_turned_board_gives_the_same_book(contests: list[tuple[str, tuple[Result, Result]]]) -> None:
    turned = [(" ".join(TURNED[move] for move in moves.split()), result) for moves, result in contests]
    here, there = grown(*contests, spec=GO), grown(*turned, spec=GO)
    assert Book(here).recommend(here.root) == Book(there).recommend(there.root)


class TestPoisoning:
    """Ten players of Elo 1000 who collude against what 50 contests of players of Elo 1500 taught."""

    MOVES = ("A1", "B1", "C1", "B2", "C2", "C3")
    SETTINGS = LibrarySettings()

    @classmethod
    def strong(cls, seed: int) -> list[ContestReport]:
        """Contests of players who mostly repeat the same moves."""
        chance = Random(seed)
        return [
            cls.played(
                [cls.MOVES[min(chance.randrange(6), chance.randrange(6))] for _ in range(6)],
                chance.choice((WIN, WIN, LOSS)),
                elos=(1500.0, 1540.0),
            )
            for _ in range(50)
        ]

    @classmethod
    def weak(cls, seed: int, count: int, honest: Sequence[ContestReport]) -> list[ContestReport]:
        """Wins on purpose by what the strong ones do not play, losses by what they do, and much else."""
        chance = Random(seed)
        attack = []
        for number in range(count):
            lines = [[ply.move for ply in chance.choice(honest).plies], chance.choices(cls.MOVES, k=6)]
            moves = lines[number % 2]
            report = cls.played(
                moves,
                (LOSS, WIN)[number % 2],
                elos=chance.choice(((1000.0, 1000.0), (1000.0, 700.0), (1500.0, 900.0))),
                names=(f"eve {number % 10}", f"eve {(number + 1) % 10}"),
                lie=float(number % 2),
            )
            attack.append(report)
        return attack

    @staticmethod
    def played(
        moves: Sequence[str],
        result: Result,
        *,
        elos: tuple[float, float],
        names: tuple[str, str] = ("ann", "bob"),
        lie: float | None = None,
    ) -> ContestReport:
        values = {} if lie is None else {ply: {1: lie, 2: 1.0 - lie} for ply in range(1, 7)}
        return contest(moves, (result, {WIN: LOSS, LOSS: WIN}[result]), elos=elos, names=names, values=values)

    @classmethod
    def taught(cls, contests: Sequence[ContestReport]) -> OpeningTree:
        tree, fresh = OpeningTree(GO), 1
        for report in contests:
            fresh = tree.learn(report, fresh, 18.0, cls.SETTINGS)
        return tree

    @staticmethod
    def recommended_moves(tree: OpeningTree) -> dict[tuple[str, ...], tuple[str, float]]:
        """The recommended move of each line, and its value."""
        book = Book(tree)
        lines: dict[int, tuple[str, ...]] = {ROOT: ()}
        best_by_line = {}
        for node in sorted(tree.nodes.values(), key=lambda node: node.depth):
            if node.node_id != ROOT:
                lines[node.node_id] = (*lines[node.parent_id], node.move)
            best = book.recommend(node)
            if best is not None:
                best_by_line[lines[node.node_id]] = (best.node.move, best.value)
        return best_by_line

    @pytest.mark.parametrize("order", ["first", "last", "mixed"])
    @pytest.mark.parametrize(("seed", "count"), [(1, 10), (2, 50), (3, 200), (4, 400)])
    def test_no_recommended_move_or_value_changes(self, seed: int, count: int, order: str) -> None:
        honest = self.strong(seed)
        attack = self.weak(seed, count, honest)
        contests = {"first": [*attack, *honest], "last": [*honest, *attack]}.get(order)
        if contests is None:
            # The strong ones keep their order among themselves.
            contests = attack.copy()
            places = sorted(Random(seed).choices(range(count), k=len(honest)), reverse=True)
            for report, place in zip(reversed(honest), places, strict=True):
                contests.insert(place, report)
        expected = self.recommended_moves(self.taught(honest))
        assert len(expected) >= 3
        assert self.recommended_moves(self.taught(contests)) == expected

    def test_the_root_counts_all_contests_and_nodes_those_that_are_not_silent(self) -> None:
        honest = self.strong(1)
        tree = self.taught([*self.weak(1, 200, honest), *honest])
        assert tree.root.visits == 250
        assert sum(child.visits for child in tree.children(ROOT)) == 50

    @pytest.mark.parametrize(("contests", "visitors"), [(1, 29), (296, 10), (296, 29), (2_000, 100)])
    def test_a_few_contests_silence_no_society_however_strong(self, contests: int, visitors: int) -> None:
        society = [
            self.played(["A1"], WIN, elos=(1200.0 + number % 3 * 50, 1200.0)) for number in range(contests)
        ]
        strong = [self.played(["C3"], WIN, elos=(2400.0, 2400.0)) for _ in range(visitors)]
        tree = self.taught([*society, *strong])
        assert [child.visits for child in tree.children(ROOT)] == [contests, visitors]

    @pytest.mark.parametrize(("contests", "visitors"), [(296, 30), (1_000, 60)])
    def test_many_strong_contests_silence_a_society(self, contests: int, visitors: int) -> None:
        society = [self.played(["A1"], WIN, elos=(1200.0, 1200.0)) for _ in range(contests)]
        strong = [self.played(["C3"], WIN, elos=(2400.0, 2400.0)) for _ in range(visitors)]
        tree = self.taught([*society, *strong])
        assert [child.visits for child in tree.children(ROOT)] == [visitors]

    def test_a_restarted_server_forgets_the_same(self) -> None:
        honest = self.strong(2)
        contests = [*self.weak(2, 60, honest), *honest]
        live, restarted = self.taught(contests), OpeningTree(GO)
        fresh = 1
        for number, report in enumerate(contests):
            fresh = restarted.learn(report, fresh, 18.0, self.SETTINGS)
            if number % 7 == 0:
                again = OpeningTree(GO)
                again.restore(restarted.nodes.values())
                restarted = again
        assert restarted.nodes == live.nodes
