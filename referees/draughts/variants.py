"""The variants of draughts, and how their boards are laid out and numbered."""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Final

COLUMNS: Final = "abcdefghijkl"


@dataclass(frozen=True)
class Layout:
    """A board of `rows` rows, an even number, whose bottom left square is dark.

    Squares are named by their numbers, or as on a chess board (`c3`) where `algebraic`.
    """

    rows: int
    algebraic: bool = False

    @cached_property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """The row and the column of each square, in the order of their numbers; row 0 is the top."""
        half = range(self.rows // 2)
        return tuple((row, 2 * place + 1 - row % 2) for row in range(self.rows) for place in half)

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """The bit of each square, in the order of their numbers."""
        half = self.rows // 2
        return tuple(1 << row * half + row // 2 + place for row in range(self.rows) for place in range(half))

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of the square that a bit stands for."""
        return {bit: number for number, bit in enumerate(self.bits, start=1)}

    @cached_property
    def playable(self) -> int:
        """All squares."""
        return sum(self.bits)

    @cached_property
    def down(self) -> tuple[int, int]:
        """The two steps down the board, as shifts to the left; up the board they are negative."""
        return self.rows // 2, self.rows // 2 + 1

    @cached_property
    def top(self) -> int:
        """The squares of the top row."""
        return sum(self.bits[: self.rows // 2])

    @cached_property
    def bottom(self) -> int:
        """The squares of the bottom row."""
        return sum(self.bits[-(self.rows // 2) :])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each square, in the order of their numbers."""
        if not self.algebraic:
            return tuple(map(str, range(1, len(self.bits) + 1)))
        return tuple(f"{COLUMNS[column]}{self.rows - row}" for row, column in self.cells)

    @cached_property
    def named(self) -> dict[str, int]:
        """The number of the square of a name."""
        return {name: number for number, name in enumerate(self.names, start=1)}

    def between(self, start: int, end: int) -> tuple[int, ...]:
        """The squares between two on a diagonal, by number; none where they are on no diagonal together."""
        (row, column), (end_row, end_column) = self.cells[start - 1], self.cells[end - 1]
        distance = abs(end_row - row)
        if not distance or abs(end_column - column) != distance:
            return ()
        down, right = (end_row - row) // distance, (end_column - column) // distance
        return tuple(self._at[row + step * down, column + step * right] for step in range(1, distance))

    @cached_property
    def _at(self) -> dict[tuple[int, int], int]:
        return {cell: number for number, cell in enumerate(self.cells, start=1)}


class Crowning(Enum):
    """What becomes of a man that reaches the far row while it captures.

    It is crowned and the move ends; it is crowned only where the move ends there; or it is crowned and
    goes on as a king.
    """

    ENDS_THE_MOVE = "ends the move"
    AT_REST = "at rest"
    GOES_ON = "goes on"


@dataclass(frozen=True)
class DraughtsEnding:
    """A lone king against few pieces: a draw when each side has made `moves` moves more.

    The stronger side has at most `most` pieces, at least one of them a king; all of them where
    `kings_only`.
    """

    most: int
    moves: int
    kings_only: bool = False


@dataclass(frozen=True)
class Variant:
    """The rules of one kind of draughts.

    `men_rows` rows of men stand on either side; White has the bottom. `flying_kings` move and capture
    over any distance. With `most_captures` only the captures that take the most pieces are allowed.
    `king_moves` and `endings` are the usual draw rules (moves of each side; see `rules.drawn_by`).
    `game_type` is the variant's tag in PDN 3.0. `expected_length`, in plies, is near that of random games.
    """

    name: str
    layout: Layout
    white_first: bool
    flying_kings: bool
    men_capture_backwards: bool
    most_captures: bool
    crowning: Crowning
    king_moves: int
    game_type: str
    expected_length: float
    men_rows: int = 3
    endings: tuple[DraughtsEnding, ...] = ()

    @property
    def men(self) -> int:
        """How many men each side has in the first position."""
        return self.men_rows * self.layout.rows // 2

    @property
    def white_men(self) -> int:
        """White's men in the first position."""
        return sum(self.layout.bits[-self.men :])

    @property
    def black_men(self) -> int:
        """Black's men in the first position."""
        return sum(self.layout.bits[: self.men])


_RUSSIAN_ENDINGS: Final = (DraughtsEnding(2, 5), DraughtsEnding(12, 15, kings_only=True))

# Draw rules: English, World Checkers Draughts Federation, Rules 1.32; international, FMJD, annex 1, 6;
# Russian and Brazilian, as pydraughts and Lidraughts have them.
ENGLISH: Final = Variant(
    name="english",
    layout=Layout(8),
    white_first=False,
    flying_kings=False,
    men_capture_backwards=False,
    most_captures=False,
    crowning=Crowning.ENDS_THE_MOVE,
    king_moves=40,
    game_type="21,B,8,8,N1,0",
    expected_length=60.0,
)
INTERNATIONAL: Final = Variant(
    name="international",
    layout=Layout(10),
    men_rows=4,
    white_first=True,
    flying_kings=True,
    men_capture_backwards=True,
    most_captures=True,
    crowning=Crowning.AT_REST,
    king_moves=25,
    endings=(DraughtsEnding(2, 5), DraughtsEnding(3, 16)),
    game_type="20,W,10,10,N2,0",
    expected_length=100.0,
)
BRAZILIAN: Final = replace(
    INTERNATIONAL,
    name="brazilian",
    layout=Layout(8, algebraic=True),
    men_rows=3,
    king_moves=15,
    endings=_RUSSIAN_ENDINGS,
    game_type="26,W,8,8,A0,0",
    expected_length=60.0,
)
RUSSIAN: Final = replace(
    BRAZILIAN, name="russian", most_captures=False, crowning=Crowning.GOES_ON, game_type="25,W,8,8,A0,0"
)
VARIANTS: Final = {variant.name: variant for variant in (ENGLISH, INTERNATIONAL, BRAZILIAN, RUSSIAN)}
