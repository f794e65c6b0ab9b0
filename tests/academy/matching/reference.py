"""The obvious matcher: every pattern, every image, every place, every cell, one after the other."""

from collections.abc import Iterator, Mapping

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import Code, State
from academy.knowledge.patterns import Pattern
from academy.knowledge.spec import GameSpec

Match = tuple[int, int, int, int]


def state_at(board: Board, row: int, column: int) -> int:
    if isinstance(board.geometry, GraphGeometry):
        return board.states[column]
    rows, columns = board.geometry.rows, board.geometry.columns
    if 0 <= row < rows and 0 <= column < columns:
        return board.states[row * columns + column]
    return State.OFF_BOARD


# A cell of a pattern, from the place where that lies, and what it accepts.
Telling = tuple[int, int, int]


def telling_cells(pattern: Pattern) -> list[Telling]:
    """The cells that do not accept everything."""
    return [
        (down, right, code)
        for (down, right), code in zip(pattern.cells, pattern.codes, strict=True)
        if code != Code.ANYTHING
    ]


def lies_at(pattern: Pattern, board: Board, row: int, column: int) -> bool:
    return _lie_at(telling_cells(pattern), board, row, column)


def _lie_at(cells: list[Telling], board: Board, row: int, column: int) -> bool:
    return all(state_at(board, row + down, column + right) & code for down, right, code in cells)


def places(pattern: Pattern, board: Board) -> Iterator[tuple[int, int]]:
    if isinstance(board.geometry, GraphGeometry):
        yield 0, 0
        return
    # Further out the pattern would lie wholly beyond the edge.
    for row in range(1 - pattern.rows, board.geometry.rows):
        for column in range(1 - pattern.columns, board.geometry.columns):
            yield row, column


def all_matches(spec: GameSpec, patterns: Mapping[int, Pattern], board: Board) -> list[Match]:
    """All matches as (pattern id, symmetry, row, column), in order."""
    matches: list[Match] = []
    for pattern_id, pattern in sorted(patterns.items()):
        images = spec.images(pattern)
        for symmetry, image in enumerate(images):
            if image in images[:symmetry]:
                continue
            cells = telling_cells(image)
            matches.extend(
                (pattern_id, symmetry, row, column)
                for row, column in places(image, board)
                if _lie_at(cells, board, row, column)
            )
    return matches
