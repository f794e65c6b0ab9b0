"""Monte Carlo search without a tree: a move counts wherever in a random game it was made."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from clients.bots.thinking import Candidate, Counsel, Thought

Move = TypeVar("Move")

# How much the sum of all playouts that contain a move counts against curiosity.
EXPLORATION: Final = 0.4


def flat_search(
    moves: Sequence[Move],
    playouts: int,
    play: Callable[[Move], tuple[bool, Iterable[Move]]],
    counsel: Counsel[Move],
) -> Thought[Move]:
    """Moves by how many of the playouts with them were won.

    `play` plays a random game that begins with a move: it tells whether the mover won, and which moves the
    mover made in it.
    """
    # Two playouts each to begin with, one won: no move is hopeless unseen.
    wins = dict.fromkeys(moves, 1.0)
    games = dict.fromkeys(moves, 2.0)
    won = 0
    for number in range(1, playouts + 1):
        curiosity = EXPLORATION * math.log(number + 1)
        move = max(moves, key=lambda m: wins[m] / games[m] + math.sqrt(curiosity / games[m]))
        result, made = play(move)
        won += result
        for each in made:
            if each in games:
                games[each] += 1
                wins[each] += result
        if number == (playouts + 1) // 2:
            best = sorted(moves, key=lambda m: wins[m] / games[m], reverse=True)
            for known, experience in counsel((won + 1) / (number + 2), best).items():
                if known in games:
                    games[known] += experience.games
                    wins[known] += experience.games * experience.value
    ranked = sorted(moves, key=lambda m: wins[m] / games[m], reverse=True)
    return Thought(
        (won + 1) / (playouts + 2), tuple(Candidate(move, wins[move] / games[move]) for move in ranked)
    )
