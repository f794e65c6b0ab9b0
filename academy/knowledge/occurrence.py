"""Whether one pattern occurs on one board as it lies, without symmetries.

For judging single proposals; whole libraries are matched by `academy.matching`.
"""

from academy.knowledge.boards import Geometry, GraphGeometry
from academy.knowledge.cells import State
from academy.knowledge.patterns import Pattern


def occurs(pattern: Pattern, geometry: Geometry, states: bytes) -> bool:
    """Return whether the pattern fits somewhere on the board, over the edge included."""
    tests = list(zip(pattern.cells, pattern.codes, strict=True))
    if isinstance(geometry, GraphGeometry):
        return all(states[node] & code for (_, node), code in tests)
    rows, columns = geometry.rows, geometry.columns

    def fits(top: int, left: int) -> bool:
        for (row, column), code in tests:
            at_row, at_column = top + row, left + column
            on_board = 0 <= at_row < rows and 0 <= at_column < columns
            state = states[at_row * columns + at_column] if on_board else State.OFF_BOARD
            if not state & code:
                return False
        return True

    return any(
        fits(top, left)
        for top in range(1 - pattern.rows, rows)
        for left in range(1 - pattern.columns, columns)
    )
