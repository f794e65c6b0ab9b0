"""A board as both players see it: where only the colours are exchanged, most is found once."""

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
    no_units,
    sifted,
    with_kind,
)
from academy.matching.compiled.table import States, U, anchors_on, framed
from academy.matching.ground import Ground
from academy.matching.rows import Rows

_FIRST_PIECE: Final = 0
_SECOND_PIECE: Final = 1
# What a cell holds that is no player's, the first one's or the second one's, the same so many bits higher.
_NEITHER: Final = np.uint8(State.EMPTY | State.OFF_BOARD)
_FIRST: Final = np.uint8(State.FIRST_SOLDIER | State.FIRST_KING)
_SECOND: Final = np.uint8(State.SECOND_SOLDIER | State.SECOND_KING)
_APART: Final = np.uint8(2)


@compiled
def sifted_for_players(boards: States, ground: Ground, rows: Rows) -> Units:
    """Sieve all rows on one board, or on two, as `sieve.sifted` does."""
    on_pieces = len(rows.of_kind[_FIRST_PIECE]) + len(rows.of_kind[_SECOND_PIECE])
    if on_pieces == 0 or len(boards) != 2 or not _is_swapped(boards[0], boards[1]):
        return sifted(boards, ground, rows)
    own, other = boards[0], boards[1]
    view = View(0, own, framed(own, ground, OFF_BOARD))
    other_view = View(1, other, framed(other, ground, OFF_BOARD))
    units = no_units()
    first = anchors_around(view, anchors_on(own, ground.anchor_states[_FIRST_PIECE], False), ground, rows)
    second = anchors_around(view, anchors_on(own, ground.anchor_states[_SECOND_PIECE], False), ground, rows)
    for kind in range(KINDS):
        if len(rows.of_kind[kind]) == 0:
            continue
        # What is the first player's on one board is the second player's on the other.
        if kind == _FIRST_PIECE:
            here, there = first, second
        elif kind == _SECOND_PIECE:
            here, there = second, first
        else:
            cells = anchors_on(own, ground.anchor_states[kind], kind == WHOLE_GRAPH)
            here = anchors_around(view, cells, ground, rows)
            there = here
        if len(here.cells) > 0:
            units = with_kind(units, view, view, None, here, ground, rows, kind)
        if len(there.cells) > 0:
            swapped = Anchors(there.cells, other[there.cells], there.words, True)
            units = with_kind(units, other_view, other_view, None, swapped, ground, rows, kind)
    return units


@compiled
def _is_swapped(one: States, two: States) -> bool:
    different = np.uint8(0)
    for cell in range(U(len(one))):
        state = one[cell]
        swapped = state & _NEITHER | (state & _FIRST) << _APART | (state & _SECOND) >> _APART
        different |= swapped ^ two[cell]
    return bool(different == 0)
