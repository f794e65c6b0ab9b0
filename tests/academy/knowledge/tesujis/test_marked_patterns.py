"""Patterns that mark the empty cell of a player's own move: what becomes of them, and what they teach."""

import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.contests import Contestant, ContestReport, Judgement, Ply, Proposal, Use, Verdict
from academy.knowledge.game import GameKnowledge
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell, GridSymmetry
from academy.knowledge.tesujis.proposed_codes import MOST_CELLS, NEAR_CELLS
from academy.knowledge.tesujis.shapes import EMPTY, OFF, OTHER, OWN, PROPOSED, InvalidTesujiError
from academy.knowledge.tesujis.table import FIRST_IN_USES, MOST_PROPOSED, TesujiTable
from academy.knowledge.tesujis.text import pattern_after, read_tesuji_cells, write_tesuji_cells

from ..games import GO, HEX, LOSS, WIN
from .test_table import CAPACITY, FOUR, GAMES, OTHELLO, by_the_rules, moves, of, placed

# Two stones of the opponent's with a cell between them, and the edge two steps below it.
BETWEEN = "o * o\n# - #\n# + #"
KNIGHT = Board.from_letters(GO.geometry, "-" * 15 + "-o-o-" + "-" * 5)


def judged(
    text: str = BETWEEN,
    *,
    spec: GameSpec = GO,
    before: Board = KNIGHT,
    cell: int = 17,
    elo: float = 1500.0,
    capacity: int = CAPACITY,
) -> tuple[Judgement, GameKnowledge]:
    """What becomes of a proposal of the first player's third move, which it makes on `cell`."""
    game = GameKnowledge(spec, LibrarySettings(tesuji_capacity=capacity))
    report = contest(text, spec=spec, before=before, cell=cell, elo=elo)
    (judgement,) = game.learn(report, 1)
    return judgement, game


def contest(
    text: str = BETWEEN,
    *,
    spec: GameSpec = GO,
    before: Board = KNIGHT,
    cell: int = 17,
    elo: float = 1500.0,
    number: int = 0,
) -> ContestReport:
    after = before.letters[:cell] + "x" + before.letters[cell + 1 :]
    plies = (
        Ply(1, "1", before.states, values={1: 0.4}),
        Ply(2, "2", before.states, values={2: 0.5}),
        Ply(1, "3", Board.from_letters(spec.geometry, after).states, values={1: 0.7}),
    )
    proposal = Proposal(
        1,
        Library.MIDDLE_GAME,
        pattern_after(text, 1, spec.geometry),
        3,
        0.7,
        0.4,
        marked=read_tesuji_cells(text, 1, spec.geometry),
    )
    names = Contestant("ann", elo), Contestant("bob", elo)
    return ContestReport(f"c{number}", names, plies, (WIN, LOSS), (proposal,), start_states=before.states)


def drawn(game: GameKnowledge) -> list[str]:
    return [write_tesuji_cells(of(game.spec).read(code), game.spec) for code in game.tesujis.proposed]


class TestVerdicts:
    def test_the_move_between_two_stones_becomes_a_tesuji(self) -> None:
        judgement, game = judged()
        assert judgement.verdict is Verdict.INSERTED
        (text,) = drawn(game)
        assert sorted(text.replace(" ", "").replace("\n", "")) == sorted("o*o#-##+#")
        row = game.tesujis.codes.tolist().index(game.tesujis.proposed[0])
        # Once proposed, and offered and chosen in the contest; so it weighs something at once.
        assert game.tesujis.offered[row] == game.tesujis.chosen[row] == 2
        assert game.tesujis.weight_millionths[row] > 0
        # The same in the next contest: known, and no second one. A turned drawing is the same, too.
        for turned in (BETWEEN, "# + #\n# - #\no * o"):
            known = game.learn(contest(turned, number=1), 2)[0]
            assert known.verdict is Verdict.MATCHED
        assert len(game.tesujis.proposed) == 1 and game.tesujis.offered[row] == 4

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"spec": replace(GO, move_forms=("*-*",))}, "moves that put a piece on an empty cell"),
            ({"capacity": 0}, "tesuji_capacity is 0"),
            ({"elo": 900.0}, "the proposer's Elo 900 is below 1000"),
            ({"cell": 7}, "something else stood around"),
            # The cell that the mark would be on has a piece.
            ({"cell": 16}, "'*' is the empty cell that the move went to"),
            ({"text": "- - - -\n- - * -\n- o - -\n- - - -"}, "15 cells around '*'"),
            ({"text": "o # # # *"}, "a cell 4 steps from '*'"),
            ({"text": "_ # *"}, "a cell of '_'"),
            ({"text": "- - -\no * o\n- - -"}, "ACADEMY learns these 8 cells"),
        ],
    )
    def test_a_pattern_that_teaches_nothing_is_dropped_with_the_reason(
        self, changed: Mapping[str, object], reason: str
    ) -> None:
        judgement, game = judged(**changed)  # type: ignore[arg-type]
        assert judgement.verdict is Verdict.DROPPED and reason in judgement.reason
        assert not game.tesujis.proposed

    @pytest.mark.parametrize("missing", [1, 2])
    def test_without_the_boards_before_and_after_its_move_a_pattern_is_dropped(self, missing: int) -> None:
        report = contest()
        plies = list(report.plies)
        plies[missing] = replace(plies[missing], states=b"")
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=CAPACITY))
        (judgement,) = game.learn(replace(report, plies=tuple(plies)), 1)
        assert judgement.reason == "the report has no boards before and after ply 3"

    def test_what_speaks_against_any_middle_game_pattern_speaks_against_a_marked_one(self) -> None:
        lost = replace(contest(), results=(LOSS, WIN))
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=CAPACITY))
        assert game.learn(lost, 1)[0].reason == "the contest was lost"
        game.muted = frozenset({"ann"})
        assert "muted" in game.learn(contest(), 2)[0].reason
        assert not game.tesujis.proposed

    def test_a_proposal_after_the_report_counts_and_is_learnt_from_then_on(self) -> None:
        game = GameKnowledge(GO, LibrarySettings(tesuji_capacity=CAPACITY))
        game.learn(replace(contest(), proposals=()), 1)
        assert game.judge_late(contest(), 2)[0].verdict is Verdict.INSERTED
        game.learn(replace(contest(), proposals=()), 3)
        row = game.tesujis.codes.tolist().index(game.tesujis.proposed[0])
        assert game.tesujis.offered[row] == 2 and game.tesujis.weight_millionths[row] > 0

    @pytest.mark.threat("flood")
    def test_ever_new_proposals_that_are_dropped_leave_nothing_behind(self) -> None:
        spec = GameSpec("go-64x64", SquareGeometry(64, 64))
        before = Board.from_letters(spec.geometry, "-" * 64 * 64)
        steps = [step for step in NEAR_CELLS if 0 not in step]

        def dropped(number: int) -> None:
            lines = [["#"] * 7 for _ in range(7)]
            lines[3][3] = "*"
            lines[3 + steps[number][0]][3 + steps[number][1]] = "o"
            text = "\n".join(" ".join(line) for line in lines)
            judgement, _ = judged(text, spec=spec, before=before, cell=64 * 32 + 32)
            assert "something else stood around" in judgement.reason

        dropped(0)
        tracemalloc.start()
        try:
            for number in range(1, 6):
                dropped(number)
            assert tracemalloc.get_traced_memory()[0] < 1_000_000
        finally:
            tracemalloc.stop()

    def test_where_pieces_fall_the_mark_needs_the_cells_where_they_come_to_rest(self) -> None:
        before = Board.from_letters(FOUR.geometry, "-" * 35 + "oo-----")
        above = "# - #\n_ # #\no o *"
        judgement, game = judged(above.replace("_", "-"), spec=FOUR, before=before, cell=37)
        assert judgement.verdict is Verdict.DROPPED and "something else stood" in judgement.reason
        judgement, game = judged(above, spec=FOUR, before=before, cell=37)
        assert judgement.verdict is Verdict.INSERTED and sorted(drawn(game)[0]) == sorted(above)
        assert "wholly on the board" in judged("o o *\n# # +", spec=FOUR, before=before, cell=37)[0].reason


def proposed(numbers: range) -> TesujiTable:
    return reduce(
        lambda table, number: table.propose(PROPOSED + 5 * number, 150_000), numbers, TesujiTable.empty()
    )


class TestLearning:
    @given(st.integers(0, 2**32), st.sampled_from(GAMES))
    def test_what_stands_there_is_found_and_nothing_else(self, seed: int, spec: GameSpec) -> None:
        """Against reading each cell of each image by itself."""
        random = Random(seed)
        report = placed(spec, by_the_rules(spec), seed, plies=8)
        board, player = Board(spec.geometry, report.plies[-1].states), random.choice((1, 2))
        around, known = of(spec), {}
        for at in random.choices(moves(spec, board, player) or [0], k=6):
            cells = seen(spec, board, at, player, random.sample(NEAR_CELLS, random.randrange(1, MOST_CELLS)))
            try:
                known[around.proposed_code(cells, player)] = cells
            except InvalidTesujiError:
                continue
        of_all = around.with_proposed(known)
        codes = of_all.of_cells(board, range(spec.geometry.size), player)
        plain = around.of_cells(board, range(spec.geometry.size), player)
        assert (codes[:, : plain.shape[1]] == plain).all()
        for at, row in enumerate(codes[:, plain.shape[1] :].tolist()):
            expected = [
                code
                for code, cells in known.items()
                if any(seen(spec, board, at, player, image) == image for image in images(spec, cells))
            ]
            assert sorted(code for code in row if code >= 0) == sorted(expected)

    @given(st.integers(0, 2**32), st.sampled_from(GAMES))
    def test_a_code_says_the_whole_tesuji(self, seed: int, spec: GameSpec) -> None:
        random, around = Random(seed), of(spec)
        held = (EMPTY, OWN, OTHER) if spec is FOUR else (EMPTY, OWN, OTHER, OFF)
        steps = [step for step in NEAR_CELLS if spec is not HEX or abs(sum(step)) <= 3]
        # Rows of fewer cells are the game's own shapes.
        count = random.randrange(4 if spec.winning_row else 1, MOST_CELLS + 1)
        cells = {step: random.choice(held) for step in random.sample(steps, count)}
        code = around.proposed_code(cells, 1)
        assert PROPOSED <= code < 2**63
        assert {around.proposed_code(image, 1) for image in images(spec, cells)} == {code}
        tesuji = around.read(code)
        assert tesuji.cells in images(spec, cells) and around.code(tesuji) == code
        assert read_tesuji_cells(write_tesuji_cells(tesuji, spec), 1, spec.geometry) == tesuji.cells

    def test_the_documented_code_is_the_stored_one(self) -> None:
        around = of(replace(GO, symmetries=("identity",)))
        # Cells number 4 and 8, as docs/reference/weights.md numbers them; of 0, 1 and 2 cells.
        code = 2**62 + (1 + 48 * 4) + (4 + comb(8, 2)) * 4**2 + (OWN + 4 * OTHER)
        assert around.proposed_code({(0, 1): OWN, (-2, -2): OTHER}, 1) == code

    def test_uses_of_a_proposed_tesuji_are_counted(self) -> None:
        _, game = judged()
        (code,) = game.tesujis.proposed
        use = Use(1, Library.MIDDLE_GAME, (FIRST_IN_USES + code,))
        game.learn(replace(contest(number=1), proposals=(), uses=(use,)), 2)
        row = game.tesujis.codes.tolist().index(code)
        assert (game.tesujis.uses[row], game.tesujis.successes[row]) == (1, 1)

    def test_the_second_players_proposal_is_the_same_tesuji_with_exchanged_colours(self) -> None:
        for spec in (GO, HEX, OTHELLO):
            around = of(spec)
            cells = {(0, 2): OWN, (1, 0): OTHER, (-1, 1): EMPTY}
            reversal = spec.reversal_symmetry
            assert isinstance(reversal, GridSymmetry)
            turned = {reversal.image(*step): held for step, held in cells.items()}
            assert around.proposed_code(turned, 2) == around.proposed_code(cells, 1)

    def test_proposed_tesujis_have_places_of_their_own_and_leave_by_strength(self) -> None:
        table = proposed(range(MOST_PROPOSED + 5))
        own = TesujiTable.of(
            range(40), *([[9] * 40, [3] * 40, [900_000] * 40, [500_000] * 40] + [[0] * 40] * 3)
        )
        table = table.unite(own)
        strong = replace(table, weight_millionths=table.weight_millionths + (table.codes == PROPOSED) * 1_000)
        kept = strong.keep_strongest(50)
        # The oldest of equals go; that of some weight stays.
        assert len(kept) == 50 and len(kept.proposed) == MOST_PROPOSED and PROPOSED in kept.proposed
        assert {PROPOSED + 5 * 5, PROPOSED + 5 * 6} & {*kept.proposed} == {PROPOSED + 5 * 6}
        assert strong.keep_strongest(10).proposed == kept.proposed[:1] + kept.proposed[-9:]

    def test_no_more_are_kept_than_have_places_however_much_room_there_is(self) -> None:
        assert len(proposed(range(33)).keep_strongest(CAPACITY)) == MOST_PROPOSED == 32

    def test_proposed_tesujis_that_are_restored_take_no_more_places_than_they_have(self) -> None:
        removed = proposed(range(MOST_PROPOSED, MOST_PROPOSED + 5))
        table = proposed(range(MOST_PROPOSED - 2))
        back = table.put_back(removed, LibrarySettings())
        assert len(back.proposed) == MOST_PROPOSED and {*table.proposed} < {*back.proposed}


def seen(spec: GameSpec, board: Board, at: int, player: int, steps: object) -> dict[Cell, int]:
    """What the cells some steps from a cell are to a player, who in a symmetric game has turned the board."""
    reversal = spec.reversal_symmetry
    assert isinstance(reversal, GridSymmetry)
    places = {cell: index for index, cell in enumerate(spec.geometry.cells)}  # type: ignore[union-attr]
    own, other = ("x", "o") if player == 1 else ("o", "x")
    digits = {own: OWN, other: OTHER, "-": EMPTY}
    row, column = spec.geometry.cells[at]  # type: ignore[union-attr]
    by_step = {}
    for step in steps:  # type: ignore[attr-defined]
        down, right = step
        place = places.get((row + down, column + right))
        held = OFF if place is None else digits[board.letters[place]]
        if spec is FOUR and held == EMPTY:
            below = places.get((row + down + 1, column + right))
            held = 4 if below is None or board.letters[below] != "-" else EMPTY
        by_step[step] = held
    return by_step


def images(spec: GameSpec, cells: Mapping[Cell, int]) -> list[dict[Cell, int]]:
    return [
        {symmetry.image(*step): held for step, held in cells.items()}
        for symmetry in spec.symmetry_group
        if isinstance(symmetry, GridSymmetry)
    ]
