"""A player that moves at random: the yardstick below all others."""

import random
from collections.abc import Callable
from typing import Any

from referees.api import Referee


def random_moves(referee: Referee[Any, Any], seat: int, seed: int) -> Callable[[Any], str]:
    """A Python player (`arena.players.random_moves:random_moves`): the referee's `random_move`.

    Every listed legal move is as likely. Games repeat with the seats' seeds.
    """
    generator = random.Random(f"{seed}/{seat}")

    def choose(view: Any) -> str:
        move = referee.random_move(view, seat, generator)
        if move is None:
            raise ValueError(f"the game {referee.name!r} has no random moves")
        return referee.move_text(move)

    return choose
