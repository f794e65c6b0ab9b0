"""How much contests have shown of an opening's move, and of a position by its patterns."""

from collections.abc import Sequence

from clients.responses import OpeningMove, PatternMatch


def opening_value(opening: OpeningMove) -> float:
    """A move's results, its expected value counting as one of them."""
    results = opening.wins + opening.draws + opening.losses
    return (opening.wins + opening.draws / 2 + opening.value) / (results + 1)


def mean_value(matches: Sequence[PatternMatch]) -> float:
    """The mean of the player's own patterns' values, each counting as often as it was proposed."""
    own = [match for match in matches if not match.for_opponent]
    return sum(match.value * match.proposers for match in own) / sum(match.proposers for match in own)
