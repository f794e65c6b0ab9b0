"""A player that moves at random: the yardstick below all others."""

import random
from collections.abc import Callable
from typing import Any

from referees.api import Referee


def random_moves(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """A Python player (`arena.players.random_moves:random_moves`): every listed legal move is as likely.

    Games repeat with their seed. The referee must list the legal moves.
    """
    generator = random.Random(f"{seed}/{seat}")

    def choose(view: Any) -> str:
        moves = referee.legal_moves(view, seat)
        if moves is None:
            raise ValueError(f"the game {referee.name!r} does not list its legal moves")
        return referee.move_text(generator.choice(moves))

    return choose
