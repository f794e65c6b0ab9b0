"""Tesujis: what a contest teaches, what it says of candidate cells, and who cannot change it."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import SWAP_COLOURS, State
from academy.knowledge.contests import Contestant, ContestReport, Ply, Use
from academy.knowledge.game import GameKnowledge
from academy.knowledge.learnt_weights import WrongRowError
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec, Placement
from academy.knowledge.tesujis.shapes import NO_SHAPE
from academy.knowledge.tesujis.surroundings import Surroundings, surroundings
from academy.knowledge.tesujis.table import FIRST_IN_USES, TesujiTable
from academy.knowledge.tesujis.text import read_tesuji_cells, write_tesuji_cells

from ..games import DIPLOMACY, DRAUGHTS, DRAW, GO, HEX, LOSS, MAP, WIN

CAPACITY = 1_000
FOUR = GameSpec(
    "connect-four",
    SquareGeometry(6, 7),
    symmetries=("identity", "mirror_columns"),
    placement=Placement.DROPPED,
    winning_row=4,
)
OTHELLO = GameSpec(
    "othello",
    SquareGeometry(8, 8),
    symmetries=("identity", "rotate_180", "transpose", "antitranspose"),
    reversal="mirror_columns",
    placement=Placement.OUTFLANKING,
)
ROWS = replace(GO, winning_row=3)
CAPTURING = replace(GO, placement=Placement.CAPTURING)
GAMES = (GO, HEX, FOUR, OTHELLO, ROWS, CAPTURING)
PIECES = {1: State.FIRST_SOLDIER, 2: State.SECOND_SOLDIER}
Chooser = Callable[[Board, int, Random], int]


def placed(
    spec: GameSpec,
    choose: Chooser,
    seed: int,
    *,
    plies: int = 12,
    elos: tuple[float, float] = (1500.0, 1500.0),
    names: tuple[str, str] = ("ann", "bob"),
) -> ContestReport:
    """A contest in which players put a piece on an empty cell in turn."""
    random = Random(seed)
    board = first_board(spec)
    start, made = board, []
    for number in range(plies):
        player = number % 2 + 1
        try:
            cell = choose(board, player, random)
        except IndexError:
            # Nobody can move.
            break
        board = after_move(spec, board, cell, player)
        made.append(Ply(player, f"{number}", board.states))
    contestants = tuple(Contestant(name, elo) for name, elo in zip(names, elos, strict=True))
    return ContestReport("c", contestants, tuple(made), (WIN, LOSS), start_states=start.states)


def first_board(spec: GameSpec) -> Board:
    board = Board(spec.geometry, bytes([State.EMPTY]) * spec.geometry.size)
    if spec.placement is not Placement.OUTFLANKING:
        return board
    return Board.from_letters(spec.geometry, "-" * 27 + "ox" + "-" * 6 + "xo" + "-" * 27)


def after_move(spec: GameSpec, board: Board, cell: int, player: int) -> Board:
    """A piece of the player's on a cell; with the rows that it turns over, where the game has such."""
    states = bytearray(board.states)
    turned = outflanked(board, cell, player) if spec.placement is Placement.OUTFLANKING else []
    for taken in [cell, *turned]:
        states[taken] = PIECES[player]
    return Board(spec.geometry, bytes(states))


def outflanked(board: Board, cell: int, player: int) -> list[int]:
    """The cells that a move turns over, ray by ray."""
    assert isinstance(board.geometry, SquareGeometry)
    cells = []
    for down, right in product((-1, 0, 1), repeat=2):
        ray, (row, column) = [], divmod(cell, board.geometry.columns)
        while (down, right) != (0, 0):
            row, column = row + down, column + right
            if not (0 <= row < board.geometry.rows and 0 <= column < board.geometry.columns):
                break
            state = board.states[row * board.geometry.columns + column]
            if state == PIECES[3 - player]:
                ray.append(row * board.geometry.columns + column)
                continue
            cells += ray if state == PIECES[player] else []
            break
    return cells


def moves(spec: GameSpec, board: Board, player: int) -> list[int]:
    """The cells that a piece can come to by the game's placement."""
    cells = empty_cells(board)
    match spec.placement:
        case Placement.DROPPED:
            assert isinstance(spec.geometry, SquareGeometry)
            below = {cell: cell + spec.geometry.columns for cell in cells}
            return [cell for cell in cells if below[cell] not in below]
        case Placement.OUTFLANKING:
            return [cell for cell in cells if outflanked(board, cell, player)]
    return cells


def by_the_rules(spec: GameSpec) -> Chooser:
    return lambda board, player, random: random.choice(moves(spec, board, player))


def anywhere(board: Board, player: int, random: Random) -> int:
    return random.choice(empty_cells(board))


def empty_cells(board: Board) -> list[int]:
    return [cell for cell, state in enumerate(board.states) if state == State.EMPTY]


def beside(board: Board, cell: int, piece: int) -> int:
    """How many of the four cells beside a cell of a square board hold a piece."""
    assert isinstance(board.geometry, SquareGeometry)
    row, column = divmod(cell, board.geometry.columns)
    return sum(
        board.states[r * board.geometry.columns + c] == piece
        for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
        if 0 <= r < board.geometry.rows and 0 <= c < board.geometry.columns
    )


def towards_opponent(board: Board, player: int, random: Random) -> int:
    """Nearly always a cell with the most opponent's pieces beside it."""
    cells = empty_cells(board)
    random.shuffle(cells)
    if random.random() < 0.1:
        return cells[0]
    return max(cells, key=lambda cell: beside(board, cell, PIECES[3 - player]))


def threes(board: Board, cell: int, player: int) -> int:
    """How many rows of four through a cell of connect four hold three of the player's pieces."""
    row, column = divmod(cell, 7)
    count = 0
    for (down, right), behind in product(((0, 1), (1, 0), (1, 1), (1, -1)), range(4)):
        places = [(row + down * (step - behind), column + right * (step - behind)) for step in range(4)]
        if all(0 <= r < 6 and 0 <= c < 7 for r, c in places):
            count += sum(board.states[7 * r + c] == PIECES[player] for r, c in places) == 3
    return count


def away_from_opponent(board: Board, player: int, random: Random) -> int:
    """A cell with the fewest opponent's pieces beside it."""
    cells = empty_cells(board)
    random.shuffle(cells)
    return min(cells, key=lambda cell: beside(board, cell, PIECES[3 - player]))


def learnt(contests: Sequence[ContestReport], spec: GameSpec = GO, capacity: int = CAPACITY) -> TesujiTable:
    table = TesujiTable.empty()
    for contest in contests:
        table = table.learn(contest, spec, capacity)
    return table


def of(spec: GameSpec) -> Surroundings:
    around = surroundings(spec)
    assert around is not None
    return around


def advice(
    table: TesujiTable, board: Board, cells: Sequence[int], player: int = 1, spec: GameSpec = GO, **elo: float
) -> list[float]:
    log_odds: list[float] = table.advise(of(spec).of_cells(board, cells, player), **elo).log_odds.tolist()
    return log_odds


def imaged(report: ContestReport, spec: GameSpec, change: Callable[[Board], Board]) -> ContestReport:
    """A contest whose boards are changed."""

    def states(before: bytes) -> bytes:
        return change(Board(spec.geometry, before)).states

    plies = tuple(replace(ply, states=states(ply.states)) for ply in report.plies)
    return replace(report, plies=plies, start_states=states(report.start_states))


class TestWhatIsLearnt:
    def test_what_strong_players_choose_weighs_more_than_what_they_pass_over(self) -> None:
        table = learnt([placed(GO, towards_opponent, seed) for seed in range(30)])
        board = Board.from_letters(GO.geometry, "----------x---o----------")
        beside_own, beside_other = advice(table, board, [11, 13])
        assert beside_other > 0.1 and beside_own == -beside_other
        assert advice(table, board, [11, 13], player=2) == [beside_other, beside_own]

    def test_offers_choices_and_elo_are_counted(self) -> None:
        report = placed(GO, lambda board, player, random: 12, 0, plies=1, elos=(1400.0, 1500.0))
        table = learnt([report])
        # The corner, the edge and the middle of an empty board.
        assert sorted(zip(table.offered.tolist(), table.chosen.tolist(), strict=True)) == [
            (4, 0),
            (9, 1),
            (12, 0),
        ]
        assert set(table.elos.tolist()) == {1400.0}
        assert (table.weight_millionths > 0).tolist() == (table.chosen > 0).tolist()

    @pytest.mark.parametrize(
        ("before", "after", "teaches"),
        [
            ("x---" * 4, "xx--" + "x---" * 3, True),
            # Taken or turned pieces of the opponent's.
            ("xo--" + "----" * 3, "x-x-" + "----" * 3, True),
            ("xo--" + "----" * 3, "xxx-" + "----" * 3, True),
            # A piece that moves, two that come, and none at all.
            ("x---" + "----" * 3, "-x--" + "----" * 3, False),
            ("----" * 4, "xx--" + "----" * 3, False),
            ("x---" * 4, "x---" * 4, False),
            # A piece promoted beside the one that comes is not a loss.
            ("x---" * 4, "bx--" + "x---" * 3, True),
        ],
    )
    def test_moves_that_put_a_piece_on_a_cell_teach(self, before: str, after: str, teaches: bool) -> None:
        start, then = (Board.from_letters(DRAUGHTS.geometry, letters).states for letters in (before, after))
        contestants = (Contestant("ann", 1500.0), Contestant("bob", 1500.0))
        report = ContestReport("c", contestants, (Ply(1, "1", then),), (WIN, LOSS), start_states=start)
        assert bool(len(learnt([report], DRAUGHTS))) == teaches

    @pytest.mark.parametrize("spec", GAMES)
    def test_only_cells_that_a_piece_can_come_to_are_offered(self, spec: GameSpec) -> None:
        report = placed(spec, by_the_rules(spec), 7)
        around = of(spec)
        offered = 0
        for states, ply in zip(report.boards, report.plies, strict=False):
            board = Board(spec.geometry, states)
            row = np.frombuffer(states, dtype=np.uint8)[None]
            cells = np.flatnonzero(around.candidates(around.views(row, ply.player), row)[0])
            assert cells.tolist() == moves(spec, board, ply.player)
            codes = around.of_cells(board, cells.tolist(), ply.player)
            offered += int((codes != NO_SHAPE).sum())
        table = learnt([report], spec, 100_000)
        assert table.offered.sum() == offered and len(table) > 20

    def test_a_row_that_wins_weighs_more_where_only_one_is_missing(self) -> None:
        def complete(board: Board, player: int, random: Random) -> int:
            cells = moves(FOUR, board, player)
            random.shuffle(cells)
            return max(cells, key=lambda cell: threes(board, cell, player))

        table = learnt([placed(FOUR, complete, seed, plies=24) for seed in range(60)], FOUR)
        board = Board.from_letters(FOUR.geometry, "-" * 28 + "ooo----" + "xxx-o--")
        completing, above_another, elsewhere = advice(table, board, [38, 32, 41], spec=FOUR)
        assert completing > 0.5 > max(above_another, elsewhere)

    def test_in_othello_the_corner_and_the_cell_beside_it_differ(self) -> None:
        codes = of(OTHELLO).of_cells(first_board(OTHELLO), [0, 9, 63, 7, 56, 2, 5], 1)
        assert codes[0, 0] == codes[2, 0] and codes[3, 0] == codes[4, 0]
        assert len({codes[0, 0], codes[1, 0], codes[3, 0], codes[5, 0]}) == 4
        # How many pieces a move turns: none in the corner, one beside the middle.
        around = of(OTHELLO).of_cells(first_board(OTHELLO), [0, 19], 1)
        assert around[1, 1] - around[0, 1] == 1

    def test_contests_without_boards_teach_nothing(self) -> None:
        report = placed(GO, anywhere, 1)
        assert not learnt([replace(report, plies=tuple(replace(ply, states=b"") for ply in report.plies))])
        # One board that is missing costs the moves before and after it.
        plies = tuple(
            replace(ply, states=b"") if number == 5 else ply for number, ply in enumerate(report.plies)
        )
        assert learnt([replace(report, plies=plies)]).chosen.sum() == len(plies) - 2

    @pytest.mark.parametrize(
        "spec", [MAP, DIPLOMACY, replace(GO, simultaneous=True, symmetries=("identity",))]
    )
    def test_games_without_cells_or_turns_have_none(self, spec: GameSpec) -> None:
        assert surroundings(spec) is None

    def test_on_a_large_board_a_contest_is_learnt_in_parts_and_each_move_once(self) -> None:
        spec, pauses = GameSpec("go-19x19", SquareGeometry(19, 19)), list[None]()
        report = placed(spec, anywhere, 1, plies=50)
        table = TesujiTable.empty().learn(report, spec, 10**6, give_way=lambda: pauses.append(None))
        assert table.chosen.sum() == 50 and len(pauses) == 3

    def test_players_below_1000_and_muted_ones_teach_nothing(self) -> None:
        weak = placed(GO, anywhere, 1, elos=(999.9, 1000.0))
        assert learnt([weak]).chosen.sum() == len(weak.plies) // 2
        muted = TesujiTable.empty().learn(weak, GO, CAPACITY, frozenset({"bob"}))
        assert not len(muted)

    def test_a_player_200_below_those_who_taught_teaches_nothing(self) -> None:
        table = learnt([placed(GO, anywhere, seed) for seed in range(3)])
        assert table.learn(placed(GO, anywhere, 9, elos=(1300.0, 1300.0)), GO, CAPACITY) == table
        later = table.learn(placed(GO, anywhere, 9, elos=(1300.01, 1300.0)), GO, CAPACITY)
        assert later.chosen.sum() - table.chosen.sum() == 6


class TestLaws:
    @given(st.integers(0, 2**32), st.sampled_from(GAMES), st.data())
    def test_images_of_contests_teach_the_same(self, seed: int, spec: GameSpec, data: st.DataObject) -> None:
        symmetry = data.draw(st.sampled_from([*spec.symmetry_group]))
        report = placed(spec, by_the_rules(spec), seed)

        def image(board: Board) -> Board:
            turned = spec.board_image(board, symmetry)
            assert turned is not None
            return turned

        table = learnt([report], spec)
        assert table == learnt([imaged(report, spec, image)], spec)
        # The same cells are advised.
        board = Board(spec.geometry, report.plies[5].states)
        marked = Board(spec.geometry, bytes(range(spec.geometry.size)))
        place_of = {cell: place for place, cell in enumerate(image(marked).states)}
        cells = empty_cells(board)
        assert advice(table, board, cells, 1, spec) == advice(
            table, image(board), [place_of[cell] for cell in cells], 1, spec
        )

    @given(st.integers(0, 2**32), st.sampled_from(GAMES))
    def test_exchanged_colours_teach_the_same(self, seed: int, spec: GameSpec) -> None:
        report = placed(spec, by_the_rules(spec), seed)
        exchanged = imaged(report, spec, spec.reversed_board)
        plies = tuple(replace(ply, player=3 - ply.player) for ply in exchanged.plies)
        table = learnt([report], spec)
        assert table == learnt([replace(exchanged, plies=plies)], spec)
        board = Board(spec.geometry, report.plies[5].states)
        cells = empty_cells(board)
        reversed_cells = [spec.reversed_cells[cell] for cell in cells]
        assert advice(table, board, cells, 1, spec) == advice(
            table, spec.reversed_board(board), reversed_cells, 2, spec
        )

    def test_players_who_differ_learn_apart(self) -> None:
        spec = replace(GO, symmetric=False)
        report = placed(spec, towards_opponent, 3)
        swapped = imaged(
            report, spec, lambda board: Board(board.geometry, board.states.translate(SWAP_COLOURS))
        )
        swapped = replace(swapped, plies=tuple(replace(ply, player=3 - ply.player) for ply in swapped.plies))
        assert learnt([report], spec) != learnt([swapped], spec)
        assert set(learnt([report], spec).codes.tolist()) != set(learnt([report]).codes.tolist())

    @given(st.integers(0, 2**32), st.permutations(range(13)))
    def test_the_order_of_candidates_does_not_matter(self, seed: int, order: list[int]) -> None:
        table = learnt([placed(GO, towards_opponent, seed)])
        board = Board(GO.geometry, placed(GO, anywhere, seed + 1).plies[-1].states)
        cells = empty_cells(board)
        answer = advice(table, board, cells)
        assert advice(table, board, [cells[place] for place in order]) == [answer[place] for place in order]
        assert sum(answer) == pytest.approx(0.0, abs=1e-9)

    @given(st.integers(0, 2**32), st.integers(1, 40))
    def test_a_table_never_exceeds_its_capacity_and_keeps_the_strongest(
        self, seed: int, capacity: int
    ) -> None:
        table = learnt([placed(GO, anywhere, seed + number) for number in range(3)], capacity=capacity)
        assert len(table) == capacity
        full = TesujiTable.empty().learn(placed(GO, anywhere, seed), GO, CAPACITY)
        kept = full.keep_strongest(capacity)
        gone = sorted(full.strengths.tolist())[: max(0, len(full) - capacity)]
        assert not gone or min(kept.strengths) >= max(gone)

    def test_of_equals_the_oldest_goes_first(self) -> None:
        table = TesujiTable.of(
            [5, 3, 4], [2, 2, 9], [1, 1, 1], [300_000] * 3, [70_000] * 3, [0] * 3, [0] * 3, [0] * 3
        )
        assert table.keep_strongest(2).codes.tolist() == [3, 4]
        assert table.keep_strongest(1).codes.tolist() == [4]
        assert table.keep_strongest(0).codes.tolist() == []


def test_of_what_was_offered_as_often_the_weaker_players_goes_first() -> None:
    table = TesujiTable.of(
        [5, 3], [2, 2], [1, 1], [300_001, 300_000], [70_000] * 2, [0] * 2, [0] * 2, [0] * 2
    )
    assert table.keep_strongest(1).codes.tolist() == [5]


def fingerprint(table: TesujiTable) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for column in table.columns():
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (GO, "3a9ebaa756ea9a84"),
        (HEX, "5d8352b62040172f"),
        (FOUR, "ecd369e6c0af6db7"),
        (OTHELLO, "ce4562a051d190db"),
        (CAPTURING, "b16359e8d929ae35"),
    ],
)
def test_every_machine_learns_the_same(spec: GameSpec, expected: str) -> None:
    # Chosen without `Random.choice`, which versions of Python may change.
    def choose(board: Board, player: int, random: Random) -> int:
        cells = moves(spec, board, player)
        return cells[random.getrandbits(16) % len(cells)]

    assert fingerprint(learnt([placed(spec, choose, seed) for seed in range(40)], spec, 200)) == expected


class TestPoisoning:
    """Players who collude against what 50 contests of players of Elo 1500 taught."""

    STRONG = tuple(placed(GO, towards_opponent, seed) for seed in range(50))

    @staticmethod
    def attack(count: int) -> list[ContestReport]:
        names = [f"colluder {number}" for number in range(10)]
        return [
            placed(
                GO,
                away_from_opponent,
                10_000 + number,
                elos=(1000.0, 1000.0),
                names=(names[number % 10], names[(number + 1) % 10]),
            )
            for number in range(count)
        ]

    @classmethod
    @cache
    def honest(cls) -> TesujiTable:
        return learnt(cls.STRONG)

    @classmethod
    def harm(cls, table: TesujiTable) -> tuple[float, float]:
        """In what share of the strong players' positions another cell is advised than without the attack, and
        what that costs on average, in what was log odds without it.
        """
        honest = cls.honest()
        costs = []
        for report in cls.STRONG:
            for ply in report.plies[3:]:
                board, player = Board(GO.geometry, ply.states), 3 - ply.player
                cells = empty_cells(board)
                now, before = (
                    advice(known, board, cells, player, least_elo=1300.0) for known in (table, honest)
                )
                # Cells of equal weight are advised equally; where nothing is known, nothing is turned.
                costs.append(max(before) - before[int(np.argmax(now))] if any(now) else 0.0)
        return sum(cost > 0 for cost in costs) / len(costs), sum(costs) / len(costs)

    @pytest.mark.parametrize("contests", [50, 500])
    def test_colluders_who_come_later_change_nothing(self, contests: int) -> None:
        assert learnt([*self.STRONG, *self.attack(contests)]) == learnt(self.STRONG)

    @pytest.fixture(scope="class")
    @classmethod
    def harm_of_others(cls) -> tuple[float, float]:
        return cls.harm(learnt([placed(GO, towards_opponent, 1_000 + seed) for seed in range(50)]))

    @pytest.mark.parametrize("contests", [10, 200])
    def test_colluders_who_come_first_turn_less_than_other_honest_players_would(
        self, contests: int, harm_of_others: tuple[float, float]
    ) -> None:
        turned, cost = self.harm(learnt([*self.attack(contests), *self.STRONG]))
        turned_by_others, cost_of_others = harm_of_others
        assert turned < turned_by_others < 0.3 and cost < cost_of_others < 0.1


class TestInTheKnowledgeOfAGame:
    def test_a_game_learns_where_its_setting_allows(self) -> None:
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=30))
        game.learn(placed(GO, anywhere, 1), 1)
        assert len(game.tesujis) == 30 and game.take_changes().tesujis
        game.learn(placed(GO, anywhere, 2, elos=(500.0, 500.0)), 2)
        assert not game.take_changes().tesujis
        plain = GameKnowledge(GO)
        plain.learn(placed(GO, anywhere, 1), 1)
        assert not len(plain.tesujis)

    @pytest.mark.parametrize("honest", [1301.0, 1500.0])
    def test_a_claimed_elo_of_6000_silences_nobody(self, honest: float) -> None:
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=500))
        game.learn(placed(GO, anywhere, 1, elos=(6000.0, 6000.0), names=("eve", "ed")), 1)
        before = game.tesujis.offered.sum()
        for seed in range(2, 6):
            game.learn(placed(GO, anywhere, seed, elos=(honest, honest)), seed)
        assert game.tesujis.offered.sum() > 3 * before
        assert game.tesujis.elos.max() < 1_600.0

    def test_an_elo_counts_as_at_most_400_above_those_who_taught(self) -> None:
        table = learnt([placed(GO, anywhere, 1)])
        later = table.learn(placed(GO, anywhere, 2, elos=(6000.0, 1900.0)), GO, CAPACITY)
        more = later.elo_hundredths.sum() - table.elo_hundredths.sum()
        assert more == 190_000 * (later.offered.sum() - table.offered.sum())

    def test_switched_off_and_on_again_it_goes_on_where_it_was(self) -> None:
        on = LibrarySettings(tesuji_capacity=30)
        game, steady = GameKnowledge(GO, on), GameKnowledge(GO, on)
        for knowledge in (game, steady):
            knowledge.learn(placed(GO, anywhere, 1), 1)
        assert game.change_settings(LibrarySettings()) == 0
        assert not len(game.tesujis.for_answers(game.settings))
        game.learn(placed(GO, anywhere, 2), 2)
        game.change_settings(on)
        assert game.tesujis == steady.tesujis == game.tesujis.for_answers(on)
        for knowledge in (game, steady):
            knowledge.learn(placed(GO, anywhere, 3), 3)
        assert game.tesujis == steady.tesujis and len(game.tesujis) == 30

    def test_uses_are_counted_with_successes(self) -> None:
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=50))
        game.learn(placed(GO, anywhere, 1), 1)
        code = int(game.tesujis.codes[7])
        for number, results in enumerate([(WIN, LOSS), (LOSS, WIN), (DRAW, DRAW)], 2):
            report = ContestReport(
                f"{number}",
                (Contestant("ann", 900.0), Contestant("bob", 900.0)),
                (),
                results,
                uses=(Use(1, Library.MIDDLE_GAME, (FIRST_IN_USES + code, FIRST_IN_USES + 2**24 - 1)),),
            )
            game.learn(report, number)
        assert game.tesujis.uses.sum() == 3
        assert (game.tesujis.uses[7], game.tesujis.successes[7]) == (3, 2)


def test_what_is_imported_again_and_again_stays_in_its_range() -> None:
    most = TesujiTable.of(
        [1, 2, 3],
        [10**11, 9 * 10**9, 5 * 10**10],
        [5] * 3,
        [10**18, 9, 9],
        [8_000_000, 1, 1],
        [2**62] * 3,
        [10**11, 10**11, 10**11 - 1],
        [10**11, 7, 7],
    )
    table = TesujiTable.empty()
    for _ in range(20):
        table = table.unite(most)
        assert TesujiTable.of(*(column.tolist() for column in table.columns())) == table
    assert table.offered.tolist() == [10**11, 99 * 10**9, 10**11]
    for uses in (table, most):
        assert uses.count_uses([1, 2, 3], succeeded=True).uses.tolist() == [10**11] * 3


def test_what_was_counted_to_the_end_learns_on_and_can_be_stored() -> None:
    learnt = TesujiTable.empty().learn(placed(GO, anywhere, 1), GO, 100)
    columns = [column.tolist() for column in learnt.columns()]
    columns[1], columns[5] = [10**11] * len(learnt), [2**62] * len(learnt)
    full = TesujiTable.of(*columns).learn(placed(GO, anywhere, 2), GO, 100)
    assert TesujiTable.of(*(column.tolist() for column in full.columns())) == full


@pytest.mark.parametrize("bound", [8_000_000, -8_000_000])
def test_weights_at_their_bounds_stay_within_them(bound: int) -> None:
    learnt = TesujiTable.empty().learn(placed(GO, anywhere, 1), GO, 100)
    columns = [column.tolist() for column in learnt.columns()]
    columns[4], columns[5] = [bound] * len(learnt), [0] * len(learnt)
    table = TesujiTable.of(*columns)
    for seed in range(4):
        table = table.learn(placed(GO, anywhere, seed), GO, 100)
        assert TesujiTable.of(*(column.tolist() for column in table.columns())) == table


@pytest.mark.parametrize(
    "columns",
    [
        ([1, 2], [1], [0], [0], [0], [0], [0], [0]),
        ([1, 1], [1, 1], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]),
        ([1], [0], [0], [0], [0], [0], [0], [0]),
        ([1], [1], [2], [0], [0], [0], [0], [0]),
        ([1], [1], [1], [0], [8_000_001], [0], [0], [0]),
        ([1], [1], [1], [0], [0], [-1], [0], [0]),
        ([1], [1], [-1], [0], [0], [0], [0], [0]),
        ([1], [1], [1], [0], [0], [0], [1], [-1]),
        ([1], [1], [1], [0], [0], [0], [10**11 + 1], [0]),
        ([1], [1], [1], [-10_000_001], [0], [0], [0], [0]),
        ([2**62 - 1], [1], [1], [0], [0], [0], [0], [0]),
        ([1], [1], [1], [0], [0], [0], [0], [1]),
        ([2**51], [1], [1], [0], [0], [0], [0], [0]),
        ([1], [2**64], [1], [0], [0], [0], [0], [0]),
        ([1], [10**11 + 1], [1], [0], [0], [0], [0], [0]),
        ([1], [1], [1], [10_000_001], [0], [0], [0], [0]),
        ([1], [1], [1], [0], [0], [2**62 + 1], [0], [0]),
    ],
)
def test_tables_that_none_could_become_are_refused(columns: Sequence[Sequence[int]]) -> None:
    with pytest.raises(ValueError, match=r"number|code|tesuji|weight|counted"):
        TesujiTable.of(*columns)


def test_the_first_row_that_none_could_have_is_named_with_its_numbers() -> None:
    columns = [[1, 2, 3], [9, 100, 1], [9, 151, 2], *[[0] * 3] * 5]
    with pytest.raises(WrongRowError, match="offered 100, chosen 151: a tesuji chosen more often") as refused:
        TesujiTable.of(*columns)
    assert refused.value.row == 1


def test_the_greatest_numbers_that_a_table_can_have_are_kept() -> None:
    columns = (
        [2**51 - 1, 2**62, 3],
        [1, 10**11, 10**11],
        [1, 10**11, 0],
        [10_000_000, -(10**18), 10**18],
        [8_000_000, -8_000_000, 0],
        [2**62, 0, 1],
        [0, 10**11, 10**11],
        [0, 10**11, 0],
    )
    assert [column.tolist() for column in TesujiTable.of(*columns).columns()] == [*columns]


def test_tesujis_that_are_restored_come_back_by_strength_as_far_as_there_is_room() -> None:
    def table(**offered: int) -> TesujiTable:
        codes, often = [int(name[1:]) for name in offered], [*offered.values()]
        elos = [150_000 * times for times in often]
        none = [0] * len(codes)
        return TesujiTable.of(codes, often, none, elos, [500_000] * len(codes), none, none, none)

    removed, now = table(_1=1, _2=9, _3=3, _4=4), table(_7=5, _2=6)
    back = now.put_back(removed, LibrarySettings(tesuji_capacity=4))
    assert (back.codes.tolist(), back.offered.tolist()) == ([7, 2, 3, 4], [5, 6, 3, 4])
    assert now.put_back(removed, LibrarySettings(tesuji_capacity=2)) == now
    assert now.put_back(removed, LibrarySettings()).codes.tolist() == [7, 2, 1, 3, 4]


def test_the_value_of_a_weight_is_its_share_against_one_of_zero() -> None:
    weights = [-8_000_000, -1_000_000, 0, 500_000, 8_000_000]
    rows = len(weights)
    table = TesujiTable.of(range(rows), [1] * rows, [0] * rows, [0] * rows, weights, *[[0] * rows] * 3)
    expected = [1 / (1 + math.exp(-weight / 1e6)) for weight in weights]
    assert table.values.tolist() == pytest.approx(expected, rel=1e-5)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([*GAMES, replace(GO, symmetric=False)]))
def test_each_tesuji_is_written_and_read_again(seed: int, spec: GameSpec) -> None:
    table, around = learnt([placed(spec, by_the_rules(spec), seed)], spec, 100_000), of(spec)
    for code in table.codes.tolist():
        tesuji = around.read(code)
        cells = read_tesuji_cells(write_tesuji_cells(tesuji, spec), tesuji.player, spec.geometry)
        assert cells == tesuji.cells
        assert around.code(replace(tesuji, cells=cells)) == code
