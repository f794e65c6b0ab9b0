"""One whole number for any few cells around an empty cell, for the tesujis that players propose.

Other tesujis have one of the game's own shapes, and a code of digits. Players propose any shape, so its cells
are part of the number: which of the 48 cells within three steps they are, and what each of them holds.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate, product
from math import comb
from typing import Final

from academy.knowledge.symmetries import Cell

__all__ = ["FARTHEST", "MOST_CELLS", "NEAR_CELLS", "NUMBERS", "cells_of_number", "number_of_cells"]

FARTHEST: Final = 3
MOST_CELLS: Final = 12
# The nearest first. Numbers are kept in stored codes, so this order stays.
NEAR_CELLS: Final[tuple[Cell, ...]] = tuple(
    sorted(
        (
            (down, right)
            for down, right in product(range(-FARTHEST, FARTHEST + 1), repeat=2)
            if (down, right) != (0, 0)
        ),
        key=lambda step: (max(map(abs, step)), step),
    )
)
_PLACE_OF: Final = {step: place for place, step in enumerate(NEAR_CELLS)}
_DIGITS: Final = 4
# The first number that each number of cells has, and at the end how many numbers there are.
_FIRST_OF: Final = list(
    accumulate((comb(len(NEAR_CELLS), cells) * _DIGITS**cells for cells in range(MOST_CELLS + 1)), initial=0)
)
NUMBERS: Final = _FIRST_OF[-1]


def number_of_cells(cells: Mapping[Cell, int]) -> int:
    """Return the number of some cells and what they hold.

    Args:
        cells: What each cell holds, 0 to 3, by (rows down, columns to the right): at most `MOST_CELLS` of
            `NEAR_CELLS`.
    """
    places = sorted(_PLACE_OF[step] for step in cells)
    rank = sum(comb(place, chosen) for chosen, place in enumerate(places, 1))
    digits = sum(cells[NEAR_CELLS[place]] * _DIGITS**at for at, place in enumerate(places))
    return int(_FIRST_OF[len(places)] + rank * _DIGITS ** len(places) + digits)


def cells_of_number(number: int) -> dict[Cell, int]:
    """Return the cells of a number, as `number_of_cells` takes them.

    Args:
        number: From 0, below `NUMBERS`.
    """
    count = bisect_right(_FIRST_OF, number) - 1
    rank, digits = divmod(number - _FIRST_OF[count], _DIGITS**count)
    cells, place = {}, len(NEAR_CELLS)
    for at in reversed(range(count)):
        place = next(lower for lower in reversed(range(place)) if comb(lower, at + 1) <= rank)
        rank -= comb(place, at + 1)
        cells[NEAR_CELLS[place]] = digits // _DIGITS**at % _DIGITS
    return cells
