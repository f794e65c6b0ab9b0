"""Whether one pattern occurs on one board as it lies, without symmetries.

For judging single proposals; whole libraries are matched by `academy.matching`.
"""

import numpy as np

from academy.knowledge.boards import Geometry, GraphGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern


def occurs(pattern: Pattern, geometry: Geometry, states: bytes) -> bool:
    """Return whether the pattern fits somewhere on the board, over the edge included."""
    tests = [
        (cell, code) for cell, code in zip(pattern.cells, pattern.codes, strict=True) if code != Code.ANYTHING
    ]
    if isinstance(geometry, GraphGeometry):
        return all(states[node] & code for (_, node), code in tests)
    over_rows, over_columns = pattern.rows - 1, pattern.columns - 1
    board = np.pad(
        np.frombuffer(states, np.uint8).reshape(geometry.rows, geometry.columns),
        ((over_rows, over_rows), (over_columns, over_columns)),
        constant_values=State.OFF_BOARD,
    )
    width = board.shape[1]
    padded = board.ravel()
    # All places of the pattern's corner at once; each cell leaves those where it fits.
    tops, lefts = np.arange(geometry.rows + over_rows), np.arange(geometry.columns + over_columns)
    places = (tops[:, np.newaxis] * width + lefts).ravel()
    for (row, column), code in tests:
        places = places[padded[places + (row * width + column)] & code != 0]
    return bool(places.size)
