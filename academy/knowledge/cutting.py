"""Cutting patterns out of a board, around the cell of a move.

A cut pattern holds what the board holds. Beyond the edge it says `+` where the edge is seen, that is
for cells that touch the board (on square boards also by a corner), and `#` further out. On graphs, as of
map games, what is off the board is what the player cannot see, and says `#`.
"""

from collections.abc import Iterable
from typing import Final

from academy.knowledge.boards import Board, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import MAX_PATTERN_CELLS, Pattern, graph_pattern, grid_pattern
from academy.knowledge.symmetries import Cell

__all__ = ["REACHES", "InvalidCutError", "around_move", "cell_of_move", "cut", "cut_around"]

_BESIDE: Final = ((0, 1), (0, -1), (1, 0), (-1, 0))
_TOUCHING: Final = {
    SquareGeometry: (*_BESIDE, (1, 1), (1, -1), (-1, 1), (-1, -1)),
    HexGeometry: (*_BESIDE, (-1, 1), (1, -1)),
}


_PIECES: Final = {1: Code.FIRST_PIECE, 2: Code.SECOND_PIECE}
# How far the patterns around a move reach: 3x3 and 5x5 cells, or hexagons of 7 and 19.
REACHES: Final = (1, 2)


class InvalidCutError(ValueError):
    """A window or cell that a board does not have; the message names the value and the rule."""


def cut(board: Board, cell: int, rows: int, columns: int) -> Pattern:
    """Cut a window out of a board.

    Args:
        board: A square board, or a hexagonal one, on which the window is a parallelogram of skewed rows.
        cell: The index of the cell in the middle.
        rows: The window's height in cells, odd.
        columns: The window's width in cells, odd.

    Returns:
        The pattern of what the window holds.

    Raises:
        InvalidCutError: The board is a graph, the cell is not on the board, a size is even, or the window is
            larger than a pattern may be.
    """
    _check_cell(board, cell)
    if isinstance(board.geometry, GraphGeometry):
        raise InvalidCutError("a graph board has no windows: use cut_around")
    if rows < 1 or columns < 1 or rows % 2 == 0 or columns % 2 == 0:
        raise InvalidCutError(
            f"a window of {rows} x {columns} cells: both must be odd and positive, the cell is in the middle"
        )
    _check_size(board.geometry, max(rows, columns), rows * columns)
    return _window(
        board,
        board.geometry,
        cell,
        ((down - rows // 2, right - columns // 2) for down in range(rows) for right in range(columns)),
    )


def cut_around(board: Board, cell: int, reach: int) -> Pattern:
    """Cut all cells near one cell out of a board.

    Args:
        board: The board.
        cell: The index of the cell in the middle.
        reach: How far, in cells: a square of 2·reach + 1 cells a side, a hexagon, or on a graph all nodes at
            most `reach` edges away.

    Returns:
        The pattern of what these cells hold.

    Raises:
        InvalidCutError: The reach is negative, the cell is not on the board, or there are more cells than a
            pattern may have.
    """
    _check_cell(board, cell)
    if reach < 0:
        raise InvalidCutError(f"a reach of {reach} cells: it cannot be negative")
    side = 2 * reach + 1
    match board.geometry:
        case SquareGeometry():
            return cut(board, cell, side, side)
        case HexGeometry():
            _check_size(board.geometry, side, 3 * reach * (reach + 1) + 1)
            steps = range(-reach, reach + 1)
            hexagon = ((down, right) for down in steps for right in steps if abs(down + right) <= reach)
            return _window(board, board.geometry, cell, hexagon)
        case GraphGeometry():
            nodes = _nodes_within(board.geometry, cell, reach)
            if len(nodes) > MAX_PATTERN_CELLS:
                raise InvalidCutError(
                    f"a reach of {reach} edges takes in {len(nodes)} nodes: a pattern has at most "
                    f"{MAX_PATTERN_CELLS}"
                )
            return graph_pattern((node, _code_of_node(board.states[node])) for node in nodes)


def _code_of_node(state: int) -> int:
    # A graph has no edge: a node that is off the board is one that cannot be seen.
    return Code.ANYTHING if state == State.OFF_BOARD else state


def cell_of_move(before: Board, after: Board, player: int) -> int | None:
    """Return the cell that a move went to.

    Args:
        before: The board before the move.
        after: The board after it, of the same geometry.
        player: 1 or 2, the player who moved.

    Returns:
        The index of a cell where the player's piece stands only now; None where there is none. A cell that
        was empty comes first, as some moves turn other pieces over; then the cell of the least index.
    """
    pieces = _PIECES[player]
    taken = [
        (old != State.EMPTY, cell)
        for cell, (old, new) in enumerate(zip(before.states, after.states, strict=True))
        if new & pieces and not old & pieces
    ]
    return min(taken)[1] if taken else None


def around_move(before: Board, after: Board, player: int) -> list[Pattern]:
    """Cut around the cell that a move went to, once for each of `REACHES` that the board has room for.

    Args:
        before: The board before the move.
        after: The board after it, of the same geometry.
        player: 1 or 2, the player who moved.

    Returns:
        The patterns, the smallest first; none where the move went to no cell.
    """
    cell = cell_of_move(before, after, player)
    if cell is None:
        return []
    cuts = []
    for reach in REACHES:
        try:
            cuts.append(cut_around(after, cell, reach))
        except InvalidCutError:
            # Larger than this board and its edge.
            continue
    return cuts


def _window(
    board: Board, geometry: SquareGeometry | HexGeometry, cell: int, steps: Iterable[Cell]
) -> Pattern:
    centre_row, centre_column = divmod(cell, geometry.columns)

    def state(row: int, column: int) -> int:
        if 0 <= row < geometry.rows and 0 <= column < geometry.columns:
            return board.states[row * geometry.columns + column]
        return State.OFF_BOARD

    def code(row: int, column: int) -> int:
        held = state(row, column)
        if held != State.OFF_BOARD:
            return held
        touching = _TOUCHING[type(geometry)]
        seen = any(state(row + down, column + right) != State.OFF_BOARD for down, right in touching)
        return Code.OFF_BOARD if seen else Code.ANYTHING

    return grid_pattern(
        (down, right, code(centre_row + down, centre_column + right)) for down, right in steps
    )


def _nodes_within(geometry: GraphGeometry, start: int, distance: int) -> set[int]:
    reached = {start}
    outermost = {start}
    for _ in range(distance):
        ends = {end for edge in geometry.edges if not outermost.isdisjoint(edge) for end in edge}
        outermost = ends - reached
        if not outermost:
            break
        reached |= outermost
    return reached


def _check_cell(board: Board, cell: int) -> None:
    if not 0 <= cell < board.geometry.size:
        raise InvalidCutError(f"cell {cell}: this board's cells are 0 to {board.geometry.size - 1}")
    if board.states[cell] == State.OFF_BOARD:
        raise InvalidCutError(f"cell {cell} is not on the board: there is nothing to cut around it")


def _check_size(geometry: SquareGeometry | HexGeometry, longest: int, cells: int) -> None:
    limit = 2 + max(geometry.rows, geometry.columns)
    if longest > limit:
        raise InvalidCutError(
            f"a window {longest} cells long: on this board at most {limit}, the board and its edge"
        )
    if cells > MAX_PATTERN_CELLS:
        raise InvalidCutError(f"a window of {cells} cells: a pattern has at most {MAX_PATTERN_CELLS}")
