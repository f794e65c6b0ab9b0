"""How much advice could be worth at most where fair use lets a player ask: a strong player gives it.

The player measured gets the best move of the strongest player of its population. What ACADEMY knows can
hardly be better than that, so what is gained here is what its rules leave room for.
"""

import random
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from academy.knowledge.fair_use import SEED_RULES
from clients.bots.strength import Strength
from clients.bots.thinking import Advice, Thinker, Thought, no_advice
from referees.api import Referee
from research.learning.contests import Entrant, play
from research.learning.games import TRIALS
from research.learning.ledger import Ledger, Piece

PLACES: Final = {
    "first": "before the first move",
    "low": f"where {SEED_RULES.pattern_value_limit} or less is expected",
    "both": "both",
    "always": "before every move",
}


@dataclass(frozen=True)
class Prompted:
    """A player who gets moves from another, at one of `PLACES`."""

    own: Strength
    teacher: Strength
    place: str

    def thinker(self, referee: Referee[Any, Any], chance: random.Random) -> Thinker[Any, Any, Any]:
        """The player for one contest."""
        return _PromptedThinker(
            self.own.thinker(referee, chance), self.teacher.thinker(referee, chance), self.place
        )


@dataclass
class _PromptedThinker:
    own: Thinker[Any, Any, Any]
    teacher: Thinker[Any, Any, Any]
    place: str
    _moves: int = field(default=0)

    def think(
        self, referee: Referee[Any, Any], position: Any, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        self._moves += 1
        thought = self.own.think(referee, position, advice)
        first, low = self._moves == 1, thought.value <= SEED_RULES.pattern_value_limit
        if {"first": first, "low": low, "both": first or low, "always": True}[self.place]:
            return self.teacher.think(referee, position)
        return thought


def measure(name: str, piece: Piece, ledger: Ledger) -> None:
    """Play pairs of contests at all places in turn, until the time is up."""
    trial = TRIALS[name]
    referee, school = trial.referee(), trial.school(piece.series)
    plain, teacher = trial.strength(school.student), trial.strength(max(school.population))
    key = {**piece.key(name), "teacher": trial.level(max(school.population))}
    for number, place in product(range(piece.pairs), PLACES):
        if ledger.pairs("bound", **key, place=place) > number:
            continue
        if piece.over:
            return
        prompted = Prompted(plain, teacher, place)
        seed = f"{piece.series}/bound/{name}/{number}"
        points = 0.0
        for seat in (1, 2):
            entrants = [
                Entrant(f"seat {number}", prompted if number == seat else plain, 0.0) for number in (1, 2)
            ]
            points += play(referee, f"{seed}/{place}/{seat}", entrants, seed).score(seat)
        ledger.add(kind="bound", **key, place=place, number=number, points=points)
