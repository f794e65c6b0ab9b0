"""The evaluation: what contests teach about positions, what it is worth, and who cannot change it."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge import evaluation
from academy.knowledge.anchored_patterns import AnchoredPatterns, anchored_patterns
from academy.knowledge.boards import Board, HexGeometry, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.contests import Contestant, ContestReport, Ply, Result, Use
from academy.knowledge.evaluation import EVALUATION_IN_USES, EvaluationTable
from academy.knowledge.evaluation_features import FIRST_PATTERN, Feature, count_features
from academy.knowledge.game import GameKnowledge
from academy.knowledge.learnt_weights import logistic
from academy.knowledge.position_evaluator import PositionEvaluator
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.knowledge.tesujis.shapes import MOST_CODES
from academy.knowledge.tesujis.table import FIRST_IN_USES
from academy.knowledge.votes import ELO_SCALE, MAX_ELO

from .games import DIPLOMACY, DRAUGHTS, DRAW, GO, HEX, LOSS, MAP, WIN

MOST_ELO = round(MAX_ELO * ELO_SCALE)
FEATURES = LibrarySettings(evaluation=True)
PATTERNS = LibrarySettings(evaluation=True, evaluation_patterns=1_000)
STATES = (State.EMPTY, State.FIRST_SOLDIER, State.FIRST_KING, State.SECOND_SOLDIER, State.SECOND_KING)


def of(spec: GameSpec) -> AnchoredPatterns:
    patterns = anchored_patterns(spec)
    assert patterns is not None
    return patterns


def test_a_game_without_turns_has_no_patterns() -> None:
    assert anchored_patterns(replace(GO, simultaneous=True, symmetries=("identity",))) is None


@pytest.mark.parametrize("geometry", [SquareGeometry(2, 2), HexGeometry(2, 2)])
def test_a_board_too_small_for_any_pattern_has_none(geometry: SquareGeometry | HexGeometry) -> None:
    spec = GameSpec("tiny", geometry)
    assert anchored_patterns(spec) is None
    assert EvaluationTable().learn(contest(spec, 1), spec, PATTERNS, frozenset()).contests == 1


def random_board(spec: GameSpec, random: Random) -> Board:
    return Board(spec.geometry, bytes(random.choices(STATES, (4, 3, 1, 3, 1), k=spec.geometry.size)))


def contest(
    spec: GameSpec,
    seed: int,
    *,
    elos: tuple[float, float] = (1500.0, 1500.0),
    names: tuple[str, str] = ("ann", "bob"),
    right: bool = True,
) -> ContestReport:
    """Positions at random, won by the player who has more of the four corners (or not `right`)."""
    random = Random(seed)
    boards = [random_board(spec, random).states for _ in range(9)]
    columns = getattr(spec.geometry, "columns", 2)
    corners = (0, columns - 1, spec.geometry.size - columns, spec.geometry.size - 1)
    last = boards[-1]
    ahead = sum(last[cell] in (State.FIRST_SOLDIER, State.FIRST_KING) for cell in corners) - sum(
        last[cell] in (State.SECOND_SOLDIER, State.SECOND_KING) for cell in corners
    )
    # The corners of all positions are the same, so that they can be learnt.
    states = [
        bytes(last[cell] if cell in corners else state for cell, state in enumerate(board))
        for board in boards
    ]
    plies = tuple(
        Ply(number % 2 + 1, "x", after, legal_moves=random.randrange(9))
        for number, after in enumerate(states[1:])
    )
    results = (DRAW, DRAW) if not ahead else (WIN, LOSS) if (ahead > 0) == right else (LOSS, WIN)
    contestants = tuple(Contestant(name, elo) for name, elo in zip(names, elos, strict=True))
    return ContestReport(f"c{seed}", contestants, plies, results, start_states=states[0])


def learnt(
    contests: Sequence[ContestReport], spec: GameSpec = GO, rules: LibrarySettings = PATTERNS
) -> EvaluationTable:
    table = EvaluationTable()
    for report in contests:
        table = table.learn(report, spec, rules)
    return table


def evaluator(table: EvaluationTable, spec: GameSpec = GO) -> PositionEvaluator:
    return PositionEvaluator(spec, table.codes, table.weight_millionths / 1e6)


def test_players_of_draughts_learn_what_pieces_and_moves_are_worth() -> None:
    random, reports = Random(1), []
    for number in range(300):
        soldiers, kings = random.randint(-3, 3), random.randint(-1, 1)
        won = soldiers + 3 * kings + random.gauss(0, 1) > 0
        cells = [State.FIRST_SOLDIER] * max(0, soldiers) + [State.SECOND_SOLDIER] * max(0, -soldiers)
        cells += [State.FIRST_KING] * max(0, kings) + [State.SECOND_KING] * max(0, -kings)
        board = bytes(cells + [State.EMPTY] * (16 - len(cells)))
        plies = tuple(Ply(ply % 2 + 1, "x", board, legal_moves=3) for ply in range(4))
        players = (Contestant("ann", 1500.0), Contestant("bob", 1500.0))
        results = (WIN, LOSS) if won else (LOSS, WIN)
        reports.append(ContestReport(f"c{number}", players, plies, results))
    first, _, _, soldier, king = evaluator(learnt(reports, DRAUGHTS, FEATURES), DRAUGHTS).features
    assert soldier > 0.4 and king > 1.5 * soldier and abs(first) < soldier


@pytest.mark.parametrize("spec", [GO, HEX], ids=["squares", "hexagons"])
def test_patterns_tell_what_features_do_not(spec: GameSpec) -> None:
    taught = [contest(spec, seed) for seed in range(250)]
    fresh = [contest(spec, seed) for seed in range(1_000, 1_100)]

    def right(rules: LibrarySettings) -> float:
        weighed, decided = evaluator(learnt(taught, spec, rules), spec), 0
        hits = 0
        for report in fresh:
            if report.results[0] is Result.DRAW:
                continue
            [odds] = weighed.log_odds([Board(spec.geometry, report.start_states)], 1)
            decided += 1
            hits += (odds > 0) == (report.results[0] is WIN)
        return hits / decided

    features, patterns = right(FEATURES), right(replace(PATTERNS, evaluation_patterns=5_000))
    assert patterns > 0.8 > features + 0.05


@pytest.mark.parametrize("spec", [GO, DRAUGHTS, HEX])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=20, deadline=None)
def test_images_are_worth_the_same_and_exchanged_colours_the_opposite(spec: GameSpec, seed: int) -> None:
    table = learnt([contest(spec, number) for number in range(6)], spec)
    # Being first is the only feature that is not turned round with the colours.
    weighed = evaluator(replace(table, weight_millionths=table.weight_millionths * (table.codes != 0)), spec)
    board = random_board(spec, Random(seed))
    images = [board] + [
        image for symmetry in spec.symmetry_group if (image := spec.board_image(board, symmetry)) is not None
    ]
    values = weighed.log_odds(images, 1)
    assert values == pytest.approx([values[0]] * len(images))
    reversed_values = weighed.log_odds([spec.reversed_board(image) for image in images], 2)
    assert reversed_values == pytest.approx([-values[0]] * len(images))


def test_contests_played_in_another_orientation_teach_the_same() -> None:
    reports = [contest(GO, seed) for seed in range(12)]
    turned = []
    for number, report in enumerate(reports):
        symmetry = SQUARE[tuple(SQUARE)[number % 8]]

        def image(states: bytes, symmetry=symmetry) -> bytes:  # type: ignore[no-untyped-def]
            board = GO.board_image(Board(GO.geometry, states), symmetry)
            assert board is not None
            return board.states

        plies = tuple(replace(ply, states=image(ply.states)) for ply in report.plies)
        turned.append(replace(report, plies=plies, start_states=image(report.start_states)))
    assert learnt(turned) == learnt(reports)


def test_a_game_whose_players_differ_ties_no_colours() -> None:
    apart = replace(GO, symmetric=False)
    first, second = (bytes([piece]) + bytes([State.EMPTY]) * 24 for piece in (2, 8))
    codes = np.unique(of(apart).codes(np.frombuffer(first + second, dtype=np.uint8).reshape(2, -1)))
    assert set(of(apart).least_images(codes)[1].tolist()) == {1}
    assert set(of(GO).least_images(codes)[1].tolist()) == {-1, 0, 1}


def test_every_machine_and_every_replay_gets_the_same_weights() -> None:
    table = learnt(
        [contest(GO, seed) for seed in range(30)], rules=replace(PATTERNS, evaluation_patterns=300)
    )
    columns = b"".join(column.astype("<i8").tobytes() for column in table.columns())
    assert hashlib.sha256(columns).hexdigest()[:16] == "cb8f315856bfd90e"


def test_a_long_contest_is_learnt_in_parts_with_pauses_and_gives_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = contest(GO, 1)
    report = replace(report, plies=report.plies * 200)
    pauses: list[None] = []
    usual = learnt([contest(GO, 0)])
    at_once = usual.learn(report, GO, PATTERNS)
    monkeypatch.setattr(evaluation, "_PLACES_AT_ONCE", 5_000)
    in_parts = usual.learn(report, GO, PATTERNS, give_way=lambda: pauses.append(None))
    assert in_parts == at_once != usual
    positions = len(report.plies)
    assert len(pauses) >= positions * len(of(GO).places) / 5_000 > 10


def test_a_full_table_keeps_what_says_most_and_never_more_than_its_capacity() -> None:
    small = replace(PATTERNS, evaluation_patterns=40)
    table = EvaluationTable()
    for seed in range(40):
        before, table = table, table.learn(contest(GO, seed), GO, small)
        assert table.patterns <= 40 and set(Feature) <= set(table.codes.tolist())
        if seed:
            kept = np.isin(before.codes, table.codes)
            assert before.strengths[kept].mean() >= before.strengths.mean()
    assert table.keep_strongest(10).patterns == 10
    assert table.keep_strongest(0).codes.tolist() == list(Feature)


def test_weak_players_hardly_move_what_strong_ones_taught() -> None:
    room = replace(PATTERNS, evaluation_patterns=50_000)
    strong = learnt([contest(GO, seed) for seed in range(100)], rules=room)
    attacks = [
        contest(GO, seed, elos=(1500.0, 100.0), names=("ann", "eve"), right=False) for seed in range(100, 110)
    ]
    honest = [contest(GO, seed, right=False) for seed in range(100, 110)]

    def moved(reports: Sequence[ContestReport]) -> int:
        after = strong
        for report in reports:
            after = after.learn(report, GO, room)
        shared = dict(zip(after.codes.tolist(), after.weight_millionths.tolist(), strict=True))
        pairs = zip(strong.codes.tolist(), strong.weight_millionths.tolist(), strict=True)
        changes: list[int] = [abs(shared.get(code, 0) - weight) for code, weight in pairs]
        return sum(changes)

    assert moved(attacks) < 0.05 * moved(honest)


def test_crowds_of_weak_players_push_out_none_of_the_strongest_patterns() -> None:
    full = replace(PATTERNS, evaluation_patterns=200)
    table = learnt([contest(GO, seed) for seed in range(60)], rules=full)
    strongest = set(table.keep_strongest(100).codes.tolist())
    for seed in range(60, 160):
        table = table.learn(contest(GO, seed, elos=(300.0, 300.0), names=("eve", "ed")), GO, full)
    assert len(strongest - set(table.codes.tolist())) <= 5


@pytest.mark.parametrize("claimed_first", [True, False])
def test_a_claimed_elo_of_6000_silences_nobody(claimed_first: bool) -> None:
    claim = contest(GO, 999, elos=(6000.0, 6000.0), names=("eve", "ed"))
    honest = [contest(GO, seed, elos=(300.0, 300.0)) for seed in range(50)]
    alone = learnt(honest)
    poisoned = learnt([claim, *honest] if claimed_first else [*honest[:25], claim, *honest[25:]])
    # The contests of others count at least half as much as without it, together.
    counted = poisoned.taught_millionths - 1_000_000
    assert counted > 0.5 * alone.taught_millionths
    assert poisoned.best_elo_hundredths < 52_500


@pytest.mark.parametrize(
    ("elos", "believed", "counts"),
    [
        ([300], 300, 1),
        # It begins at 500 at most, and goes towards this contest, too.
        ([6_000], 525, 1),
        ([300, 310], 310, 1),
        ([300, 6_000], 325, 1),
        ([500, 499], 499, 10 ** (-1 / 800)),
        # Down by at most 5 times what the contest counts.
        ([500, 100], 500 - 5 / 10**0.5, 10**-0.5),
        ([500, -300], 499.5, 0.1),
        ([500, -99_000], 500, math.exp(-8)),
        # The first may well be 0; the second is not taken for the first.
        ([0, 6_000], 25, 1),
    ],
)
def test_a_contest_counts_by_the_best_elo_which_is_believed_a_step_at_a_time(
    elos: list[float], believed: float, counts: float
) -> None:
    before = learnt([contest(GO, seed, elos=(elo, 9e3)) for seed, elo in enumerate(elos[:-1])])
    table = before.learn(contest(GO, 9, elos=(elos[-1], 9e3)), GO, PATTERNS)
    assert table.best_elo_hundredths / 100 == pytest.approx(believed, abs=0.01)
    assert (table.taught_millionths - before.taught_millionths) / 1e6 == pytest.approx(
        counts, rel=1e-3, abs=1e-6
    )


def test_muted_players_and_games_without_turns_teach_nothing() -> None:
    report = contest(GO, 1)
    assert EvaluationTable().learn(report, GO, PATTERNS, frozenset({"bob"})) == EvaluationTable()
    assert EvaluationTable().learn(report, DIPLOMACY, PATTERNS) == EvaluationTable()
    assert EvaluationTable().learn(report, MAP, PATTERNS) == EvaluationTable()
    assert EvaluationTable().learn(report, GO, LibrarySettings()) == EvaluationTable()
    blind = replace(report, plies=tuple(replace(ply, states=b"") for ply in report.plies), start_states=b"")
    assert EvaluationTable().learn(blind, GO, PATTERNS) == EvaluationTable()


@pytest.mark.parametrize("moves", [3_000, 2**32 - 1])
def test_contests_with_any_number_of_moves_and_plies_can_be_learnt_for_ever(moves: int) -> None:
    board = bytes([State.EMPTY]) * GO.geometry.size
    # The second player wins all, and has all of the moves: slopes are as great as they can be.
    plies = tuple(Ply(2, "x", board, legal_moves=moves) for _ in range(2_000))
    players = (Contestant("ann", 1500.0), Contestant("bob", 1500.0))
    won, lost = (
        ContestReport(f"c{moves}", players, plies, results, start_states=board)
        for results in ((WIN, LOSS), (LOSS, WIN))
    )
    table = EvaluationTable()
    for report in [won, lost] * 20:
        before, table = table, table.learn(report, GO, FEATURES)
        steps = np.abs(np.subtract(evaluator(table).features, evaluator(before).features))
        assert steps.max() <= 0.2
        stored = EvaluationTable.of([column.tolist() for column in table.columns()], table.figures())
        assert stored == table


def test_players_too_strong_for_its_teachers_get_nothing() -> None:
    table = learnt([contest(GO, seed) for seed in range(3)])
    assert table.elo == 1500.0
    assert table.for_player(1400.0) is table and table.for_player(None) is table
    assert not len(table.for_player(1500.0))


def test_switching_it_off_keeps_it_untold_and_a_lower_capacity_evicts() -> None:
    game = GameKnowledge(GO, PATTERNS)
    for seed in range(5):
        game.learn(contest(GO, seed), seed)
    assert game.take_changes().evaluation and game.evaluation.patterns > 50
    removed = game.evaluation.patterns - 20
    assert game.change_settings(replace(PATTERNS, evaluation_patterns=20)) == removed
    assert game.evaluation.patterns == 20
    kept = game.evaluation
    assert game.change_settings(LibrarySettings()) == 0
    assert game.evaluation == kept and game.evaluation.for_answers(game.settings) == EvaluationTable()
    game.take_changes()
    game.learn(contest(GO, 9), 9)
    assert not game.take_changes().evaluation
    # Features alone go on learning, and patterns wait.
    assert game.change_settings(FEATURES) == 0
    game.learn(contest(GO, 10), 10)
    assert game.evaluation.patterns == 20 and game.evaluation.contests == 6
    assert game.evaluation.for_answers(FEATURES).patterns == 0
    assert game.evaluation.for_answers(PATTERNS) is game.evaluation


def test_a_use_in_a_contest_is_counted_with_its_result() -> None:
    game = GameKnowledge(GO, FEATURES)
    game.learn(contest(GO, 3), 3)
    for seed in (1, 2):
        report = contest(GO, seed)
        uses = (Use(1, Library.MIDDLE_GAME, (EVALUATION_IN_USES,)),)
        game.learn(replace(report, results=(LOSS, WIN) if seed == 1 else (WIN, LOSS), uses=uses), seed)
    assert (game.evaluation.uses, game.evaluation.successes) == (2, 1)


def test_the_contents_of_a_pattern_are_those_of_the_board() -> None:
    board = random_board(GO, Random(5))
    patterns = of(GO)
    for code in patterns.codes(np.frombuffer(board.states, dtype=np.uint8)[None])[:, 0].tolist():
        for cell, player in patterns.contents(code):
            expected = {1: 0, 2: 1, 4: 1, 8: 2, 16: 2}[board.states[cell]]
            assert player == expected


@pytest.mark.parametrize("spec", [GO, HEX, replace(GO, symmetric=False)], ids=["go", "hex", "apart"])
def test_boards_after_moves_have_the_codes_that_each_has_by_itself(spec: GameSpec) -> None:
    random, patterns = Random(6), of(spec)
    boards = [random_board(spec, random).states]
    for changed in (0, 1, 1, 3, spec.geometry.size):
        board = bytearray(boards[0])
        for cell in random.sample(range(spec.geometry.size), changed):
            board[cell] = random.choice([State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER])
        boards.append(bytes(board))
    states = np.frombuffer(b"".join(boards), dtype=np.uint8).reshape(len(boards), -1)
    apart = patterns.codes(states)
    first, rows, places, codes = patterns.changed_codes(states)
    assert first.tolist() == apart[:, 0].tolist()
    differs = np.nonzero((apart != apart[:, :1]).T)
    assert (rows.tolist(), places.tolist()) == (differs[0].tolist(), differs[1].tolist())
    assert codes.tolist() == apart[places, rows].tolist()


@pytest.mark.parametrize("spec", [GO, HEX, replace(GO, symmetric=False)], ids=["go", "hex", "apart"])
def test_each_image_of_a_pattern_has_the_pattern_as_its_least(spec: GameSpec) -> None:
    patterns = of(spec)
    board = np.frombuffer(random_board(spec, Random(7)).states, dtype=np.uint8)[None]
    least, counts = patterns.least_images(patterns.codes(board)[:, 0])
    images, signs = patterns.images(least[counts != 0])
    for column, sign in zip(images.T, signs.tolist(), strict=True):
        codes_of_images, of_image = patterns.least_images(column)
        assert codes_of_images.tolist() == least[counts != 0].tolist()
        assert set(of_image.tolist()) == {sign}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"codes": [0, 0]}, "code 0: an earlier row has the same code"),
        ({"seen": [1]}, "columns of 1 to 2"),
        ({"seen": [1, -1]}, "seen -1: a number below 0"),
        ({"gradient_millionths": [-1, 1]}, "gradient -1: a number below 0"),
        ({"weight_millionths": [9_000_000, 0]}, "weight 9.0: a weight beyond 8"),
        ({"weight_millionths": [-(2**63), 0]}, "a weight beyond"),
        ({"codes": [0, 2**64]}, "63 bits"),
    ],
)
def test_damaged_tables_are_refused(change: dict[str, list[int]], why: str) -> None:
    columns = {name: [0, 1] for name in EvaluationTable.COLUMNS} | change
    with pytest.raises(ValueError, match=why):
        EvaluationTable.of([columns[name] for name in EvaluationTable.COLUMNS], {})


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ({"uses": 2, "successes": 3}, "3 successes of 2 uses"),
        *(({figure: -1}, "below 0") for figure in ("contests", "taught_millionths", "uses", "successes")),
        *(({"best_elo_hundredths": elo}, "a best Elo beyond") for elo in (MOST_ELO + 1, -MOST_ELO - 1)),
        *(({"taught_elo": elo}, "a figure beyond") for elo in (2**62 + 1, -(2**62) - 1)),
    ],
)
def test_figures_that_no_contests_could_give_are_refused(figures: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        EvaluationTable.of([[]] * 4, figures)


@pytest.mark.parametrize("best", [-MOST_ELO, -40_00, MOST_ELO])
def test_an_elo_may_be_below_0(best: int) -> None:
    elos = {"best_elo_hundredths": best, "taught_elo": best}
    assert EvaluationTable.of([[]] * 4, elos).figures().items() >= elos.items()


def test_numbers_of_features_patterns_and_tesujis_do_not_meet() -> None:
    assert max(Feature) < FIRST_PATTERN
    assert FIRST_IN_USES + MOST_CODES <= EVALUATION_IN_USES


def patterns_seen(**often: int) -> tuple[EvaluationTable, LibrarySettings]:
    """Patterns of one weight, by their code, with figures of all; and settings with room for three."""
    codes = [int(name[1:]) for name in often]
    columns = [codes, often.values(), [500_000] * len(codes), [7] * len(codes)]
    return EvaluationTable.of(columns, {"contests": 5, "uses": 3}), replace(PATTERNS, evaluation_patterns=3)


def test_of_equal_patterns_the_oldest_goes_first() -> None:
    table, _ = patterns_seen(_30=2, _20=2, _25=2, _40=9)
    assert table.keep_strongest(2).codes.tolist() == [25, 40]


def test_patterns_that_are_restored_come_back_by_strength_without_features_and_figures() -> None:
    removed, _ = patterns_seen(_0=99, _17=1, _18=99, _19=3, _20=4)
    now, rules = patterns_seen(_1=8, _18=6)
    back = now.put_back(removed, rules)
    assert back.codes.tolist() == [1, 18, 19, 20] and back.seen.tolist() == [8, 6, 3, 4]
    assert back.figures() == now.figures()
    # Where there is no room, nothing comes; while patterns are switched off, all do.
    assert now.put_back(removed, replace(rules, evaluation_patterns=1)) == now
    for off in (FEATURES, replace(rules, evaluation=False)):
        assert now.put_back(removed, off).patterns == 4


def test_a_table_is_full_where_it_has_more_patterns_than_its_capacity() -> None:
    count = learnt([contest(GO, 1)]).patterns
    for capacity, kept in ((count, count), (count - 1, int(0.75 * (count - 1)))):
        assert learnt([contest(GO, 1)], GO, replace(PATTERNS, evaluation_patterns=capacity)).patterns == kept


@pytest.mark.parametrize("right", [True, False])
def test_weights_at_their_bounds_stay_within_them(right: bool) -> None:
    for bound in (8_000_000, -8_000_000):
        table = EvaluationTable.of([[*Feature], [1] * 5, [bound] * 5, [0] * 5], {})
        for seed in range(4):
            table = table.learn(contest(GO, seed, right=right), GO, FEATURES)
            assert np.abs(table.weight_millionths).max() <= 8_000_000


def test_more_moves_than_1000_count_as_1000() -> None:
    boards = np.zeros((3, 4), dtype=np.uint8)
    counts = count_features(boards, np.array([1.0, 1.0, -1.0]), np.array([999.0, 1_001.0, 2e9]))
    assert counts[:, Feature.MOBILITY].tolist() == [999.0, 1_000.0, -1_000.0]


def test_log_odds_beyond_8_count_as_8() -> None:
    assert (
        logistic(np.array([-1e3, -8.01, 8.01, 1e3])).tolist() == logistic(np.array([-8, -8, 8, 8])).tolist()
    )


@pytest.mark.parametrize(
    "contents", [[(0, 0)], [(0, 3), (1, 0), (2, 0), (3, 0)], [(0, -1), (1, 0), (2, 0), (3, 0)], []]
)
def test_cells_that_no_pattern_has_are_refused(contents: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="no shape of anchored patterns has these"):
        of(GO).code(contents)


EXTREMES = [0, 1, 2**62 - 1, 2**62]


@given(
    contests=st.sampled_from(EXTREMES),
    taught=st.sampled_from(EXTREMES),
    elo=st.sampled_from([*EXTREMES, -(2**62)]),
    uses=st.sampled_from(EXTREMES),
    seen=st.sampled_from(EXTREMES),
    actions=st.lists(st.sampled_from(["learn", "use", "unite"]), min_size=1, max_size=6),
)
@settings(max_examples=40)
def test_whatever_was_imported_what_follows_can_be_stored(
    contests: int, taught: int, elo: int, uses: int, seen: int, actions: list[str]
) -> None:
    figures = {"contests": contests, "taught_millionths": taught, "taught_elo": elo, "uses": uses}
    imported = EvaluationTable.of(
        [[Feature.FIRST, FIRST_PATTERN], [seen, seen], [1_000_000, -5], [2**62, 7]],
        figures | {"successes": uses},
    )
    act = {
        "learn": lambda table: table.learn(contest(GO, 1), GO, FEATURES),
        "use": lambda table: table.count_use(True),
        "unite": lambda table: table.unite(imported),
    }
    table = imported
    for action in actions:
        table = act[action](table)
    assert EvaluationTable.of([column.tolist() for column in table.columns()], table.figures()) == table


def test_evaluations_that_are_united_again_and_again_stay_within_63_bits() -> None:
    figures = {"contests": 2**62, "taught_millionths": 2**62, "taught_elo": 2**62, "uses": 3, "successes": 2}
    huge = EvaluationTable.of([[3, 4], [2**62, 1], [1_000_000, -5], [2**62, 7]], figures)
    united = huge.unite(huge).unite(huge)
    assert united.seen.tolist() == [2**62, 3] and united.gradient_millionths.tolist() == [2**62, 21]
    assert united.weight_millionths.tolist() == huge.weight_millionths.tolist()
    assert (united.contests, united.taught_elo, united.uses) == (2**62, 2**62, 9)
    # What is a mean or a share goes on together, or not at all.
    pairs = {"taught_millionths": 2**62, "taught_elo": 5, "uses": 2**62, "successes": 3}
    most = EvaluationTable.of([[3], [2**63 - 1], [0], [2**63 - 1]], pairs)
    united = most.unite(most)
    assert united.figures().items() >= pairs.items()
    assert united.seen.tolist() == united.gradient_millionths.tolist() == [2**62]


def test_what_taught_nothing_changes_nothing_of_what_it_is_united_with() -> None:
    weak = learnt([contest(GO, 1, elos=(-300.0, -300.0))])
    assert weak.best_elo_hundredths < 0
    assert weak.unite(EvaluationTable()) == EvaluationTable().unite(weak) == weak
    assert EvaluationTable().count_use(True) == EvaluationTable()
    strong = learnt([contest(GO, 2)])
    assert weak.unite(strong).best_elo_hundredths == strong.best_elo_hundredths


def test_no_positions_have_no_worths() -> None:
    assert evaluator(EvaluationTable(), GO).log_odds([], 1) == []
