"""The kinds of draughts: what differs between them, one line each."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from referees.draughts.layout import Layout


class Crowning(Enum):
    """What becomes of a man that reaches the far row while it captures.

    It is crowned and the move ends; it is crowned only where the move ends there; or it is crowned and
    goes on as a king.
    """

    ENDS_THE_MOVE = "ends the move"
    AT_REST = "at rest"
    GOES_ON = "goes on"


@dataclass(frozen=True)
class Ending:
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
    `king_moves` and `endings` are the usual draw rules (moves of each side; see `draws`). `game_type`
    is the variant's tag in PDN 3.0. `expected_length` is in plies.
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
    endings: tuple[Ending, ...] = field(default=())

    @property
    def white_men(self) -> int:
        """White's men in the first position."""
        squares = len(self.layout.bits)
        return self.layout.mask(range(squares + 1 - self.men_rows * self.layout.rows // 2, squares + 1))

    @property
    def black_men(self) -> int:
        """Black's men in the first position."""
        return self.layout.mask(range(1, self.men_rows * self.layout.rows // 2 + 1))


_RUSSIAN_ENDINGS: Final = (Ending(2, 5), Ending(12, 15, kings_only=True))

# Draw rules: English, World Checkers Draughts Federation, Rules 1.32; international, FMJD, annex 1, 6;
# Russian and Brazilian, as pydraughts and Lidraughts have them. Lengths: twice the moves of usual games.
VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant(
            "english",
            Layout(8),
            False,
            False,
            False,
            False,
            Crowning.ENDS_THE_MOVE,
            40,
            "21,B,8,8,N1,0",
            60.0,
        ),
        Variant(
            "international",
            Layout(10),
            True,
            True,
            True,
            True,
            Crowning.AT_REST,
            25,
            "20,W,10,10,N2,0",
            100.0,
            men_rows=4,
            endings=(Ending(2, 5), Ending(3, 16)),
        ),
        Variant(
            "brazilian",
            Layout(8, algebraic=True),
            True,
            True,
            True,
            True,
            Crowning.AT_REST,
            15,
            "26,W,8,8,A0,0",
            60.0,
            endings=_RUSSIAN_ENDINGS,
        ),
        Variant(
            "russian",
            Layout(8, algebraic=True),
            True,
            True,
            True,
            False,
            Crowning.GOES_ON,
            15,
            "25,W,8,8,A0,0",
            60.0,
            endings=_RUSSIAN_ENDINGS,
        ),
    )
}
