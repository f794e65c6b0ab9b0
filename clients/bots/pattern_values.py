"""What a position is worth by the patterns on it."""

from collections.abc import Sequence

from clients.responses import PatternMatch


def mean_value(matches: Sequence[PatternMatch]) -> float:
    """The mean of the player's own patterns' values, each counting as often as it was proposed."""
    own = [match for match in matches if not match.for_opponent]
    return sum(match.value * match.proposers for match in own) / sum(match.proposers for match in own)
