"""What a bot makes of ACADEMY's answers."""

from dataclasses import replace

import pytest

from academy.knowledge.settings import Library
from clients.bots.experience import mean_value, odds, of_patterns
from clients.responses import PatternMatch

PATTERN = PatternMatch(1, Library.ENDGAME, 4, 1200.0, 0.9, 0, 0, 0, False, "")


@pytest.mark.parametrize(
    ("values", "sign"), [((), 0), ((0.9,), 1), ((0.1,), -1), ((0.5,), 0), ((0.9, 0.1), 0), ((1.0, 0.1), 1)]
)
def test_patterns_are_weighed_against_each_other(values: tuple[float, ...], sign: int) -> None:
    said = odds([replace(PATTERN, value=value) for value in values])
    assert (said > 1e-9) - (said < -1e-9) == sign


def test_a_pattern_of_more_proposers_says_more() -> None:
    assert odds([PATTERN]) > odds([replace(PATTERN, proposers=1)]) > 0.0


def test_patterns_that_say_the_same_do_not_add_up() -> None:
    assert odds([PATTERN] * 100) < 3.0 * odds([PATTERN] * 5)


def test_moves_are_compared_with_each_other() -> None:
    # The same is said of all: none of them is better than the position.
    same = of_patterns(0.25, {"a": 3.0, "b": 3.0}, ("a", "b")).values()
    assert [each.value for each in same] == pytest.approx([0.25, 0.25])
    known = of_patterns(0.25, {"good": 2.0, "usual": 0.0, "bad": -2.0}, ("good", "usual", "bad", "unsaid"))
    assert known["unsaid"] == known["usual"]
    assert known["usual"].value == pytest.approx(0.25)
    assert known["good"].value > 0.25 > known["bad"].value > 0.0
    assert of_patterns(0.25, {}, ("a",)) == {}


def test_the_mean_leaves_out_the_opponents_patterns() -> None:
    matches = [
        PATTERN,
        replace(PATTERN, value=0.4, proposers=1),
        replace(PATTERN, value=0.0, for_opponent=True),
    ]
    assert mean_value(matches) == pytest.approx(0.8)
