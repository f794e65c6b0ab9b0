"""Alpha-beta search with iterative deepening, for games of few moves whose boards tell who is ahead.

D. Knuth and R. Moore, "An analysis of alpha-beta pruning" (1975). Moves are tried in the order of how often
they cut before (J. Schaeffer's history heuristic, 1989).
"""

import random
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from clients.bots.craft import Craft, craft_of
from clients.bots.evaluation import Evaluation
from clients.bots.thinking import Candidate, Counsel, Thought, no_counsel
from referees.api import Referee

# Moves as little worse than the best as this are valued exactly, so that experience can decide between them.
NEAR: Final = 0.1
# Moves that differ by less than about this are as good as each other: games are not to be all alike.
CARELESSNESS: Final = 0.01
# A later win is a little worse than an earlier one.
_PATIENCE: Final = 0.999
MOST_DEPTH: Final = 64


class _TimeIsUp(Exception):
    """The search is to be broken off."""


@dataclass
class AlphaBetaThinker:
    """Searches `depth` plies ahead; where `seconds` are given, as deep as they allow up to that."""

    evaluation: Evaluation
    depth: int
    chance: random.Random
    seconds: float | None = None

    def think(
        self, referee: Referee[Any, Any], position: Any, counsel: Counsel[Any] = no_counsel
    ) -> Thought[Any]:
        """All moves, best first; those far behind the best are valued by a bound. Raises UnsuitableGame."""
        search = _Search(craft_of(referee, self.chance), self.evaluation, self.seconds)
        moves = list(search.craft.moves(position))
        # Of moves of one value any may be the best.
        self.chance.shuffle(moves)
        values = dict.fromkeys(moves, 0.5)
        for depth in range(1, self.depth + 1):
            try:
                values = search.root(position, moves, depth)
            except _TimeIsUp:
                break
            moves.sort(key=values.__getitem__, reverse=True)
        value = values[moves[0]]
        for move, known in counsel(value).items():
            if move in values:
                values[move] = (values[move] + known.weight * known.value) / (1.0 + known.weight)
        prospects = {move: values[move] + self.chance.uniform(0.0, CARELESSNESS) for move in moves}
        chosen = sorted(moves, key=prospects.__getitem__, reverse=True)
        return Thought(value, tuple(Candidate(move, values[move]) for move in chosen))


class _Search:
    """One move's search. Values are those of the seat to move."""

    def __init__(self, craft: Craft[Any, Any], evaluation: Evaluation, seconds: float | None) -> None:
        self.craft = craft
        self._evaluation = evaluation
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._cuts: defaultdict[Any, int] = defaultdict(int)

    def root(self, position: Any, moves: list[Any], depth: int) -> dict[Any, float]:
        """The value of each move."""
        values: dict[Any, float] = {}
        best = 0.0
        for move in moves:
            values[move] = self._after(position, move, depth - 1, max(0.0, best - NEAR), 1.0)
            best = max(best, values[move])
            # Without a first result there is nothing to play by; after it, time counts.
            if depth > 1 and self._deadline is not None and time.monotonic() > self._deadline:
                raise _TimeIsUp
        return values

    def _after(self, position: Any, move: Any, depth: int, least: float, most: float) -> float:
        """What a move is worth to the seat that makes it."""
        following = self.craft.after(position, move)
        mover, seat = self.craft.mover(position), self.craft.mover(following)
        if not seat:
            return 0.5 + _PATIENCE * (self.craft.scores(following)[mover - 1] - 0.5)
        if seat == mover:
            return self._value(following, depth, least, most)
        return 1.0 - self._value(following, depth, 1.0 - most, 1.0 - least)

    def _value(self, position: Any, depth: int, least: float, most: float) -> float:
        moves = self.craft.moves(position)
        if depth <= 0:
            return 0.5 + _PATIENCE * (self._evaluation.value(self.craft, position, len(moves)) - 0.5)
        if depth > 1 and self._deadline is not None and time.monotonic() > self._deadline:
            raise _TimeIsUp
        best = 0.0
        for move in sorted(moves, key=self._cuts.__getitem__, reverse=True):
            best = max(best, self._after(position, move, depth - 1, max(least, best), most))
            if best >= most:
                self._cuts[move] += depth * depth
                break
        return 0.5 + _PATIENCE * (best - 0.5)
