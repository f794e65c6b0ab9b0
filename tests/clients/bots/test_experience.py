"""What a bot makes of ACADEMY's answers."""

from dataclasses import replace

import pytest

from academy.knowledge.settings import Library
from clients.bots.advice import as_experience
from clients.bots.experience import mean_value
from clients.responses import PatternMatch

PATTERN = PatternMatch(1, Library.ENDGAME, 4, 1200.0, 0.9, 0, 0, 0, False, "")


def test_a_move_that_is_as_good_as_usual_keeps_the_positions_value() -> None:
    known = as_experience(0.25, {"good": 2.0, "usual": 0.0, "bad": -2.0}, 20.0)
    assert known["usual"].value == pytest.approx(0.25)
    assert known["good"].value > 0.25 > known["bad"].value > 0.0
    assert {experience.games for experience in known.values()} == {20.0}


def test_a_lost_position_still_has_better_moves() -> None:
    known = as_experience(0.0, {"good": 2.0, "usual": 0.0}, 20.0)
    assert known["good"].value > 2.0 * known["usual"].value > 0.0


def test_the_mean_leaves_out_the_opponents_patterns() -> None:
    matches = [
        PATTERN,
        replace(PATTERN, value=0.4, proposers=1),
        replace(PATTERN, value=0.0, for_opponent=True),
    ]
    assert mean_value(matches) == pytest.approx(0.8)
