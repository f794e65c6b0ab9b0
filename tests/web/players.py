"""Players that think long enough to be watched, and others whose games are over at once."""

import random
import time
from collections.abc import Callable
from typing import Any

from referees.api import Referee


def slow(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    chance = random.Random(seed)

    def choose(view: Any) -> str:
        time.sleep(0.5)
        move = chance.choice([move for move in referee.legal_moves(view, seat) or () if move is not None])
        return referee.move_text(move)

    return choose


def quick(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], tuple[str, float]]:
    """Plays at random, with an expected value for each move; passes only after its first eight moves."""
    chance = random.Random(seed)
    made = 0

    def choose(view: Any) -> tuple[str, float]:
        nonlocal made
        made += 1
        legal = [referee.move_text(move) for move in referee.legal_moves(view, seat) or ()]
        stones = [text for text in legal if text != "pass"]
        return chance.choice(stones if stones and made <= 8 else legal), chance.random()

    return choose
