"""What tables of learnt weights share: limits of their numbers, how a code is found, and e to a power.

Powers take only plus, times and division of float64, so they are the same on every machine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["GREATEST_POWER", "MOST_COUNTED", "MOST_GRADIENT", "exp", "find_rows", "logistic"]

# Powers of more, or of less than minus this, are not asked for.
GREATEST_POWER: Final = 8.0
# What was counted so often counts no further, and sums of squared gradients in millionths stop here: then no
# number of a weight, nor a sum of Elos in hundredths, takes more than 63 bits.
MOST_COUNTED: Final = 10**11
MOST_GRADIENT: Final = 2**62
_HALVINGS: Final = 6


def find_rows(
    codes: NDArray[np.int64], known: NDArray[np.int64], by_code: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return in which row each code is, -1 where it is in none.

    Args:
        codes: The codes that are sought, of any shape.
        known: A code for each row, each once.
        by_code: The rows in the order of their codes, if the caller keeps it.
    """
    if not len(known):
        return np.full(codes.shape, -1, dtype=np.intp)
    if by_code is None:
        by_code = np.argsort(known, kind="stable")
    at = np.searchsorted(known, codes, sorter=by_code)
    rows = by_code[np.minimum(at, len(known) - 1)]
    return np.where(known[rows] == codes, rows, -1)


def exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e to the power of values from -16 to 16, to four digits.

    Args:
        values: The powers.

    Returns:
        A Pade approximant near 0, squared again and again.
    """
    near = values * (0.5 / 2**_HALVINGS)
    even = near * near
    even *= 1.0 / 3.0
    even += 1.0
    grown: NDArray[np.float64] = even + near
    even -= near
    grown /= even
    for _ in range(_HALVINGS):
        grown *= grown
    return grown


def logistic(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities.

    Args:
        log_odds: Their log odds; what is beyond 8 counts as 8.
    """
    grown = exp(np.clip(log_odds, -GREATEST_POWER, GREATEST_POWER))
    probabilities: NDArray[np.float64] = grown / (grown + 1.0)
    return probabilities
