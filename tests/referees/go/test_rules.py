"""Turns, ko and superko, self-capture, the end, scores, and what ACADEMY receives."""

from dataclasses import replace

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.spec import GameSpec
from referees.api import IllegalMoveError, Outcome, Termination, UnreadableMoveError
from referees.go import BLACK, PASS, WHITE, Go, GoPosition
from tests.referees.go.diagrams import board, diagram, normal


def go(size: int, **settings: object) -> Go:
    return Go.from_settings({"board_size": size, **settings})


def position(text: str, mover: int) -> GoPosition:
    return GoPosition(bytes(board(text).stones), mover)


def played(game: Go, *texts: str, start: GoPosition | None = None) -> GoPosition:
    now = game.start(0) if start is None else start
    for text in texts:
        now = game.play(now, {now.mover: game.read_move(now, now.mover, text)})
    return now


def refusal(game: Go, now: GoPosition, text: str) -> str | None:
    move = game.read_move(now, now.mover, text)
    listed = move in game.legal_moves(now, now.mover)
    try:
        game.check(now, now.mover, move)
    except IllegalMoveError as why:
        assert not listed
        with pytest.raises(IllegalMoveError):
            game.play(now, {now.mover: move})
        return str(why)
    assert listed
    return None


def test_black_begins_and_the_colours_alternate() -> None:
    game = go(3)
    now = game.start(0)
    assert game.to_move(now) == (BLACK,)
    now = played(game, "B2")
    assert game.to_move(now) == (WHITE,)
    now = played(game, "A1", start=now)
    assert game.to_move(now) == (BLACK,)
    assert diagram(3, now.stones) == normal(". . .\n. X .\nO . .")


def test_legal_moves_are_the_points_from_the_top_left_and_the_pass() -> None:
    game = go(2)
    now = played(game, "B2")
    assert [game.move_text(move) for move in game.legal_moves(now, WHITE)] == ["A2", "A1", "B1", "pass"]
    assert not game.legal_moves(now, BLACK)


@pytest.mark.parametrize(
    ("seat", "move", "rule"),
    [
        (WHITE, 3, "Black's turn"),
        (7, 3, "Black's turn"),
        (BLACK, 9, "not a point"),
        (BLACK, -2, "not a point"),
        (BLACK, "A1", "not a point"),
        (BLACK, None, "not a point"),
        (BLACK, 4, "B2 is occupied"),
    ],
)
def test_a_refusal_says_which_rule_forbids_the_move(seat: int, move: int, rule: str) -> None:
    game = go(3)
    now = position(". . .\n. O .\n. . .", BLACK)
    with pytest.raises(IllegalMoveError, match=rule):
        game.check(now, seat, move)
    with pytest.raises(IllegalMoveError):
        game.play(now, {seat: move})


@pytest.mark.parametrize("moves", [{}, {BLACK: 0, WHITE: 1}])
def test_one_colour_moves_at_a_time(moves: dict[int, int]) -> None:
    game = go(3)
    with pytest.raises(IllegalMoveError, match="one seat"):
        game.play(game.start(0), moves)


KO = """
    . X O . .
    X a X O .
    . X O . .
    . . . . .
    . . . . .
    """


def test_a_ko_is_retaken_only_after_another_move() -> None:
    game = go(5)
    taken = played(game, "B4", start=position(KO, WHITE))
    assert refusal(game, taken, "C4") == "ko forbids C4 now"
    for threat, answer in (("E1", "D1"), ("pass", "D1"), ("E1", "pass")):
        assert refusal(game, played(game, threat, answer, start=taken), "C4") is None


def test_only_superko_forbids_to_send_two_and_return_one() -> None:
    before = position(
        """
        . X . X
        O O X X
        O . O .
        . . . .
        """,
        BLACK,
    )
    # Black sends a second stone, White takes both, Black takes the taker: all as it was.
    simple, superko = go(4), go(4, ko="positional_superko")
    assert played(simple, "A4", "C4", "B4", start=before).stones == before.stones
    remembered = replace(before, history=frozenset((before.stones,)))
    now = played(superko, "A4", "C4", start=remembered)
    assert "superko" in str(refusal(superko, now, "B4"))
    assert refusal(superko, played(superko, "D1", "C1", start=now), "B4") is None


def test_superko_counts_the_first_position_and_ignores_passes() -> None:
    game = go(2, ko="positional_superko")
    now = played(game, "A1", "B1", "A2", "pass", "B2")
    assert diagram(2, now.stones) == normal("X X\nX .")
    # White's stone at B1 would take all and leave only itself: new. Black's would clear the board.
    assert refusal(game, now, "B1") is None
    assert "superko" in str(refusal(game, played(game, "pass", start=now), "B1"))


def test_self_capture_is_allowed_unless_the_settings_forbid_it() -> None:
    before = "a O .\nO . .\n. . ."
    now = position(before, BLACK)
    assert refusal(go(3), now, "A3") is None
    forbidding = go(3, self_capture=False)
    assert "self-capture" in str(refusal(forbidding, now, "A3"))
    capture = position("a O X\nX O X\nO X .", BLACK)
    assert refusal(forbidding, capture, "A3") is None


def test_superko_forbids_the_self_capture_of_one_stone() -> None:
    game = go(3, ko="positional_superko")
    now = played(game, "pass", "B3", "C1", "A2")
    assert "superko" in str(refusal(game, now, "A3"))


def test_two_passes_in_succession_end_the_game() -> None:
    game = go(3, komi=0.5)
    now = played(game, "pass", "B2", "pass")
    assert game.to_move(now) == (WHITE,) and game.outcome(now) is None
    now = played(game, "pass", start=now)
    assert game.to_move(now) == () and game.outcome(now) is not None
    assert not game.legal_moves(now, BLACK) and not game.legal_moves(now, WHITE)
    with pytest.raises(IllegalMoveError, match="over"):
        game.check(now, BLACK, PASS)


HALVES = """
    . X O .
    X X O O
    . X O .
    X X O O
    """
SCORES = [
    (HALVES, {"komi": 0}, "0", (1, 2), (8.0, 8.0)),
    (HALVES, {"komi": 7.5}, "W+7.5", (2,), (8.0, 15.5)),
    (HALVES, {"komi": -3}, "B+3", (1,), (8.0, 5.0)),
    (HALVES, {"komi": 7.1}, "W+7.1", (2,), (8.0, 15.1)),
    (HALVES, {"komi": 0.1}, "W+0.1", (2,), (8.0, 8.1)),
    (". .\n. .", {"komi": 0}, "0", (1, 2), (0.0, 0.0)),
    ("X .\n. .", {"komi": 3.5}, "B+0.5", (1,), (4.0, 3.5)),
    ("X .\n. .", {"komi": 4}, "0", (1, 2), (4.0, 4.0)),
]


@pytest.mark.parametrize(("stones", "settings", "summary", "winners", "points"), SCORES)
def test_the_greater_area_wins_by_the_difference(
    stones: str,
    settings: dict[str, object],
    summary: str,
    winners: tuple[int, ...],
    points: tuple[float, float],
) -> None:
    game = go(board(stones).size, **settings)
    over = replace(position(stones, BLACK), passes=2)
    assert game.outcome(over) == Outcome(winners, Termination.SCORE, summary, points)
    stopped = replace(over, passes=0)
    assert game.adjudicate(stopped) == Outcome(winners, Termination.ADJUDICATION, summary, points)


@pytest.mark.parametrize(("compensation", "white"), [("no", 0.5), ("full", 4.5), ("short", 3.5)])
def test_white_is_compensated_for_handicap_stones(compensation: str, white: float) -> None:
    game = go(9, komi=0.5, handicap=4, handicap_compensation=compensation)
    over = played(game, "pass", "pass")
    outcome = game.outcome(over)
    assert outcome is not None and outcome.points == (81.0, white)


@pytest.mark.parametrize(
    ("termination", "ending"),
    [
        (Termination.RESIGNATION, "R"),
        (Termination.FORFEIT, "F"),
        (Termination.CLAIM, ""),
        (Termination.AGREEMENT, ""),
    ],
)
def test_a_game_that_is_given_to_a_colour_says_why(termination: Termination, ending: str) -> None:
    game = go(9)
    assert game.won_by(BLACK, termination, "late") == Outcome((1,), termination, f"B+{ending}", detail="late")
    assert game.won_by(WHITE, termination).summary == f"W+{ending}"


@pytest.mark.parametrize(
    ("size", "text", "move"),
    [(9, "A9", 0), (9, "J1", 80), (9, " d4 ", 48), (9, "D04", 48), (9, "PASS", PASS), (25, "Z25", 24)],
)
def test_moves_are_read_leniently(size: int, text: str, move: int) -> None:
    game = go(size)
    assert game.read_move(game.start(0), BLACK, text) == move
    assert game.read_move(game.start(0), BLACK, game.move_text(move)) == move


@pytest.mark.parametrize(
    "text", ["", "I5", "K1", "A0", "A10", "A", "5", "resign", "A1 A2", "A-1", "A1" * 999]
)
def test_a_text_that_is_not_a_move_is_refused_with_the_boards_limits(text: str) -> None:
    game = go(9)
    with pytest.raises(UnreadableMoveError, match="columns A to J without I, rows 1 to 9") as refused:
        game.read_move(game.start(0), BLACK, text)
    assert len(str(refused.value)) < 200


def test_academy_gets_the_board_its_symmetries_and_the_names_of_points() -> None:
    spec = go(9).spec()
    assert (spec.game_id, spec.geometry, spec.players) == ("go-9x9", SquareGeometry(9, 9), 2)
    assert len(spec.symmetries) == 8 and spec.symmetric and spec.reversal == "identity"
    assert (spec.cell_names[0], spec.cell_names[8], spec.cell_names[-1]) == ("A9", "J9", "J1")
    assert spec.canonical_moves(["G7", "pass"]) == spec.canonical_moves(["C3", "pass"])


def test_knowledge_is_shared_between_komis_but_not_between_handicaps() -> None:
    assert go(9, komi=0.5, ko="positional_superko").spec() == go(9).spec()
    assert go(9, handicap=2).spec().game_id == "go-9x9-h2"


@pytest.mark.parametrize(("stones", "count"), [(2, 4), (3, 2), (4, 8), (5, 8), (6, 4), (8, 8)])
def test_a_handicap_leaves_the_symmetries_that_keep_its_stones(stones: int, count: int) -> None:
    game = go(9, handicap=stones)
    spec: GameSpec = game.spec()
    start = game.board(game.start(0), BLACK)
    assert len(spec.symmetries) == count and not spec.symmetric
    assert {spec.board_image(start, symmetry) for symmetry in spec.symmetry_group} == {start}


def test_blacks_stones_are_the_first_players_soldiers_for_both_colours() -> None:
    game = go(3)
    now = position(". X .\nO . .\n. . X", WHITE)
    assert game.board(now, BLACK).letters == game.board(now, WHITE).letters == "-x-o----x"


def test_interaction_means_that_a_group_is_in_atari() -> None:
    game = go(3)
    assert not game.interaction(position("X . .\n. O .\n. . .", BLACK))
    assert game.interaction(position("X O .\n. . .\n. . .", BLACK))


def test_positions_are_values() -> None:
    game = go(5)
    there, there_again = (played(game, "A1", "B2", "pass") for _ in range(2))
    assert there == there_again and hash(there) == hash(there_again)
    assert there != played(game, "A1", "pass", "B2")


def test_black_may_arrange_a_free_handicap() -> None:
    game = go(5, komi=0.5, handicap=4, handicap_style="free")
    assert (game.arranger(), go(5).arranger()) == (BLACK, None)
    first = game.arrange("a1 B2 e5")
    assert game.to_move(first) == (WHITE,)
    assert game.board(first, BLACK).letters.count("x") == first.handicap == 3
    assert game.spec().game_id == "go-5x5-h4-free"
    assert len(game.spec().symmetries) == 1


def test_compensation_is_for_the_stones_that_were_placed() -> None:
    game = go(5, komi=0.5, handicap=4, handicap_style="free")
    now = game.arrange("a1 B2 e5")
    for seat in (WHITE, BLACK):
        now = game.play(now, {seat: PASS})
    assert game.adjudicate(now).summary == "B+21.5"


@pytest.mark.parametrize("text", ["", "A1", "A1 A1", "A1 pass", "A1 F1", "A1 A2 A3 A4 A5", "A1 resign"])
def test_stones_that_make_no_free_handicap_are_refused(text: str) -> None:
    with pytest.raises(UnreadableMoveError):
        go(5, handicap=4, handicap_style="free").arrange(text)


def test_a_fixed_handicap_is_not_for_players_to_arrange() -> None:
    with pytest.raises(UnreadableMoveError, match="not for players to arrange"):
        go(9, handicap=4).arrange("A1 A2")
