"""What a position is worth by the patterns on it."""

from collections.abc import Sequence

from clients.responses import PatternMatch


def mean_value(matches: Sequence[PatternMatch]) -> float:
    """The mean of the patterns' values, each counting as often as it was proposed."""
    return sum(match.value * match.proposers for match in matches) / sum(match.proposers for match in matches)
