"""Which of its moves a player may propose: tesujis by what they gained, and what was late in a game.

Bots look here before they propose; `postmortem` judges by the same rules what they sent.
"""

from typing import Final

from academy.knowledge.votes import VALUE_SCALE

__all__ = ["ENDGAME_SHARE", "GAIN", "GAIN_ACROSS_HALF", "gain", "is_late", "needed_gain"]

ENDGAME_SHARE: Final = 0.20
GAIN: Final = 0.20
GAIN_ACROSS_HALF: Final = 0.10


def _millionths(value: float) -> int:
    # Whole numbers, because in binary 0.7 - 0.5 is less than 0.2.
    return round(value * VALUE_SCALE)


def is_late(ply: int, plies: int, average_length: float) -> bool:
    """Return whether a ply is the last, or among the last 20 % of an average game (source: LUDAE).

    Args:
        ply: The number of the ply, from 1.
        plies: The number of the last.
        average_length: The plies of an average game.
    """
    # Rounded, because in binary a fifth of 15 is more than 3.
    return ply == plies or ply > plies - round(ENDGAME_SHARE * average_length, 6)


def gain(before: float, after: float) -> float:
    """Return by how much a move raised an expected value, exact to millionths.

    Args:
        before: The value before the move, 0.0 to 1.0.
        after: The value after it.
    """
    return (_millionths(after) - _millionths(before)) / VALUE_SCALE


def needed_gain(before: float, after: float) -> float:
    """Return by how much a tesuji must raise the value (source: LUDAE).

    Args:
        before: The value before the move, 0.0 to 1.0.
        after: The value after it.

    Returns:
        0.10 where the move crosses one half, else 0.20.
    """
    return GAIN_ACROSS_HALF if before < 0.5 < after else GAIN
