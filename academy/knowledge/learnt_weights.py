"""What tables of learnt weights share: how columns are read, codes found, weights united; and e to a power.

Powers take only plus, times and division of float64, so they are the same on every machine.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.votes import VALUE_SCALE

__all__ = [
    "MOST_COUNTED",
    "MOST_GRADIENT",
    "MOST_LOG_ODDS",
    "MOST_WEIGHT",
    "Floats",
    "Numbers",
    "WrongRowError",
    "add_up",
    "check_rows",
    "exp",
    "find_rows",
    "logistic",
    "mean_weights",
    "read_columns",
]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Log odds are clipped to [-MOST_LOG_ODDS, MOST_LOG_ODDS].
MOST_LOG_ODDS: Final = 8.0
# What was counted so often counts no further, and sums of squared gradients in millionths stop here: then no
# number of a weight, nor a sum of Elos in hundredths, takes more than 63 bits.
MOST_COUNTED: Final = 10**11
MOST_GRADIENT: Final = 2**62
MOST_WEIGHT: Final = 8.0
_HALVINGS: Final = 6


class WrongRowError(ValueError):
    """A row of a table breaks a rule; `row` counts from 0, the message has its numbers."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(what)
        self.row = row


def check_rows(wrong: NDArray[np.bool_], rule: str, **columns: Numbers | Floats) -> None:
    """Check the rows of a table.

    Args:
        wrong: Which rows break the rule.
        rule: The rule.
        columns: The numbers that it is about, by what they are called.

    Raises:
        WrongRowError: For the first row that breaks it.
    """
    if wrong.any():
        row = int(wrong.argmax())
        numbers = ", ".join(f"{name} {column[row].item():,}" for name, column in columns.items())
        raise WrongRowError(row, f"{numbers}: {rule}")


def read_columns(columns: Iterable[Iterable[int]], weights_at: int) -> list[Numbers]:
    """Return stored columns, of which the first has the codes.

    Args:
        columns: All columns of a table.
        weights_at: Which of them has the weights, in millionths.

    Returns:
        The columns, in their order.

    Raises:
        ValueError: They are of different lengths, or a number has more than 63 bits.
        WrongRowError: A code is there twice or is negative, or a weight is beyond `MOST_WEIGHT`.
    """
    try:
        arrays = [np.array(list(column), dtype=np.int64) for column in columns]
    except OverflowError as fault:
        raise ValueError(f"a number of more than 63 bits: {fault}") from fault
    lengths = sorted(map(len, arrays))
    if lengths[0] != lengths[-1]:
        raise ValueError(f"columns of {lengths[0]:,} to {lengths[-1]:,} numbers: all have as many")
    codes, weights = arrays[0], arrays[weights_at]
    check_rows(codes < 0, "a code below 0", code=codes)
    again = np.ones(len(codes), dtype=np.bool_)
    again[np.unique(codes, return_index=True)[1]] = False
    check_rows(again, "an earlier row has the same code, and a table has each once", code=codes)
    # The least number of 63 bits has no positive one.
    beyond = (weights > MOST_WEIGHT * VALUE_SCALE) | (weights < -MOST_WEIGHT * VALUE_SCALE)
    check_rows(beyond, f"a weight beyond {MOST_WEIGHT}", weight=weights / VALUE_SCALE)
    return arrays


def mean_weights(
    counts: Numbers, weights: Numbers, other_counts: Numbers, other_weights: Numbers
) -> list[int]:
    """Return the means of weights that two tables have, by how often each table counted them.

    Args:
        counts: How often the one table counted each.
        weights: Its weights, in millionths.
        other_counts: How often the other one did.
        other_weights: Its weights.
    """
    # Python's whole numbers have no greatest one.
    columns = (column.tolist() for column in (counts, weights, other_counts, other_weights))
    return [
        round(Fraction(count * weight + other_count * other_weight, max(1, count + other_count)))
        for count, weight, other_count, other_weight in zip(*columns, strict=True)
    ]


def add_up(numbers: Numbers, more: Numbers) -> Numbers:
    """Return the sums of two tables' numbers, which stop at `MOST_GRADIENT`: an import may repeat.

    Args:
        numbers: The numbers of the one table, 0 or more each.
        more: Those of the other one.
    """
    # A sum that went beyond 63 bits would be negative.
    more = np.minimum(more, MOST_GRADIENT)
    sums: Numbers = np.minimum(numbers, MOST_GRADIENT - more) + more
    return sums


def find_rows(codes: Numbers, known: Numbers, by_code: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
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


def exp(values: Floats) -> Floats:
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
    grown: Floats = even + near
    even -= near
    grown /= even
    for _ in range(_HALVINGS):
        grown *= grown
    return grown


def logistic(log_odds: Floats) -> Floats:
    """Return probabilities.

    Args:
        log_odds: Their log odds; what is beyond `MOST_LOG_ODDS` counts as this.
    """
    grown = exp(np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS))
    probabilities: Floats = grown / (grown + 1.0)
    return probabilities
