"""When a game is drawn by rule."""

import pytest

from referees.api import Termination
from referees.draughts import Draughts, DraughtsPosition
from tests.referees.draughts.placing import after, game, placed


def reason(judge: Draughts, position: DraughtsPosition) -> str | None:
    outcome = judge.outcome(position)
    if outcome is None:
        return None
    assert (outcome.winners, outcome.summary) == ((1, 2), "1/2-1/2")
    assert outcome.termination is Termination.SCORE
    return outcome.detail


def shuffled(judge: Draughts, position: DraughtsPosition, *moves: str) -> tuple[int, str | None]:
    """Play the moves over and over until the game is over: after how many plies, and why."""
    plies = 0
    while judge.outcome(position) is None:
        position = after(judge, position, moves[plies % len(moves)])
        plies += 1
    return plies, reason(judge, position)


ROUND = ("1-6", "32-27", "6-1", "27-32")


@pytest.mark.parametrize("times", [2, 3, 21])
def test_a_position_that_stands_again_is_a_draw(times: int) -> None:
    judge = game("english", repetition=times)
    position = placed(judge, "B", white="K32 21", black="K1 12")
    assert shuffled(judge, position, *ROUND) == (4 * (times - 1), f"the position stood {times} times")


def test_the_same_pieces_with_the_other_side_to_move_are_another_position() -> None:
    judge = game("english", repetition=2)
    position = placed(judge, "B", white="K32 21", black="K1 12")
    # Black takes one move to come back, and White two: the pieces stand as before, but it is White's turn.
    position = after(judge, position, "1-6", "32-27", "6-2", "27-24", "2-7", "24-28", "7-3")
    assert judge.outcome(position) is None


def test_a_move_of_a_man_restarts_the_count() -> None:
    judge = game("english")
    position = after(judge, placed(judge, "B", white="K32 21", black="K1 12"), *ROUND, "12-16", "32-27")
    assert position.quiet == 1
    assert len(position.earlier) == 1


def test_a_kings_capture_restarts_the_count() -> None:
    judge = game("english")
    position = after(judge, placed(judge, "B", white="K32 15", black="K1"), "1-6", "15-10", "6x15")
    assert position.quiet == 0 and not position.earlier


INTERNATIONAL = ("K48 36", "K6 26", ("6-1", "48-42", "1-6", "42-48"))
RUSSIAN = ("Kg1 h2", "Kb8 a7", ("b8-c7", "g1-f2", "c7-b8", "f2-g1"))


@pytest.mark.parametrize(
    ("variant", "settings", "position", "moves"),
    [
        ("english", {}, ("K32 21", "K1 12", ROUND), 40),
        ("english", {"king_moves": 7}, ("K32 21", "K1 12", ROUND), 7),
        ("international", {}, INTERNATIONAL, 25),
        ("russian", {}, RUSSIAN, 15),
        ("brazilian", {}, RUSSIAN, 15),
    ],
)
def test_too_many_king_moves_are_a_draw(
    variant: str, settings: dict[str, int], position: tuple[str, str, tuple[str, ...]], moves: int
) -> None:
    judge = game(variant, repetition=0, **settings)
    white, black, ways = position
    detail = f"{moves} moves by each side without a capture or a man's move"
    assert shuffled(judge, placed(judge, "B", white, black), *ways) == (2 * moves, detail)


def test_where_neither_rule_holds_kings_may_go_on_for_ever() -> None:
    judge = game("english", repetition=0, king_moves=0)
    position = after(judge, placed(judge, "B", white="K32 21", black="K1 12"), *ROUND * 25)
    assert judge.outcome(position) is None


@pytest.mark.parametrize(
    ("variant", "white", "moves"),
    [
        ("international", "K48", 5),
        ("international", "K48 K49", 5),
        ("international", "K48 46", 5),
        ("international", "K48 K49 K50", 16),
        ("international", "K48 36 47", 16),
        ("international", "K48 K49 K50 K43", None),
        ("international", "41 36 46", None),
        ("international", "46", None),
        ("brazilian", "Kh2 Kg1", 5),
        ("brazilian", "Kh2 Kg1 Ke1 Kc1", 15),
        ("brazilian", "Kh2 Kg1 c1", None),
        ("english", "K32 K31", None),
    ],
)
def test_a_lone_king_holds_for_a_limited_time(variant: str, white: str, moves: int | None) -> None:
    judge = game(variant, repetition=0, king_moves=0)
    lone = {"international": "K6", "brazilian": "Kb8", "english": "K1"}[variant]
    position = placed(judge, "B", white, lone)
    began = [plies for plies in position.endings if plies is not None]
    limits = [
        ending.moves
        for ending, plies in zip(judge.settings.variant.endings, position.endings, strict=True)
        if plies is not None
    ]
    assert began == [0] * len(limits)
    assert min(limits, default=None) == moves


def test_five_moves_of_two_kings_against_one() -> None:
    judge = game("international", repetition=0)
    position = placed(judge, "B", "K48 K49", "K6")
    detail = "5 moves by each side with a lone king against at most 2 pieces"
    assert shuffled(judge, position, "6-1", "48-42", "1-6", "42-48") == (10, detail)
    without = game("international", repetition=0, king_endings=False)
    position = placed(without, "B", "K48 K49", "K6")
    assert shuffled(without, position, "6-1", "48-42", "1-6", "42-48")[0] == 50


def test_a_mans_move_does_not_lengthen_the_sixteen_moves() -> None:
    judge = game("international")
    position = placed(judge, "B", "K48 36 50", "K6")
    assert after(judge, position, "6-1", "36-31").endings == (None, 2)


def test_a_loss_goes_before_a_draw() -> None:
    judge = game("english", king_moves=1)
    position = after(judge, placed(judge, "B", white="K12 11 15", black="K8"), "8-4", "12-8")
    assert position.quiet == 2
    outcome = judge.outcome(position)
    assert outcome is not None
    assert outcome.detail == "Black cannot move"
