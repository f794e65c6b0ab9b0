"""Alpha-beta search over any referee of a game for two, by an evaluation, deepened step by step."""

import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from clients.bots.evaluation import Evaluation
from clients.bots.search_game import SearchGame, make_search_game
from clients.bots.thinking import Advice, Candidate, Experience, Thought, no_advice, usual_value
from referees.api import Referee

# Moves as little worse than the best as this are valued exactly, so that experience can decide between them.
NEAR: Final = 0.1
# Experience moves a value by less than this, and by half of that where it counts for this number of games.
SWAY: Final = 0.05
HALF_SWAYED: Final = 10.0
# Moves that differ by less than about this are as good as each other: games must differ.
CARELESSNESS: Final = 0.01
# A later win is a little worse than an earlier one.
_PATIENCE: Final = 0.999
MOST_DEPTH: Final = 64


class _TimeIsUpError(Exception):
    """The search must stop."""


@dataclass
class AlphaBetaThinker:
    """Searches `depth` plies ahead; where `seconds` are given, as deep as they allow up to that.

    Seconds are those of `clock`, and waiting for advice is one's own time.
    """

    evaluation: Evaluation
    depth: int
    chance: random.Random
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def think(
        self, referee: Referee[Any, Any], position: Any, advice: Advice[Any] = no_advice
    ) -> Thought[Any]:
        """All moves, best first; those far behind the best are valued by a bound.

        Raises UnsuitableGameError.
        """
        began = self.clock()
        search = _Search(make_search_game(referee, self.chance), self.evaluation, self.clock)
        moves = list(search.game.moves(position))
        # Any of several moves of one value may be the best.
        self.chance.shuffle(moves)
        values = dict.fromkeys(moves, 0.5)
        known: Mapping[Any, Experience] | None = None
        depth = 1
        while depth <= self.depth:
            # Advice takes its time: by half of it, it is asked for.
            deadline = began + (0.5 if known is None else 1.0) * (self.seconds or math.inf)
            try:
                values = search.root(position, moves, depth, deadline)
            except _TimeIsUpError:
                if known is not None:
                    break
                known = advice(values[moves[0]], moves)
                continue
            moves.sort(key=values.__getitem__, reverse=True)
            depth += 1
        if known is None:
            known = advice(values[moves[0]], moves)
        value = max(values.values())
        usual = usual_value(known)
        unknown = Experience(usual, 0.0)
        prospects = {
            move: values[move]
            + _sway(known.get(move, unknown), usual)
            + self.chance.uniform(0.0, CARELESSNESS)
            for move in moves
        }
        chosen = sorted(moves, key=prospects.__getitem__, reverse=True)
        return Thought(value, tuple(Candidate(move, values[move]) for move in chosen))


def _sway(known: Experience, usual: float) -> float:
    """How much better or worse a move looks by what others know of it, beside what is usual for the moves."""
    heard = known.games / (known.games + HALF_SWAYED)
    return heard * max(-SWAY, min(SWAY, known.value - usual))


class _Search:
    """One move's search. Values are those of the seat to move."""

    def __init__(
        self, game: SearchGame[Any, Any], evaluation: Evaluation, clock: Callable[[], float]
    ) -> None:
        self.game = game
        self._evaluation = evaluation
        self._clock = clock
        self._deadline = math.inf
        self._cuts: defaultdict[Any, int] = defaultdict(int)

    def root(self, position: Any, moves: list[Any], depth: int, deadline: float) -> dict[Any, float]:
        """The value of each move. Raises _TimeIsUpError after the deadline, but not one ply ahead."""
        self._deadline = deadline
        values: dict[Any, float] = {}
        best = 0.0
        for move in moves:
            values[move] = self._after(position, move, depth - 1, max(0.0, best - NEAR), 1.0)
            best = max(best, values[move])
            # Without a first result there is nothing to play by; after it, time counts.
            if depth > 1 and self._clock() > self._deadline:
                raise _TimeIsUpError
        return values

    def _after(self, position: Any, move: Any, depth: int, least: float, most: float) -> float:
        """What a move is worth to the seat that makes it."""
        following = self.game.after(position, move)
        mover, seat = self.game.mover(position), self.game.mover(following)
        if not seat:
            return 0.5 + _PATIENCE * (self.game.scores(following)[mover - 1] - 0.5)
        if seat == mover:
            return self._value(following, depth, least, most)
        return 1.0 - self._value(following, depth, 1.0 - most, 1.0 - least)

    def _value(self, position: Any, depth: int, least: float, most: float) -> float:
        moves = self.game.moves(position)
        if depth <= 0:
            return 0.5 + _PATIENCE * (self._evaluation.value(self.game, position, len(moves)) - 0.5)
        if depth > 1 and self._clock() > self._deadline:
            raise _TimeIsUpError
        best = 0.0
        for move in sorted(moves, key=self._cuts.__getitem__, reverse=True):
            best = max(best, self._after(position, move, depth - 1, max(least, best), most))
            if best >= most:
                self._cuts[move] += depth * depth
                break
        return 0.5 + _PATIENCE * (best - 0.5)
