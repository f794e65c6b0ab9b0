"""Scores from a pot that the winners share: the standard scoring of the DAIDE tournaments.

Each of a game's M players pays one point. The winner of a solo takes the pot and so scores M - 1;
N players who draw score M/N - 1 each; all others score -1. A game that ends for any other reason
is void, and the contributions are returned. All scores of a game add up to nothing
(daide.org.uk, tournament 7).
"""

from collections.abc import Collection


def pot_scores(seats: int, winners: Collection[int]) -> tuple[float, ...]:
    """The scores of a game by seat; `winners` are seats from 1, none for a game without a result."""
    if not winners:
        return (0.0,) * seats
    share = seats / len(winners)
    return tuple(share - 1.0 if seat in winners else -1.0 for seat in range(1, seats + 1))
