"""Whether a pattern lies on a board. NumPy is needed here, and not by programs that only read patterns."""

import numpy as np

from academy.knowledge.boards import Geometry, GraphGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern

__all__ = ["occurs"]


def occurs(pattern: Pattern, geometry: Geometry, states: bytes) -> bool:
    """Return whether a pattern fits somewhere on one board as it lies, without symmetries.

    This is for single proposals; `academy.matching` matches whole libraries.

    Args:
        pattern: The pattern; it may reach over the board's edge where its codes accept `+`.
        geometry: The board's cells.
        states: One byte (`cells.State`) a cell, row by row.

    Returns:
        Whether there is a place where every code accepts its cell's state.
    """
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
