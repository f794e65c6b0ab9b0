"""The table of a query, for the candidates of one kind of anchor.

A *candidate* is a symmetry and an anchor: number `symmetry * anchors + anchor`, a bit among 512 of a *bank*.
Words are unsigned and so are the numbers here: a signed index could be negative, and looking costs time.
"""

from collections.abc import Callable
from typing import Final, SupportsInt, cast

import numpy as np
from numpy.typing import NDArray

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.vectors import LANES, accepted
from academy.matching.ground import Ground

WORD: Final = 64
BANK: Final = WORD * LANES
STATES: Final = 6
CODES: Final = 10
# What Numba compiles to the machine's numbers without and with a sign.
U: Final = cast("Callable[[SupportsInt], int]", np.uintp)
signed: Final = cast("Callable[[SupportsInt], int]", np.intp)

ALL_BITS: Final = cast(int, np.uint64(0xFFFFFFFFFFFFFFFF))
NO_BITS: Final = cast(int, np.uint64(0))
ONE_BIT: Final = cast(int, np.uint64(1))
_CACHE_LINE: Final = 64

Words = NDArray[np.uint64]
States = NDArray[np.uint8]
Numbers = NDArray[np.int32]


@compiled
def framed(states: States, ground: Ground, edge: int) -> States:
    """Return a board with a margin of `edge` on all sides, row by row."""
    margin, columns = ground.margin, ground.columns
    width = columns + 2 * margin
    found = np.full((ground.rows + 2 * margin) * width, np.uint8(edge), dtype=np.uint8)
    for row in range(ground.rows):
        start = (row + margin) * width + margin
        found[start : start + columns] = states[row * columns : (row + 1) * columns]
    return found


@compiled
def framed_places(cells: Numbers, ground: Ground) -> Numbers:
    """Return where the framed board has these cells."""
    margin, columns = ground.margin, ground.columns
    found = np.empty(len(cells), dtype=np.int32)
    for number in range(len(cells)):
        row = cells[number] // columns
        found[number] = cells[number] + (margin + row) * 2 * margin + margin * columns + margin
    return found


@compiled
def anchors_on(states: States, accepted_states: int, whole: bool) -> Numbers:
    """Return the cells with one of some states, or just one where patterns cannot move."""
    if whole:
        return np.zeros(1, dtype=np.int32)
    found = np.empty(len(states), dtype=np.int32)
    count = U(0)
    for cell in range(U(len(states))):
        found[count] = cell
        count += U((states[cell] & accepted_states) != 0)
    return found[:count]


@compiled
def banks_of(candidates: int) -> int:
    """Return how many banks hold so many candidates."""
    return (U(candidates) + U(BANK - 1)) // U(BANK)


@compiled
def candidate_words(board: States, own: States, places: Numbers, reach: int, ground: Ground) -> Words:
    """Return, as (offset, state, word), candidates around which a framed board has a state there.

    Anchors are at `places` of the board and have the states `own` themselves. A cell may be in several.
    """
    deltas = ground.deltas
    count, offsets = U(len(places)), U(reach)
    words = (count + U(WORD - 1)) // U(WORD)
    length = words * U(WORD)
    around = np.zeros(offsets * length, dtype=np.uint8)
    around[: len(own)] = own
    for anchor in range(count):
        place = U(places[anchor])
        for offset in range(U(1), offsets):
            around[offset * length + anchor] = board[place + U(deltas[offset])]
    used, states = _states_in(around)
    plain = np.empty(offsets * states * words, dtype=np.uint64)
    for offset in range(offsets):
        for at in range(states):
            state = np.uint8(U(1) << used[at])
            for word in range(words):
                plain[(offset * states + at) * words + word] = accepted(
                    around, offset * length + word * U(WORD), state
                )
    return _turned(plain, used[:states], count, ground.images[: signed(offsets)])


@compiled
def _turned(plain: Words, used: NDArray[np.uintp], anchors: int, images: Numbers) -> Words:
    """Return the words of anchors (offset, state) under all symmetries, one after the other without a gap."""
    offsets, symmetries, states = U(len(images)), U(images.shape[1]), U(len(used))
    words = (anchors + U(WORD - 1)) // U(WORD)
    in_last_word = anchors - (words - U(1)) * U(WORD)
    lanes = U(LANES) * banks_of(anchors * symmetries)
    found = np.zeros(offsets * U(STATES) * lanes, dtype=np.uint64)
    for offset in range(offsets):
        for at in range(states):
            target = (offset * U(STATES) + used[at]) * lanes
            written, filled = NO_BITS, U(0)
            for symmetry in range(symmetries):
                source = (U(images[offset, symmetry]) * states + at) * words
                for word in range(words):
                    bits = plain[source + word]
                    size = U(WORD) if word + U(1) < words else in_last_word
                    written |= bits << filled
                    filled += size
                    if filled >= U(WORD):
                        found[target] = written
                        target += U(1)
                        filled -= U(WORD)
                        # All of a word's bits may have been written, and it cannot be shifted by 64.
                        written = (bits >> (size - filled - U(1))) >> U(1)
            if filled > U(0):
                found[target] = written
    return found


@compiled
def _states_in(states: States) -> tuple[NDArray[np.uintp], int]:
    present = np.uint8(0)
    for state in states:
        present |= state
    used = np.empty(STATES, dtype=np.uintp)
    count = U(0)
    for state in range(U(STATES)):
        used[count] = state
        count += (U(present) >> state) & U(1)
    return used, count


@compiled
def tests_of_bank(words: Words, banks: int, bank: int, reach: int, table: Words, swapped: bool) -> None:
    """Write the bank of each test: what a code accepts is what any of its states does.

    With `swapped` the words are of the board with the colours exchanged.
    """
    lanes = U(LANES) * U(banks)
    first, second = (U(3), U(1)) if swapped else (U(1), U(3))
    for offset in range(U(reach)):
        for lane in range(U(LANES)):
            source = offset * U(STATES) * lanes + U(LANES) * U(bank) + lane
            empty = words[source]
            first_soldier = words[source + first * lanes]
            first_king = words[source + (first + U(1)) * lanes]
            second_soldier = words[source + second * lanes]
            second_king = words[source + (second + U(1)) * lanes]
            first_piece = first_soldier | first_king
            second_piece = second_soldier | second_king
            target = offset * U(CODES * LANES) + lane
            table[target] = empty
            table[target + U(LANES)] = first_soldier
            table[target + U(2 * LANES)] = first_king
            table[target + U(3 * LANES)] = first_piece
            table[target + U(4 * LANES)] = empty | first_piece
            table[target + U(5 * LANES)] = second_soldier
            table[target + U(6 * LANES)] = second_king
            table[target + U(7 * LANES)] = second_piece
            table[target + U(8 * LANES)] = empty | second_piece
            table[target + U(9 * LANES)] = words[source + U(5) * lanes]


@compiled
def aligned_words(count: int) -> Words:
    """Return words, not written yet, that begin a cache line: a bank across two of them costs twice."""
    words = np.empty(U(count) + U(LANES), dtype=np.uint64)
    first = (U(_CACHE_LINE) - U(words.ctypes.data) % U(_CACHE_LINE)) // U(words.itemsize) % U(LANES)
    return words[first : first + U(count)]


@compiled
def table_size(ground: Ground) -> int:
    """Return how many words a bank's table has."""
    return (len(ground.images) * CODES + 1) * LANES
