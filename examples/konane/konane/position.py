"""Positions and moves of Konane, as values."""

from dataclasses import dataclass
from typing import Final

BLACK: Final = 1
WHITE: Final = 2
STONES: Final = {BLACK: "x", WHITE: "o"}
EMPTY: Final = "-"


@dataclass(frozen=True, slots=True)
class KonanePosition:
    """One letter a cell, row by row from the top (`x` is Black's stone, `o` White's), and who moves."""

    cells: str
    mover: int = BLACK


@dataclass(frozen=True, slots=True)
class KonaneMove:
    """A stone jumps from one cell to another; in the first round a stone is taken off and has no `end`."""

    start: int
    end: int | None = None
