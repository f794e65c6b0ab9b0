"""What a position is worth by the patterns on it."""

from dataclasses import replace

import pytest

from academy.knowledge.settings import Library
from clients.bots.pattern_values import mean_value
from clients.responses import PatternMatch

PATTERN = PatternMatch(1, Library.ENDGAME, 4, 1200.0, 0.9, 0, 0, 0, False, "")


def test_a_pattern_counts_as_often_as_it_was_proposed() -> None:
    matches = [PATTERN, replace(PATTERN, value=0.4, proposers=1)]
    assert mean_value(matches) == pytest.approx(0.8)
