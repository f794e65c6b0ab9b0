"""What a position is worth by the patterns on it."""

from dataclasses import replace

import pytest

from academy.knowledge.settings import Library
from clients.bots.pattern_values import mean_value
from clients.responses import PatternMatch

PATTERN = PatternMatch(1, Library.ENDGAME, 4, 1200.0, 0.9, 0, 0, 0, False, "")


def test_the_mean_leaves_out_the_opponents_patterns() -> None:
    matches = [
        PATTERN,
        replace(PATTERN, value=0.4, proposers=1),
        replace(PATTERN, value=0.0, for_opponent=True),
    ]
    assert mean_value(matches) == pytest.approx(0.8)
