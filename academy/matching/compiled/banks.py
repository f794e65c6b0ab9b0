"""Banks of machine words, and the table of a query: a bank for every test.

A *candidate* is a symmetry and an anchor: number `symmetry * stride + anchor`, a bit among 512 of a *bank*,
which is eight words. Words are unsigned and so are the numbers here: LLVM need not handle negative indexes.
"""

from collections.abc import Callable
from typing import Final, SupportsInt, cast

import numpy as np
from numpy.typing import NDArray

from academy.matching.board_tables import BoardTables
from academy.matching.compiled.compiling import compiled

WORD: Final = 64
LANES: Final = 8
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
# Every second bit; two of four; four of eight; the lowest bit of each byte.
_HALVES: Final = cast(int, np.uint64(0x5555555555555555))
_PAIRS: Final = cast(int, np.uint64(0x3333333333333333))
_FOURS: Final = cast(int, np.uint64(0x0F0F0F0F0F0F0F0F))
_LOWEST_OF_BYTES: Final = cast(int, np.uint64(0x0101010101010101))
# Multiplied with it, the lowest bits of eight bytes become the highest byte.
_GATHER: Final = cast(int, np.uint64(0x0102040810204080))

Words = NDArray[np.uint64]
States = NDArray[np.uint8]
Numbers = NDArray[np.int32]
Bank = tuple[int, int, int, int, int, int, int, int]

# Banks are tuples of eight words: LLVM makes vectors of them.


@compiled
def load_bank(words: Words, place: int) -> Bank:
    """Return bank `place` of an array."""
    at = place * U(LANES)
    return (
        *(words[at], words[at + U(1)], words[at + U(2)], words[at + U(3)]),
        *(words[at + U(4)], words[at + U(5)], words[at + U(6)], words[at + U(7)]),
    )


@compiled
def store_bank(words: Words, place: int, bank: Bank) -> None:
    """Write bank `place` of an array."""
    at = place * U(LANES)
    words[at], words[at + U(1)], words[at + U(2)], words[at + U(3)] = bank[0], bank[1], bank[2], bank[3]
    words[at + U(4)], words[at + U(5)], words[at + U(6)], words[at + U(7)] = (
        bank[4],
        bank[5],
        bank[6],
        bank[7],
    )


@compiled
def both(first: Bank, second: Bank) -> Bank:
    """Return the bits that are set in both."""
    return (
        *(first[0] & second[0], first[1] & second[1], first[2] & second[2], first[3] & second[3]),
        *(first[4] & second[4], first[5] & second[5], first[6] & second[6], first[7] & second[7]),
    )


@compiled
def either(first: Bank, second: Bank) -> Bank:
    """Return the bits that are set in either."""
    return (
        *(first[0] | second[0], first[1] | second[1], first[2] | second[2], first[3] | second[3]),
        *(first[4] | second[4], first[5] | second[5], first[6] | second[6], first[7] | second[7]),
    )


@compiled
def has_bits(bank: Bank) -> bool:
    """Whether any bit is set."""
    a, b, c, d, e, f, g, h = bank
    return (a | b | c | d | e | f | g | h) != NO_BITS


@compiled
def bits_set(word: int) -> int:
    """Return how many bits of a word are set; LLVM knows these steps for the machine's own instruction."""
    word = word - ((word >> ONE_BIT) & _HALVES)
    word = (word & _PAIRS) + ((word >> U(2)) & _PAIRS)
    word = (word + (word >> U(4))) & _FOURS
    return U((word * _LOWEST_OF_BYTES) >> U(56))


@compiled
def lowest_bit(word: int) -> int:
    """Return the number of the lowest set bit, 64 if no bit is set."""
    return bits_set(~word & (word - ONE_BIT))


@compiled
def bits_in_bank(words: Words, place: int) -> int:
    """Return how many bits of a bank are set."""
    count = U(0)
    for lane in range(U(LANES)):
        count += bits_set(words[place * U(LANES) + lane])
    return count


@compiled
def framed(states: States, tables: BoardTables, edge: np.uint8) -> States:
    """Return a board with a margin of `edge` on all sides, row by row."""
    margin, columns = tables.margin, tables.columns
    width = columns + 2 * margin
    board = np.full((tables.rows + 2 * margin) * width, edge, dtype=np.uint8)
    for row in range(tables.rows):
        start = (row + margin) * width + margin
        for column in range(columns):
            board[U(start + column)] = states[U(row * columns + column)]
    return board


@compiled
def framed_places(cells: Numbers, tables: BoardTables) -> Numbers:
    """Return where the framed board has these cells."""
    margin, columns = tables.margin, tables.columns
    places = np.empty(len(cells), dtype=np.int32)
    for number in range(len(cells)):
        row = cells[number] // columns
        places[number] = cells[number] + (margin + row) * 2 * margin + margin * columns + margin
    return places


@compiled
def anchors_on(states: States, accepted_states: int, whole: bool) -> Numbers:
    """Return the cells with one of some states, or just one where patterns cannot move."""
    if whole:
        return np.zeros(1, dtype=np.int32)
    anchors = np.empty(len(states), dtype=np.int32)
    count = U(0)
    for cell in range(U(len(states))):
        anchors[count] = cell
        count += U((states[cell] & accepted_states) != 0)
    return anchors[:count]


@compiled
def banks_of(anchors: int, symmetries: int) -> int:
    """Return how many banks hold the candidates of a number of anchors."""
    return (U(anchors * symmetries) + U(BANK - 1)) // U(BANK)


@compiled
def stride_of(anchors: int, symmetries: int) -> int:
    """Return how far apart an anchor's candidates are: by whole words, where these take no more banks."""
    padded = (U(anchors) + U(WORD - 1)) // U(WORD) * U(WORD)
    return padded if banks_of(padded, symmetries) == banks_of(anchors, symmetries) else U(anchors)


@compiled
def candidate_words(board: States, own: States, places: Numbers, reach: int, tables: BoardTables) -> Words:
    """Return, as (offset, state, word), candidates around which a framed board has a state there.

    Anchors are at `places` of the board and have the states `own` themselves. A cell may be in several.
    """
    deltas = tables.deltas
    count, offsets = U(len(places)), U(reach)
    words = (count + U(WORD - 1)) // U(WORD)
    length = words * U(WORD)
    around = np.zeros(offsets * length, dtype=np.uint8)
    for anchor in range(U(len(own))):
        around[anchor] = own[anchor]
    for offset in range(U(1), offsets):
        first, delta = offset * length, U(deltas[offset])
        for anchor in range(count):
            around[first + anchor] = board[U(places[anchor]) + delta]
    used, states = _states_in(around)
    eights = around.view(np.uint64)
    in_bytes = np.empty(states * U(len(eights)), dtype=np.uint8)
    for at in range(states):
        first = at * U(len(eights))
        for number in range(U(len(eights))):
            flags = (eights[number] >> used[at]) & _LOWEST_OF_BYTES
            in_bytes[first + number] = (flags * _GATHER) >> U(56)
    plain = in_bytes.view(np.uint64)
    return _turned(plain, used[:states], count, tables.images[: signed(offsets)])


@compiled
def _turned(plain: Words, used: NDArray[np.uintp], anchors: int, images: Numbers) -> Words:
    """Return the words of anchors (state, offset) under all symmetries, one after the other."""
    offsets, symmetries, states = U(len(images)), U(images.shape[1]), U(len(used))
    words, stride = (anchors + U(WORD - 1)) // U(WORD), stride_of(anchors, symmetries)
    lanes = U(LANES) * banks_of(anchors, symmetries)
    # The bits of a symmetry's last word that lie beyond the bank's end are none, but are written behind it.
    turned = np.zeros(offsets * U(STATES) * lanes + U(1), dtype=np.uint64)
    for symmetry in range(symmetries):
        for word in range(words):
            first = symmetry * stride + word * U(WORD)
            lane, shift = first // U(WORD), first % U(WORD)
            # A word cannot be shifted by 64 at once.
            rest = U(WORD - 1) - shift
            for at in range(states):
                source, target = at * offsets * words + word, used[at] * lanes + lane
                if stride % U(WORD) == 0:
                    for offset in range(offsets):
                        turned[target + offset * U(STATES) * lanes] = plain[
                            source + U(images[offset, symmetry]) * words
                        ]
                else:
                    for offset in range(offsets):
                        bits = plain[source + U(images[offset, symmetry]) * words]
                        place = target + offset * U(STATES) * lanes
                        turned[place] |= bits << shift
                        turned[place + U(1)] |= (bits >> U(1)) >> rest
    return turned


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
def write_tests(words: Words, banks: int, bank: int, reach: int, table: Words, swapped: bool) -> None:
    """Write the bank of each test, codes in the order of `anchoring.TESTED_CODES`.

    What a code accepts is what any of its states does. With `swapped` the words are of the board with the
    colours exchanged.
    """
    first, second = (U(3), U(1)) if swapped else (U(1), U(3))
    step = U(banks)
    for offset in range(U(reach)):
        place, target = offset * U(STATES) * step + U(bank), offset * U(CODES)
        empty = load_bank(words, place)
        store_bank(table, target, empty)
        _write_player(table, target + U(1), words, (place + first * step, step), empty)
        _write_player(table, target + U(5), words, (place + second * step, step), empty)
        store_bank(table, target + U(9), load_bank(words, place + U(5) * step))


@compiled
def _write_player(table: Words, target: int, words: Words, source: tuple[int, int], empty: Bank) -> None:
    """Write a player's four codes; the bank of soldiers is at `source`, that of kings a step behind."""
    place, step = source
    soldier, king = load_bank(words, place), load_bank(words, place + step)
    piece = either(soldier, king)
    store_bank(table, target, soldier)
    store_bank(table, target + U(1), king)
    store_bank(table, target + U(2), piece)
    store_bank(table, target + U(3), either(empty, piece))


@compiled
def aligned_words(count: int) -> Words:
    """Return words, not written yet, that begin a cache line: a bank across two costs twice."""
    words = np.empty(U(count) + U(LANES), dtype=np.uint64)
    first = (U(_CACHE_LINE) - U(words.ctypes.data) % U(_CACHE_LINE)) // U(words.itemsize) % U(LANES)
    return words[first : first + U(count)]


@compiled
def table_size(tables: BoardTables) -> int:
    """Return how many words a bank's table has."""
    return (len(tables.images) * CODES + 1) * LANES
