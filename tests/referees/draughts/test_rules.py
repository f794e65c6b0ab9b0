"""Turns, crowning, wins, boards, and the messages about illegal moves."""

import pytest

from academy.knowledge.occurrence import occurs
from academy.knowledge.text import read_cells
from referees.api import IllegalMoveError, Termination, UnreadableMoveError
from referees.conformance import check_referee
from referees.draughts import VARIANTS, Move
from tests.referees.draughts.placing import after, game, pieces, placed, texts


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_keeps_the_laws(variant: str) -> None:
    report = check_referee(game(variant), games=4)
    assert report.finished == 4


def test_the_laws_hold_without_draw_rules() -> None:
    check_referee(game("english", repetition=0, king_moves=0, king_endings=False), games=2, max_plies=150)


@pytest.mark.parametrize(("variant", "first"), [("english", "Black"), ("international", "White")])
def test_the_side_that_begins(variant: str, first: str) -> None:
    judge = game(variant)
    assert judge.to_move(judge.start(0)) == (1,)
    assert judge.seat_name(1) == first
    assert {judge.seat_name(seat) for seat in (1, 2)} == {"Black", "White"}


def test_player_without_pieces_has_lost() -> None:
    judge = game("english")
    position = after(judge, placed(judge, "B", white="19", black="11"), "11-15", "19x10")
    assert pieces(judge, position) == ("10", "")
    outcome = judge.outcome(position)
    assert outcome is not None
    assert (outcome.winners, outcome.summary, outcome.detail) == ((2,), "1-0", "Black has no pieces left")
    assert outcome.termination is Termination.SCORE
    assert judge.to_move(position) == ()


def test_player_that_cannot_move_has_lost() -> None:
    judge = game("international")
    position = placed(judge, "W", white="46", black="41 37")
    outcome = judge.outcome(position)
    assert outcome is not None
    assert (outcome.winners, outcome.summary, outcome.detail) == ((2,), "0-1", "White cannot move")


@pytest.mark.parametrize(
    ("variant", "to_move", "white", "black", "move", "white_after"),
    [
        ("english", "W", "6", "32", "6-1", "K1"),
        ("english", "W", "6 K18", "32", "18-15", "6 K15"),
        ("international", "W", "7", "50", "7-2", "K2"),
        ("russian", "W", "h6", "g7 c5 a1", "h6xf8xa3", "Ka3"),
    ],
)
def test_men_are_crowned_on_the_far_row(
    variant: str, to_move: str, white: str, black: str, move: str, white_after: str
) -> None:
    judge = game(variant)
    assert pieces(judge, after(judge, placed(judge, to_move, white, black), move))[0] == white_after


@pytest.mark.parametrize(
    ("seat", "text", "why"),
    [
        (1, "11-18", "11-18: the piece cannot move that way"),
        (1, "13-17", "13-17: Black has no piece on 13"),
        (1, "22-18", "22-18: Black has no piece on 22"),
        (2, "22-18", "it is Black's turn, not that of seat 2"),
    ],
)
def test_why_a_move_is_illegal(seat: int, text: str, why: str) -> None:
    judge = game("english")
    position = judge.start(0)
    with pytest.raises(IllegalMoveError, match=f"^{why}$"):
        judge.check(position, seat, judge.read_move(position, seat, text))


def test_a_capture_that_is_due_is_named() -> None:
    judge = game("english")
    position = after(judge, judge.start(0), "11-15", "22-18")
    with pytest.raises(IllegalMoveError, match=r"^9-13: a capture must be made, and to its end: 15x22$"):
        judge.check(position, 1, judge.read_move(position, 1, "9-13"))
    judge = game("international")
    position = placed(judge, "W", "37", "31 32 22")
    with pytest.raises(
        IllegalMoveError, match=r"^37-26: a capture that takes the most pieces must be made.*37x28x17"
    ):
        judge.check(position, 1, judge.read_move(position, 1, "37x26"))


@pytest.mark.parametrize("move", [None, 7, (), (1, 2), Move(()), Move((0, 1)), Move((1, 99))])
def test_a_value_that_is_not_a_move_is_refused(move: object) -> None:
    judge = game("english")
    with pytest.raises(IllegalMoveError, match="is not a move on a board of 32 squares"):
        judge.check(judge.start(0), 1, move)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("11-15", "11-15"),
        (" 11 - 15 ", "11-15"),
        ("11–15", "11-15"),
        ("11x15", "11-15"),
    ],
)
def test_moves_are_read_leniently(text: str, read: str) -> None:
    judge = game("english")
    position = judge.start(0)
    assert judge.move_text(judge.read_move(position, 1, text)) == read


@pytest.mark.parametrize("text", ["24x8", "24X15X8", "24:15:8", "24x15x08"])
def test_captures_need_not_name_the_squares_between(text: str) -> None:
    judge = game("english")
    position = placed(judge, "W", white="24", black="19 11 1")
    move = judge.read_move(position, 2, text)
    assert judge.move_text(move) == "24x15x8"


def test_a_capture_that_can_be_two_needs_its_way() -> None:
    judge = game("english")
    position = placed(judge, "B", white="7 8 15 16", black="3")
    assert texts(judge, position) == ["3x10x19", "3x12x19"]
    with pytest.raises(UnreadableMoveError, match=r"'3x19' may be several moves: say 3x10x19 or 3x12x19"):
        judge.read_move(position, 1, "3x19")
    assert judge.move_text(judge.read_move(position, 1, "3x12x19")) == "3x12x19"


def test_a_flying_king_may_be_written_with_another_landing_on_its_way() -> None:
    judge = game("international")
    position = placed(judge, "W", "K46", "37 24 9")
    (move,) = [move for move in position.moves if judge.move_text(move).endswith("x3")]
    for text in ("46x3", judge.move_text(move)):
        assert judge.read_move(position, 1, text) == move


@pytest.mark.parametrize(
    "text", ["", "11", "11-", "0-1", "11-33", "a1-b2", "eleven-fifteen", "11-15-", "9" * 1000]
)
def test_a_text_that_is_not_a_move_cannot_be_read(text: str) -> None:
    judge = game("english")
    with pytest.raises(UnreadableMoveError, match="is not a move: it needs squares from 1 to 32"):
        judge.read_move(judge.start(0), 1, text)


def test_kings_are_kings_and_light_squares_no_squares_in_academy() -> None:
    judge = game("english")
    position = placed(judge, "B", white="32 K1", black="12 K18")
    for seat in (1, 2):
        rows = judge.board(position, seat).letters
        assert [rows[start : start + 8] for start in range(0, 64, 8)] == [
            "+w+-+-+-",
            "-+-+-+-+",
            "+-+-+-+x",
            "-+-+-+-+",
            "+-+b+-+-",
            "-+-+-+-+",
            "+-+-+-+-",
            "-+-+-+o+",
        ]


@pytest.mark.parametrize(
    ("cells", "is_there"),
    [("+b\no+", True), ("+B\nW+", True), ("+x\no+", False), ("-b\no-", False), ("+w+\n1++", True)],
)
def test_patterns_tell_soldiers_from_kings_and_dark_squares_from_light(cells: str, is_there: bool) -> None:
    judge = game("english")
    spec, board = judge.spec(), judge.board(placed(judge, "B", white="22 K4", black="K18"), 1)
    pattern = spec.check_pattern(read_cells(cells, spec.geometry))
    assert occurs(pattern, spec.geometry, board.states) is is_there


def test_the_players_are_exchanged_by_half_a_turn() -> None:
    """Black's chances in a position are White's in the position turned, with the colours swapped."""
    judge = game("international")
    spec = judge.spec()
    position = placed(judge, "W", white="31 K5 37", black="26 22 K46")
    turned = placed(judge, "B", white="25 29 K5", black="20 K46 14")
    assert spec.reversed_board(judge.board(position, 1)) == judge.board(turned, 1)
    assert len(position.moves) == len(turned.moves)
    assert spec.symmetries == ("identity",)


@pytest.mark.parametrize(
    ("white", "black", "interacts"),
    [
        ("22", "18", True),
        # One side's capture is enough.
        ("22 25", "18", True),
        ("22", "18 15", True),
        ("32", "1", False),
        ("K22", "1", False),
        ("22", "26 31", False),
        ("18 23", "14 9", False),
    ],
)
def test_pieces_act_on_each_other_where_either_side_could_capture(
    white: str, black: str, interacts: bool
) -> None:
    judge = game("english")
    assert [judge.interaction(placed(judge, side, white, black)) for side in "BW"] == [interacts] * 2
