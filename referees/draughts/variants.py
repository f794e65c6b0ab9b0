"""The kinds of draughts: what differs between them."""

from dataclasses import dataclass, replace
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
    `king_moves` and `endings` are the usual draw rules (moves of each side; see `draws`). `game_type`
    is the variant's tag in PDN 3.0. `expected_length`, in plies, is near that of random games.
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
    def white_men(self) -> int:
        """White's men in the first position."""
        squares = len(self.layout.bits)
        return self.layout.mask(range(squares + 1 - self.men_rows * self.layout.rows // 2, squares + 1))

    @property
    def black_men(self) -> int:
        """Black's men in the first position."""
        return self.layout.mask(range(1, self.men_rows * self.layout.rows // 2 + 1))


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
