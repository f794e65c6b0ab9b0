"""Players that think long enough to be watched."""

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
