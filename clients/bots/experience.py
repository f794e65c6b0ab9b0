"""What ACADEMY's answers say of the moves in a position: how good each is, and how much that counts."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

from clients.bots.thinking import Experience
from clients.responses import OpeningMove, PatternMatch

Move = TypeVar("Move")

# How many of the player's own random games what patterns say counts for.
PATTERN_GAMES: Final = 20.0
# The same of what the weights of patterns say that are fitted to results.
FITTED_GAMES: Final = 60.0
# How much of what patterns say, in logarithms of odds, is believed; and votes after which one is believed.
BELIEF: Final = 2.0
FEW_VOTES: Final = 1.0
# As many patterns that say nothing are added to those that were found.
FEW_PATTERNS: Final = 8.0
# A value nearer to 0 or 1 is no more certain than this.
_SUREST: Final = 0.98


def opening_value(opening: OpeningMove) -> float:
    """A move's results, its expected value counting as one of them."""
    results = opening.wins + opening.draws + opening.losses
    return (opening.wins + opening.draws / 2 + opening.value) / (results + 1)


def of_patterns(
    value: float, pattern_odds: Mapping[Move, float], moves: Collection[Move]
) -> dict[Move, Experience]:
    """All `moves` by what patterns say for each (see `odds`), against what they say for the others.

    `value` is what the player expects of the position; moves without patterns have that value, too.
    """
    if not pattern_odds:
        return {}
    usual = sum(pattern_odds.values()) / len(pattern_odds)
    return {
        move: Experience(
            _value(_log_odds(value) + BELIEF * (pattern_odds.get(move, usual) - usual)), PATTERN_GAMES
        )
        for move in moves
    }


def of_advice(
    value: float, log_odds: Mapping[Move, float], games: float = PATTERN_GAMES
) -> dict[Move, Experience]:
    """Moves by what ACADEMY would add to the log odds of each, `value` being expected of the position."""
    return {move: Experience(_value(_log_odds(value) + added), games) for move, added in log_odds.items()}


def odds(matches: Collection[PatternMatch]) -> float:
    """What patterns say together: the mean of their values' log odds.

    It is less where they or their proposers are few. Patterns that overlap say the same: they do not add up.
    """
    weighed = sum(
        _log_odds(match.value) * match.proposers / (match.proposers + FEW_VOTES) for match in matches
    )
    return weighed / (len(matches) + FEW_PATTERNS)


def _log_odds(value: float) -> float:
    bounded = min(_SUREST, max(1.0 - _SUREST, value))
    return math.log(bounded / (1.0 - bounded))


def _value(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def mean_value(matches: Sequence[PatternMatch]) -> float:
    """The mean of the player's own patterns' values, each counting as often as it was proposed."""
    own = [match for match in matches if not match.for_opponent]
    return sum(match.value * match.proposers for match in own) / sum(match.proposers for match in own)
