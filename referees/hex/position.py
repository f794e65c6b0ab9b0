"""A position in a game of Hex, as a value."""

from dataclasses import dataclass

from referees.hex.board import EMPTY


@dataclass(frozen=True, slots=True)
class HexPosition:
    """A position in a game.

    `cells` are the states of `Board.cells`, row by row from the top; `mover` is the colour to move;
    `plies` counts the moves made, a swap included; `winner` is the colour whose edges are linked, or
    EMPTY.
    """

    cells: bytes
    mover: int
    plies: int = 0
    winner: int = EMPTY
