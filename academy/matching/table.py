"""The table of a query: for every test, the anchors of the board around which it holds.

The anchors of a board are numbered row by row, 64 to a machine word; bit b of word w stands for
anchor 64·w + b.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.cells import State
from academy.matching.anchoring import ANCHOR_STATES, TESTED_CODES, AnchorKind
from academy.matching.images import Cells, Neighbourhood
from academy.matching.rows import CODES

WORD: Final = 64
_MAX_TABLE_BYTES: Final = 1 << 25
_EACH_STATE: Final = np.array(State, dtype=np.uint8)
_STATES_OF_CODE: Final = [np.flatnonzero(_EACH_STATE & code).tolist() for code in TESTED_CODES]


class Surroundings:
    """A board within one cell of edge. `states` are the board's, (rows x columns), row by row."""

    def __init__(self, rows: int, columns: int, states: bytes) -> None:
        self._rows = rows
        self._columns = columns
        board = np.frombuffer(states, dtype=np.uint8).reshape(rows, columns)
        framed = np.full((rows + 2, columns + 2), State.OFF_BOARD, dtype=np.uint8)
        framed[1:-1, 1:-1] = board
        self._board = board
        self._framed = framed.reshape(-1)

    def anchors(self, kind: AnchorKind) -> Cells:
        """Return the cells of the board on which patterns of a kind can hang, row by row."""
        if kind is AnchorKind.WHOLE_GRAPH:
            return np.zeros((1, 2), dtype=np.int32)
        return np.argwhere(self._board & ANCHOR_STATES[kind]).astype(np.int32)

    def table(self, anchors: Cells, neighbourhood: Neighbourhood) -> NDArray[np.uint64]:
        """Return, as (offset, code, word), the bit of each anchor that has the code at the offset."""
        rows = _around(anchors[:, 0], neighbourhood.offsets[:, 0], self._rows)
        columns = _around(anchors[:, 1], neighbourhood.offsets[:, 1], self._columns)
        words = -(-len(anchors) // WORD)
        # Where there is no anchor the state is 0, which no code accepts.
        states = np.zeros((len(neighbourhood), words * WORD), dtype=np.uint8)
        states[:, : len(anchors)] = self._framed.take(rows * (self._columns + 2) + columns)
        by_state = np.packbits(states[:, None, :] & _EACH_STATE[:, None], axis=2, bitorder="little")
        return _by_code(by_state.view("<u8"))


def _by_code(by_state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # A code accepts what any of its states does.
    offsets, _, words = by_state.shape
    found = np.empty((offsets, CODES, words), dtype=np.uint64)
    for number, states in enumerate(_STATES_OF_CODE):
        found[:, number] = by_state[:, states[0]]
        for state in states[1:]:
            found[:, number] |= by_state[:, state]
    return found


def _around(anchors: NDArray[np.int32], offsets: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    # All that lies beyond the edge is as the edge itself.
    places: NDArray[np.int32] = np.clip(anchors[None, :] + offsets[:, None], -1, length)
    return places + 1


def tables(
    surroundings: Surroundings, anchors: Cells, neighbourhood: Neighbourhood
) -> Iterator[NDArray[np.uint64]]:
    """Yield the table of (test, symmetry, word), whole, or by some words at a time where it is too large.

    Symmetries are not stored with patterns: the table under a symmetry is the table itself with the
    offsets exchanged for their images.
    """
    images = neighbourhood.images
    views = (images[:, None, :] * CODES + np.arange(CODES, dtype=np.int32)[:, None]).reshape(
        -1, images.shape[1]
    )
    at_once = WORD * max(1, _MAX_TABLE_BYTES // max(1, 8 * views.size))
    for begin in range(0, len(anchors), at_once):
        plain = surroundings.table(anchors[begin : begin + at_once], neighbourhood)
        yield plain.reshape(len(views), -1).take(views, axis=0)
