"""Moves as text: `11-15`, `24x15x8`; in Russian and Brazilian draughts `c3-d4`, `c3xe5`."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from referees.api import UnreadableMoveError
from referees.draughts.layout import Layout
from referees.draughts.moves import Move

# PDN has hyphens and x, Russian books colons.
_SEPARATOR: Final = re.compile(r"\s*[-–x×:]\s*")
_MAX_TEXT: Final = 300


def write(move: Move, layout: Layout) -> str:
    """A move with every square it lands on, so that the text alone says which move it is."""
    names = layout.names
    return ("x" if move.captured else "-").join(names[number - 1] for number in move.squares)


def read_squares(text: str, layout: Layout) -> tuple[int, ...]:
    """The numbers of the squares that a move's text names, two or more. Raises UnreadableMoveError."""
    words = _SEPARATOR.split(text[:_MAX_TEXT].strip().lower())
    squares = tuple(layout.named.get(word.lstrip("0"), 0) for word in words)
    if len(squares) < 2 or not all(squares):
        first, last = layout.names[0], layout.names[-1]
        example = "c3-d4 or c3xe5" if layout.algebraic else "11-15 or 24x15x8"
        raise UnreadableMoveError(
            f"{text[:40]!r} is no move: it needs squares from {first} to {last}, as in {example}"
        )
    return squares


def read(text: str, layout: Layout, moves: Sequence[Move]) -> Move:
    """Read one of `moves`, of which squares on the way may be left out, or others that it lands on.

    Text that fits none of them gives a move of the squares that it names. Raises UnreadableMoveError where
    it fits several, or is no move.
    """
    squares = read_squares(text, layout)
    fitting = [move for move in moves if _fits(move, squares, layout)]
    for move in fitting:
        if move.squares == squares:
            return move
    if len(fitting) > 1:
        ways = " or ".join(write(move, layout) for move in fitting[:4])
        raise UnreadableMoveError(f"{text[:40]!r} may be several moves: say {ways}")
    return fitting[0] if fitting else Move(squares)


def _fits(move: Move, squares: tuple[int, ...], layout: Layout) -> bool:
    if (move.squares[0], move.squares[-1]) != (squares[0], squares[-1]):
        return False
    way = iter(move.squares)
    if all(square in way for square in squares):
        return True
    # Another way to take the same pieces: one on each leg.
    legs = [set(layout.between(start, end)) & set(move.captured) for start, end in pairwise(squares)]
    return all(len(taken) == 1 for taken in legs) and set().union(*legs) == set(move.captured)
