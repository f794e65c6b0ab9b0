"""The letters of boards and patterns.

A cell of a board is in one of six *states*, each a bit of its own. A cell of a pattern holds a
*code*: the union of the states it accepts. One AND shows whether a state satisfies a code.
"""

from enum import IntEnum
from typing import Final

__all__ = [
    "CODE_LETTERS",
    "LETTERS_TO_STATES",
    "LETTER_CODES",
    "STATES_TO_LETTERS",
    "STATE_LETTERS",
    "SWAP_COLOURS",
    "Code",
    "State",
]


class State(IntEnum):
    """The state of a cell of a board."""

    EMPTY = 1
    FIRST_SOLDIER = 2
    FIRST_KING = 4
    SECOND_SOLDIER = 8
    SECOND_KING = 16
    OFF_BOARD = 32


class Code(IntEnum):
    """The states that a cell of a pattern accepts."""

    EMPTY = 1
    FIRST_SOLDIER = 2
    FIRST_KING = 4
    FIRST_PIECE = 2 | 4
    NO_SECOND_PIECE = 1 | 2 | 4
    SECOND_SOLDIER = 8
    SECOND_KING = 16
    SECOND_PIECE = 8 | 16
    NO_FIRST_PIECE = 1 | 8 | 16
    OFF_BOARD = 32
    ANYTHING = 63


CODE_LETTERS: Final[dict[int, str]] = {
    Code.EMPTY: "-",
    Code.FIRST_SOLDIER: "x",
    Code.FIRST_KING: "b",
    Code.FIRST_PIECE: "B",
    Code.NO_SECOND_PIECE: "1",
    Code.SECOND_SOLDIER: "o",
    Code.SECOND_KING: "w",
    Code.SECOND_PIECE: "W",
    Code.NO_FIRST_PIECE: "2",
    Code.OFF_BOARD: "+",
    Code.ANYTHING: "#",
}
LETTER_CODES: Final[dict[str, Code]] = {letter: Code(code) for code, letter in CODE_LETTERS.items()}

STATE_LETTERS: Final = "-xbow+"
_STATES: Final = bytes(1 << number for number in range(6))
LETTERS_TO_STATES: Final = bytes.maketrans(STATE_LETTERS.encode(), _STATES)
STATES_TO_LETTERS: Final = bytes.maketrans(_STATES, STATE_LETTERS.encode())


def _swap(code: int) -> int:
    return (code & 0b100001) | (code & 0b000110) << 2 | (code & 0b011000) >> 2


# A table for bytes.translate: every state or code with the players' colours exchanged.
SWAP_COLOURS: Final = bytes(_swap(code) if code < 64 else code for code in range(256))
