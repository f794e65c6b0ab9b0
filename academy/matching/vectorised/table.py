"""The table of a query: for every test, the anchors of the board around which it holds.

The anchors of a board are numbered row by row, 64 to a machine word; bit b of word w stands for
anchor 64·w + b.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.anchoring import TESTED_CODES, AnchorKind
from academy.matching.ground import BoardTables
from academy.matching.rows import CODES

WORD: Final = 64
_MAX_TABLE_BYTES: Final = 1 << 25
_EACH_STATE: Final = np.array(State, dtype=np.uint8)
_STATES_OF_CODE: Final = [np.flatnonzero(_EACH_STATE & code).tolist() for code in TESTED_CODES]
_ALL_BITS: Final = np.uint64(0xFFFFFFFFFFFFFFFF)


def framed(states: NDArray[np.uint8], ground: BoardTables) -> NDArray[np.uint8]:
    """Return a board within its margin of edge, row by row."""
    height = ground.rows + 2 * ground.margin
    found = np.full((height, ground.width), State.OFF_BOARD, dtype=np.uint8)
    board = found[ground.margin : height - ground.margin, ground.margin : ground.width - ground.margin]
    board[:] = states.reshape(ground.rows, ground.columns)
    return found.reshape(-1)


def anchors_on(states: NDArray[np.uint8], ground: BoardTables, kind: int) -> NDArray[np.int64]:
    """Return the cells of the board on which patterns of a kind can hang, in order."""
    if kind == AnchorKind.WHOLE_GRAPH:
        return np.zeros(1, dtype=np.int64)
    return np.flatnonzero(states & ground.anchor_states[kind])


def tables(
    board: NDArray[np.uint8], cells: NDArray[np.int64], ground: BoardTables, reach: int
) -> Iterator[NDArray[np.uint64]]:
    """Yield the table of (test, symmetry, word), whole, or by some words at a time where it is too large.

    Symmetries are not stored with patterns: the table under a symmetry is the table itself with the
    offsets exchanged for their images. The test after all others holds always.
    """
    images = ground.images[:reach]
    symmetries = images.shape[1]
    views = (images[:, None, :] * CODES + np.arange(CODES, dtype=np.int32)[:, None]).reshape(-1, symmetries)
    rows, columns = np.divmod(cells, ground.columns)
    places = (rows + ground.margin) * ground.width + columns + ground.margin
    at_once = WORD * max(1, _MAX_TABLE_BYTES // (8 * views.size))
    for begin in range(0, len(cells), at_once):
        plain = _around(board, places[begin : begin + at_once], ground.deltas[:reach])
        found = np.empty((len(ground.images) * CODES + 1, symmetries, plain.shape[2]), dtype=np.uint64)
        plain.reshape(len(views), -1).take(views, axis=0, out=found[: len(views)])
        found[-1] = _ALL_BITS
        yield found


def _around(
    board: NDArray[np.uint8], places: NDArray[np.int64], deltas: NDArray[np.int32]
) -> NDArray[np.uint64]:
    """Return, as (offset, code, word), the bit of each anchor that has the code at the offset."""
    words = -(-len(places) // WORD)
    # Where there is no anchor the state is 0, which no code accepts.
    states = np.zeros((len(deltas), words * WORD), dtype=np.uint8)
    states[:, : len(places)] = board.take(places + deltas[:, None])
    by_state = np.packbits(states[:, None, :] & _EACH_STATE[:, None], axis=2, bitorder="little").view("<u8")
    found = np.empty((len(deltas), CODES, words), dtype=np.uint64)
    for number, accepted in enumerate(_STATES_OF_CODE):
        found[:, number] = by_state[:, accepted[0]]
        for state in accepted[1:]:
            found[:, number] |= by_state[:, state]
    return found
