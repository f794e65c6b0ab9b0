"""What the counts of several players make together."""

import pytest

from arena.verdicts import agreed_score
from referees.go import Go

GO = Go.from_settings({"board_size": 9, "komi": 6.5})
WORDS = GO.dialogue("gtp")


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
def test_counts_that_agree_decide_the_game(black, white, summary, detail):
    counts = {1: black, 2: white}
    read = {seat: WORDS.read_score(count) for seat, count in counts.items() if count is not None}
    outcome = agreed_score(GO, {seat: told for seat, told in read.items() if told is not None})
    assert (outcome.summary, outcome.detail) == (summary, detail)
    assert outcome.winners == {"B": (1,), "W": (2,), "0": (1, 2), "?": ()}[summary[0]]
