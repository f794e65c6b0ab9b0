"""What the kernels know of a game before any pattern or board is known."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.spec import GameSpec
from academy.matching.anchoring import ANCHOR_STATES, AnchorKind
from academy.matching.images import REACH, Neighbourhood, SymmetryGroup


class BoardTables(NamedTuple):
    """A game's board and symmetries as arrays. A graph is one row of nodes, on which nothing moves.

    A board is framed by `margin` cells of edge; an offset's neighbour is `deltas[offset]` further in it.
    `images[offset, s]` is the offset's image under symmetry s, `matrices[s]` what s does to (row, column),
    and `anchor_states[kind]` what a board holds at an anchor.
    """

    rows: int
    columns: int
    margin: int
    deltas: NDArray[np.int32]
    images: NDArray[np.int32]
    matrices: NDArray[np.int32]
    anchor_states: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """How many cells a row of the framed board has."""
        return self.columns + 2 * self.margin


def ground_of(spec: GameSpec, group: SymmetryGroup, neighbourhood: Neighbourhood) -> BoardTables:
    """Put a game's arrays together."""
    geometry = spec.geometry
    if isinstance(geometry, GraphGeometry):
        rows, columns, margin = 1, geometry.size, 0
    else:
        rows, columns, margin = geometry.rows, geometry.columns, REACH
    deltas = neighbourhood.offsets[:, 0] * (columns + 2 * margin) + neighbourhood.offsets[:, 1]
    return BoardTables(
        rows,
        columns,
        margin,
        deltas.astype(np.int32),
        neighbourhood.images,
        group.matrices,
        np.array([ANCHOR_STATES.get(kind, 0) for kind in AnchorKind], dtype=np.uint8),
    )
