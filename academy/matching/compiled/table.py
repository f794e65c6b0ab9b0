"""The table of a query, for the candidates of one kind of anchor.

A *candidate* is a symmetry and an anchor: number `symmetry * stride + anchor`, a bit among 512 of a *bank*.
Words are unsigned and so are the numbers here: a signed index could be negative, and looking costs time.
"""

from collections.abc import Callable
from typing import Final, SupportsInt, cast

import numpy as np
from numpy.typing import NDArray

from academy.matching.compiled.compiling import compiled
from academy.matching.compiled.vectors import LANES, accepted, write_codes
from academy.matching.ground import BoardTables

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
def framed(states: States, ground: BoardTables, edge: int) -> States:
    """Return a board with a margin of `edge` on all sides, row by row."""
    margin, columns = ground.margin, ground.columns
    width = columns + 2 * margin
    found = np.full((ground.rows + 2 * margin) * width, np.uint8(edge), dtype=np.uint8)
    for row in range(ground.rows):
        start = (row + margin) * width + margin
        found[start : start + columns] = states[row * columns : (row + 1) * columns]
    return found


@compiled
def framed_places(cells: Numbers, ground: BoardTables) -> Numbers:
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
def banks_of(anchors: int, symmetries: int) -> int:
    """Return how many banks hold the candidates of so many anchors."""
    return (U(anchors * symmetries) + U(BANK - 1)) // U(BANK)


@compiled
def stride_of(anchors: int, symmetries: int) -> int:
    """Return how far apart an anchor's candidates are: by whole words, where these take no more banks."""
    padded = (U(anchors) + U(WORD - 1)) // U(WORD) * U(WORD)
    return padded if banks_of(padded, symmetries) == banks_of(anchors, symmetries) else U(anchors)


@compiled
def candidate_words(board: States, own: States, places: Numbers, reach: int, ground: BoardTables) -> Words:
    """Return, as (offset, state, word), candidates around which a framed board has a state there.

    Anchors are at `places` of the board and have the states `own` themselves. A cell may be in several.
    """
    deltas = ground.deltas
    count, offsets = U(len(places)), U(reach)
    words = (count + U(WORD - 1)) // U(WORD)
    length = words * U(WORD)
    around = np.zeros(offsets * length, dtype=np.uint8)
    around[: len(own)] = own
    for offset in range(U(1), offsets):
        first, delta = offset * length, U(deltas[offset])
        for anchor in range(count):
            around[first + anchor] = board[U(places[anchor]) + delta]
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
    """Return the words of anchors (offset, state) under all symmetries, one after the other."""
    offsets, symmetries, states = U(len(images)), U(images.shape[1]), U(len(used))
    words, stride = (anchors + U(WORD - 1)) // U(WORD), stride_of(anchors, symmetries)
    lanes = U(LANES) * banks_of(anchors, symmetries)
    # The bits of a symmetry's last word that lie beyond the bank's end are none, but are written behind it.
    found = np.zeros(offsets * U(STATES) * lanes + U(1), dtype=np.uint64)
    for symmetry in range(symmetries):
        for word in range(words):
            first = symmetry * stride + word * U(WORD)
            lane, shift = first // U(WORD), first % U(WORD)
            # A word cannot be shifted by 64 at once.
            rest = U(WORD - 1) - shift
            for at in range(states):
                source, target = at * words + word, used[at] * lanes + lane
                if stride % U(WORD) == 0:
                    for offset in range(offsets):
                        found[target + offset * U(STATES) * lanes] = plain[
                            source + U(images[offset, symmetry]) * states * words
                        ]
                else:
                    for offset in range(offsets):
                        bits = plain[source + U(images[offset, symmetry]) * states * words]
                        place = target + offset * U(STATES) * lanes
                        found[place] |= bits << shift
                        found[place + U(1)] |= (bits >> U(1)) >> rest
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
    first, second = (U(3), U(1)) if swapped else (U(1), U(3))
    for offset in range(U(reach)):
        write_codes(words, offset * U(STATES) * U(banks) + U(bank), U(banks), first, second, table, offset)


@compiled
def aligned_words(count: int) -> Words:
    """Return words, not written yet, that begin a cache line: a bank across two of them costs twice."""
    words = np.empty(U(count) + U(LANES), dtype=np.uint64)
    first = (U(_CACHE_LINE) - U(words.ctypes.data) % U(_CACHE_LINE)) // U(words.itemsize) % U(LANES)
    return words[first : first + U(count)]


@compiled
def table_size(ground: BoardTables) -> int:
    """Return how many words a bank's table has."""
    return (len(ground.images) * CODES + 1) * LANES
