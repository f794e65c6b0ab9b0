"""A position in a game of Go, as a value."""

from dataclasses import dataclass

from referees.go.board import NO_KO


@dataclass(frozen=True, slots=True)
class GoPosition:
    """A position in a game.

    `stones` has EMPTY, BLACK or WHITE for each point, row by row from the top; `mover` is the colour
    to move; `ko` the point that simple ko forbids, or NO_KO; `passes` counts the passes just made.
    `history` holds all `stones` so far under positional superko, and nothing otherwise; `handicap` is
    the number of handicap stones that Black began with.
    """

    stones: bytes
    mover: int
    ko: int = NO_KO
    passes: int = 0
    history: frozenset[bytes] = frozenset()
    handicap: int = 0
