"""What the evaluation counts of a position: five features, each with a weight."""

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.knowledge.learnt_weights import Floats

# More moves count as this number: a game may have millions, and all of a contest's are added up and squared.
MOST_MOVES: Final = 1_000.0


class Feature(IntEnum):
    """What is counted of a position for the first player; its number is its code in the table."""

    FIRST = 0
    MOVE = 1
    MOBILITY = 2
    SOLDIERS = 3
    KINGS = 4


# Anchored patterns have their own codes and this added.
FIRST_PATTERN: Final = 16


def _ahead(first: State, second: State) -> NDArray[np.int8]:
    """What a state counts where the first player's pieces count 1, and the second's -1."""
    counts = np.zeros(256, dtype=np.int8)
    counts[[first, second]] = 1, -1
    return counts


_SOLDIERS_OF: Final = _ahead(State.FIRST_SOLDIER, State.SECOND_SOLDIER)
_KINGS_OF: Final = _ahead(State.FIRST_KING, State.SECOND_KING)


def count_features(boards: NDArray[np.uint8], signs: Floats, moves: Floats) -> Floats:
    """Count the features of positions.

    Args:
        boards: A row of `cells.State` for each position.
        signs: 1 where the first player is to move, else -1.
        moves: How many moves the player to move has, of which `MOST_MOVES` count.

    Returns:
        A row for each position, in the order of `Feature`.
    """
    soldiers, kings = _SOLDIERS_OF[boards].sum(axis=1), _KINGS_OF[boards].sum(axis=1)
    mobility = signs * np.minimum(moves, MOST_MOVES)
    return np.stack([np.ones(len(boards)), signs, mobility, soldiers, kings], axis=1)
