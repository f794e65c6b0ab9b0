"""How strong the player is that has the time of a move: he meets each level of the population, unaided.

ACADEMY is told this Elo, by which it chooses what the player may see. At equal playouts the measured player
is one of the population, whose contests rate him.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from arena.ratings.elo import expected_score
from benchmarks.learning.contests import Entrant, play
from benchmarks.learning.ledger import Ledger, Piece
from benchmarks.learning.population import Population

# Of games against each level; the error of the Elo is then some 60.
PAIRS: Final = 10
_LIKELIEST: Final = (-3000.0, 5000.0)
_HALVINGS: Final = 40


def play_levels(population: Population, piece: Piece, ledger: Ledger) -> bool:
    """Play what is missing of the matches against each level; returns whether there was time for it."""
    trial, key = population.trial, piece.key(population.name)
    referee = trial.referee()
    timed = Entrant("timed", trial.timed(time.process_time), 0.0)
    for number in range(PAIRS):
        for level in sorted(set(population.school.population)):
            if ledger.pairs("rating", **key, level=level) > number:
                continue
            if piece.over:
                return False
            other = Entrant(trial.level(level), trial.strength(level), 0.0)
            points = 0.0
            for seat, entrants in enumerate(((timed, other), (other, timed)), 1):
                seed = f"{piece.series}/rating/{population.name}/{level}/{number}"
                points += play(referee, f"{seed}/{seat}", entrants, seed).score(seat)
            ledger.add(kind="rating", **key, level=level, number=number, points=points)
    return True


def elo_of_timed(levels: Mapping[int, float], key: Mapping[str, object], ledger: Ledger) -> float:
    """The Elo at which the points made against levels of these Elos were to be expected."""
    results = []
    for level, elo in levels.items():
        points = [line["points"] for line in ledger.of("rating", **key, level=level)]
        results.append((elo, sum(points), 2 * len(points)))
    return performance(results)


def performance(results: Sequence[tuple[float, float, int]]) -> float:
    """The Elo by points made in games against opponents of an Elo: (Elo, points, games) each.

    One more draw is counted against each, without which who won or lost all games would have no Elo.
    """
    made = sum(points + 0.5 for _, points, _ in results)
    low, high = _LIKELIEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if sum((games + 1) * expected_score(middle - elo) for elo, _, games in results) < made:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
