"""Tesujis in the text language of patterns, with two letters more.

`*` is the empty cell that the move goes to. `_` is an empty cell on which a piece would come to rest, in
games where pieces fall; there `-` is an empty one higher up. A cell of `#` fills the rectangle and belongs to
no shape. A tesuji that is the number of pieces turned over is `*` alone.

    o x -
    - * x
    + + +
"""

from itertools import islice, product
from typing import Final

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry
from academy.knowledge.cells import Code
from academy.knowledge.patterns import Pattern, grid_pattern
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import Cell
from academy.knowledge.tesujis.shapes import EMPTY, OFF, OTHER, OWN, RESTING, Tesuji
from academy.knowledge.text import PatternSyntaxError, read_cells, write_cells

__all__ = ["MOVED_TO", "pattern_after", "read_tesuji_cells", "write_tesuji_cells"]

MOVED_TO: Final = "*"
AT_REST: Final = "_"
# Tesujis do not tell soldiers from kings: the letters of kings are free for what patterns cannot say.
_TO_TEXT: Final = str.maketrans({"b": MOVED_TO, "w": AT_REST})
_FROM_TEXT: Final = str.maketrans({MOVED_TO: "b", AT_REST: "w"})
_MOVED_TO, _AT_REST = Code.FIRST_KING, Code.SECOND_KING
_LETTERS: Final = "-xo+#*_"
_SECOND: Final = 2


def _codes(player: int) -> dict[int, Code]:
    own, other = Code.FIRST_SOLDIER, Code.SECOND_SOLDIER
    if player == _SECOND:
        own, other = other, own
    return {EMPTY: Code.EMPTY, OWN: own, OTHER: other, OFF: Code.OFF_BOARD, RESTING: _AT_REST}


def write_tesuji_cells(tesuji: Tesuji, spec: GameSpec) -> str:
    """Write the cells of a tesuji.

    Args:
        tesuji: The tesuji.
        spec: Its game.

    Returns:
        Text from which `read_tesuji_cells` makes the same cells.
    """
    codes = _codes(tesuji.player)
    cells = {(0, 0): _MOVED_TO, **{step: codes[held] for step, held in tesuji.cells.items()}}
    rows, columns = ([cell[axis] for cell in cells] for axis in (0, 1))
    # Text of hexagons has a cell in each row of each direction.
    lines = (rows, columns, [sum(cell) for cell in cells])
    if not isinstance(spec.geometry, HexGeometry) or any(
        len(set(line)) <= max(line) - min(line) for line in lines
    ):
        box = product(range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1))
        cells = {cell: cells.get(cell, Code.ANYTHING) for cell in box}
    pattern = grid_pattern((*cell, code) for cell, code in cells.items())
    return write_cells(pattern, spec.geometry).translate(_TO_TEXT)


def read_tesuji_cells(text: str, player: int, geometry: Geometry) -> dict[Cell, int]:
    """Read the cells of a tesuji.

    Args:
        text: As from `write_tesuji_cells`.
        player: The player to move.
        geometry: The game's board, of squares or hexagons.

    Returns:
        What each cell holds, as in `Tesuji.cells`.

    Raises:
        PatternSyntaxError: A letter or outline is not of the language, or not one cell is `*`.
    """
    assert not isinstance(geometry, GraphGeometry)
    for number, line in enumerate(text.splitlines(), 1):
        for column, letter in enumerate(line, 1):
            if not letter.isspace() and letter not in _LETTERS:
                raise PatternSyntaxError(
                    number, column, f"letter {letter!r} is none of {' '.join(_LETTERS)}, which tesujis have"
                )
    pattern = read_cells(text.translate(_FROM_TEXT), geometry)
    marked = [cell for cell, code in zip(pattern.cells, pattern.codes, strict=True) if code == _MOVED_TO]
    if len(marked) != 1:
        raise PatternSyntaxError(
            *_second_mark(text), f"{len(marked)} cells are {MOVED_TO!r}: the move goes to exactly one"
        )
    ((down, right),) = marked
    held_by = {code: held for held, code in _codes(player).items()}
    return {
        (row - down, column - right): held_by[Code(code)]
        for (row, column), code in zip(pattern.cells, pattern.codes, strict=True)
        if code not in (_MOVED_TO, Code.ANYTHING)
    }


def _second_mark(text: str) -> tuple[int, int]:
    """Return the line and column, from 1, of a text's second mark; its beginning where it has none."""
    places = (
        (number, column)
        for number, line in enumerate(text.splitlines(), 1)
        for column, letter in enumerate(line, 1)
        if letter == MOVED_TO
    )
    return next(islice(places, 1, None), (1, 1))


def pattern_after(text: str, player: int, geometry: Geometry) -> Pattern:
    """Return the pattern that a tesuji becomes by its move, as far as the move takes nothing away.

    Args:
        text: As from `write_tesuji_cells`.
        player: The player to move.
        geometry: The game's board, of squares or hexagons.

    Raises:
        PatternSyntaxError: As in `read_tesuji_cells`.
    """
    moved = "o" if player == _SECOND else "x"
    return read_cells(text.replace(MOVED_TO, moved).replace(AT_REST, "-"), geometry)
