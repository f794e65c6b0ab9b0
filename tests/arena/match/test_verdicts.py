"""What the counts of several players make together."""

import pytest

from arena.match.verdicts import Loss, agreed_score, decide_against, is_witnessed
from referees.api import Outcome, Termination
from referees.diplomacy import Diplomacy
from referees.go import Go

GO = Go.from_settings({"board_size": 9, "komi": 6.5})


@pytest.mark.parametrize(
    ("black", "white", "summary", "detail"),
    [
        ("B+3.5", "B+3.5", "B+3.5", ""),
        ("W+10", None, "W+10", ""),
        (None, "0", "0", ""),
        ("0", "0", "0", ""),
        ("B+3.5", "B+4.5", "B+", "unknown margin"),
        ("B+3.5", "B+", "B+3.5", ""),
        ("B+", "B+", "B+", "unknown margin"),
        ("B+3.5", "W+3.5", "?", "players disagreed"),
        ("B+3.5", "0", "?", "players disagreed"),
        ("sorry", "who knows", "?", "no score reported"),
        (None, None, "?", "no score reported"),
    ],
)
def test_counts_that_agree_decide_the_game(
    black: str | None, white: str | None, summary: str, detail: str
) -> None:
    counts, words = {1: black, 2: white}, GO.dialogue("gtp")
    assert words is not None
    read = {seat: words.read_score(count) for seat, count in counts.items() if count is not None}
    outcome = agreed_score(GO, {seat: score for seat, score in read.items() if score is not None})
    assert (outcome.summary, outcome.detail) == (summary, detail)
    assert outcome.winners == {"B": (1,), "W": (2,), "0": (1, 2), "?": ()}[summary[0]]


@pytest.mark.parametrize(
    ("eliminated", "winners", "summary"),
    [
        ((None,) * 7, (3, 4, 5, 6, 7), "Austria and England lost"),
        ((None, None, 2, None, None, 4, 1), (4, 5), "Austria and England lost"),
        ((None, None, 2, 3, 3, None, 1), (6,), "Russia wins"),
        ((None, None, 2, 3, 3, 4, 1), (), "?"),
    ],
)
def test_eliminated_players_have_no_part_in_a_win_that_others_gave_away(
    eliminated: tuple[int | None, ...], winners: tuple[int, ...], summary: str
) -> None:
    losses = [Loss(1, Termination.FORFEIT, "crashed"), Loss(2, Termination.FORFEIT, "late")]
    standing = Outcome((1, 2), Termination.ADJUDICATION, "draw", (17.0,) * 2, eliminated=eliminated)
    outcome = decide_against(Diplomacy.from_settings({}), losses, standing)
    assert (outcome.winners, outcome.summary) == (winners, summary)
    assert (outcome.termination, outcome.detail) == (Termination.FORFEIT, "crashed; late")


@pytest.mark.parametrize(
    ("winners", "tellers", "witnessed"),
    [
        ((1,), (1,), False),
        ((1,), (2,), True),
        ((1,), (1, 2), True),
        ((1, 2), (1,), False),
        ((1, 2), (1, 2), True),
    ],
)
def test_a_score_needs_somebody_who_gains_nothing_by_it(
    winners: tuple[int, ...], tellers: tuple[int, ...], witnessed: bool
) -> None:
    outcome = Outcome(winners, Termination.SCORE, "?")
    assert is_witnessed(outcome, dict.fromkeys(tellers, outcome)) is witnessed
