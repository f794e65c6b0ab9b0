"""What a bot cuts out of the board around a move, to propose it: what is near, and the lines through it."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.cutting import around_move, cell_of_move
from academy.knowledge.patterns import Pattern, grid_pattern

# How far a line goes on from the move, either way: rows of four are seen whole.
REACH: Final = 3
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))


def shapes(before: Board, after: Board, player: int) -> list[Pattern]:
    """The patterns that a move of a player, 1 or 2, made: lines on square boards, then surroundings."""
    cell = cell_of_move(before, after, player)
    if cell is None:
        return []
    lines = list(_lines(after, cell)) if isinstance(after.geometry, SquareGeometry) else []
    return [*lines, *around_move(before, after, player)]


def _lines(board: Board, cell: int) -> Iterator[Pattern]:
    """Row, column and diagonals through a cell, each up to the first place off the board."""
    assert isinstance(board.geometry, SquareGeometry)
    rows, columns = board.geometry.rows, board.geometry.columns
    row, column = divmod(cell, columns)
    for down, right in _DIRECTIONS:
        line = {(0, 0): board.states[cell]}
        for way in (1, -1):
            for step in range(way, way * (REACH + 1), way):
                r, c = row + step * down, column + step * right
                held = (
                    board.states[r * columns + c] if 0 <= r < rows and 0 <= c < columns else State.OFF_BOARD
                )
                line[step * down, step * right] = Code.OFF_BOARD if held == State.OFF_BOARD else held
                if held == State.OFF_BOARD:
                    break
        # A pattern is written as a full box of cells.
        downs, rights = ({place[axis] for place in line} for axis in (0, 1))
        box = product(range(min(downs), max(downs) + 1), range(min(rights), max(rights) + 1))
        yield grid_pattern((*place, line.get(place, Code.ANYTHING)) for place in box)
