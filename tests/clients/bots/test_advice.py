"""What a bot makes of advice on moves."""

import pytest

from clients.bots.advice import as_experience


def test_a_move_that_is_as_good_as_usual_keeps_the_positions_value() -> None:
    known = as_experience(0.25, {"good": 2.0, "usual": 0.0, "bad": -2.0}, 20.0)
    assert known["usual"].value == pytest.approx(0.25)
    assert known["good"].value > 0.25 > known["bad"].value > 0.0
    assert {experience.games for experience in known.values()} == {20.0}


def test_a_lost_position_still_has_better_moves() -> None:
    known = as_experience(0.0, {"good": 2.0, "usual": 0.0}, 20.0)
    assert known["good"].value > 2.0 * known["usual"].value > 0.0
