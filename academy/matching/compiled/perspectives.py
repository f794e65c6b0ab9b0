"""The sieve of all rows on boards; where one is the other with the colours exchanged, most is found once."""

from typing import Final

import numpy as np

from academy.knowledge.cells import State
from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.sieve import (
    KINDS,
    OFF_BOARD,
    WHOLE_GRAPH,
    Anchors,
    Units,
    View,
    anchors_around,
    no_anchors,
    no_units,
    with_kind,
)
from academy.matching.compiled.table import States, U, anchors_on, framed
from academy.matching.ground import BoardTables
from academy.matching.rows import Rows

_FIRST_PIECE: Final = 0
_SECOND_PIECE: Final = 1
# What a cell holds that is no player's, the first one's or the second one's, the same so many bits higher.
_NEITHER: Final = np.uint8(State.EMPTY | State.OFF_BOARD)
_FIRST: Final = np.uint8(State.FIRST_SOLDIER | State.FIRST_KING)
_SECOND: Final = np.uint8(State.SECOND_SOLDIER | State.SECOND_KING)
_APART: Final = np.uint8(2)


@compiled
def sifted(boards: States, ground: BoardTables, rows: Rows) -> Units:
    """Sieve all rows on some boards: (board, cell)."""
    units = no_units()
    both = len(boards) == 2 and _is_swapped(boards[0], boards[1])
    for number in range(1 if both else len(boards)):
        states, other = boards[number], boards[len(boards) - 1]
        view = View(number, states, framed(states, ground, OFF_BOARD))
        other_view = View(len(boards) - 1, other, framed(other, ground, OFF_BOARD)) if both else view
        first = _pieces(_FIRST_PIECE, both, view, ground, rows)
        second = _pieces(_SECOND_PIECE, both, view, ground, rows)
        for kind in range(KINDS):
            if len(rows.of_kind[kind]) == 0:
                continue
            # What is the first player's on one board is the second player's on the other.
            if kind == _FIRST_PIECE:
                here, there = first, second
            elif kind == _SECOND_PIECE:
                here, there = second, first
            else:
                cells = anchors_on(states, ground.anchor_states[kind], kind == WHOLE_GRAPH)
                here = anchors_around(view, cells, ground, rows)
                there = here
            cells_there = there.cells if both else there.cells[:0]
            swapped = Anchors(other_view, cells_there, there.words, True)
            units = with_kind(units, here, swapped, view, None, ground, rows, kind)
    return units


@compiled
def _pieces(kind: int, both: bool, view: View, ground: BoardTables, rows: Rows) -> Anchors:
    """Return a player's pieces as anchors, if any rows hang on them or, for the other player, on `both`'s."""
    if len(rows.of_kind[kind]) == 0 and not (both and len(rows.of_kind[1 - kind]) > 0):
        return no_anchors(view)
    return anchors_around(view, anchors_on(view.states, ground.anchor_states[kind], False), ground, rows)


@compiled
def _is_swapped(one: States, two: States) -> bool:
    different = np.uint8(0)
    for cell in range(U(len(one))):
        state = one[cell]
        swapped = state & _NEITHER | (state & _FIRST) << _APART | (state & _SECOND) >> _APART
        different |= swapped ^ two[cell]
    return bool(different == 0)
