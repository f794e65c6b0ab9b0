"""What moves touch, and where tests fail."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.matching.changes import BoardChanges
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import Flags, far_cell
from academy.matching.compiled.table import CODES, Numbers, States, U, signed
from academy.matching.ground import BoardTables
from academy.matching.rows import FAR_COUNT, FAR_START, Rows


class TouchedTests(NamedTuple):
    """The cells that moves change. Those of a framed board are called places.

    The changes of a cell are a chain: `first[cell]`, then `following[change]`; `moves` are theirs.
    `after[cell]` are all states it may get by a move that changes nothing else, `got[place]` all it may get
    by any move. `cells` are the cells of places, -1 beyond the edge, and `near` tells the anchors' places
    around which tables see a change. `turned[offset, s]` is how far an offset's image lies in a framed board.
    """

    first: Numbers
    following: Numbers
    moves: Numbers
    after: States
    got: States
    cells: Numbers
    near: Flags
    turned: Numbers


@compiled
def touched_by(ground: BoardTables, rows: Rows, changes: BoardChanges) -> TouchedTests:
    """Return what moves touch."""
    size, width = ground.rows * ground.columns, ground.columns + 2 * ground.margin
    first = np.full(size, -1, dtype=np.int32)
    following = np.full(len(changes.cells), -1, dtype=np.int32)
    move_of = np.empty(len(changes.cells), dtype=np.int32)
    after = np.zeros(size, dtype=np.uint8)
    cells = np.full((ground.rows + 2 * ground.margin) * width, -1, dtype=np.int32)
    for row in range(ground.rows):
        for column in range(ground.columns):
            place = (row + ground.margin) * width + column + ground.margin
            cells[place] = row * ground.columns + column
    near = np.zeros(len(cells), dtype=np.bool_)
    got = np.zeros(len(cells), dtype=np.uint8)
    for move in range(len(changes.starts) - 1):
        for change in range(changes.starts[move], changes.starts[move + 1]):
            cell = changes.cells[change]
            move_of[change] = move
            following[change] = first[cell]
            first[cell] = change
            if changes.starts[move + 1] - changes.starts[move] == 1:
                after[cell] |= changes.states[change]
            row = cell // ground.columns
            place = (row + ground.margin) * width + cell - row * ground.columns + ground.margin
            got[place] |= changes.states[change]
            if ground.margin > 0:
                for offset in range(rows.reach):
                    near[place + ground.deltas[offset]] = True
    if ground.margin == 0:
        # On a graph all nodes are seen from the one anchor.
        near[0] = True
    turned = np.empty(ground.images.shape, dtype=np.int32)
    for offset in range(len(ground.images)):
        for symmetry in range(ground.images.shape[1]):
            turned[offset, symmetry] = ground.deltas[ground.images[offset, symmetry]]
    return TouchedTests(first, following, move_of, after, got, cells, near, turned)


@compiled
def near_failure(
    board: States,
    turned: Numbers,
    tests: NDArray[np.uint16],
    codes: States,
    start: int,
    stop: int,
    symmetry: int,
    anchor: int,
) -> tuple[int, int]:
    """Return place and code of the first near test that fails on a framed board, or (-1, 0) if none does."""
    always = U(len(turned) * CODES)
    for number in range(start, stop):
        test = U(tests[number])
        if test == always:
            break
        offset = test // U(CODES)
        place = anchor + U(signed(turned[offset, symmetry]))
        code = codes[test - offset * U(CODES)]
        if board[place] & code == 0:
            return signed(place), signed(code)
    return signed(-1), signed(0)


@compiled
def far_failure(
    states: States,
    ground: BoardTables,
    rows: Rows,
    row: int,
    symmetry: int,
    anchor_row: int,
    anchor_column: int,
) -> tuple[int, int]:
    """Return cell and code of the first far test that fails on the board, or (-1, 0) if none does."""
    start = rows.far[row, FAR_START]
    for number in range(start, start + rows.far[row, FAR_COUNT]):
        cell = far_cell(ground, rows, number, symmetry, anchor_row, anchor_column)
        code = rows.far_codes[number]
        if cell >= 0 and states[cell] & code == 0:
            return signed(cell), signed(code)
    return signed(-1), signed(0)
