"""How a cell of a new pattern and a cell of a known one become one: the seed's two tables.

The seed writes the first player's rows only; the colour-swapped rows hold too.
"""

from collections.abc import Callable, Sequence
from typing import Final

from academy.knowledge.cells import SWAP_COLOURS, Code
from academy.knowledge.patterns import Pattern
from academy.knowledge.signatures import BAND_HUNDREDTHS, Vote, VoteTally

STRICT_POSITIVE: Final = 0.66
STRICT_NEGATIVE: Final = 0.33

CellRule = Callable[[int, int, bool], int | None]

_FIRST: Final = (Code.FIRST_SOLDIER, Code.FIRST_KING, Code.FIRST_PIECE)
_SECOND: Final = (Code.SECOND_SOLDIER, Code.SECOND_KING, Code.SECOND_PIECE)
# Bits of information of a cell, in thousandths: -log2 of how often it would fit by chance if half of all
# cells were empty, and of the pieces half each player's, half of them kings. In whole numbers sums are the
# same on any machine.
_MILLIBITS: Final[dict[int, int]] = {
    Code.ANYTHING: 0,
    Code.OFF_BOARD: 0,
    Code.EMPTY: 1_000,
    **dict.fromkeys((Code.NO_FIRST_PIECE, Code.NO_SECOND_PIECE), 415),
    **dict.fromkeys((Code.FIRST_PIECE, Code.SECOND_PIECE), 2_000),
    **dict.fromkeys((Code.FIRST_SOLDIER, Code.FIRST_KING, Code.SECOND_SOLDIER, Code.SECOND_KING), 3_000),
}
# What says nothing of a piece or its absence: a pattern of these alone would match almost anywhere.
_VAGUE: Final = frozenset({Code.ANYTHING, Code.OFF_BOARD, Code.NO_FIRST_PIECE, Code.NO_SECOND_PIECE})


def _with_swapped_rows(table: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    swapped = {
        (SWAP_COLOURS[new], SWAP_COLOURS[known]): SWAP_COLOURS[result]
        for (new, known), result in table.items()
    }
    return table | swapped


_GENERALISED: Final = _with_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.FIRST_KING): Code.FIRST_PIECE,
        (Code.FIRST_SOLDIER, Code.FIRST_PIECE): Code.FIRST_PIECE,
        (Code.FIRST_KING, Code.FIRST_PIECE): Code.FIRST_PIECE,
        **{(Code.EMPTY, piece): Code.NO_SECOND_PIECE for piece in _FIRST},
    }
)
_SPECIALISED: Final = _with_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.FIRST_PIECE): Code.FIRST_SOLDIER,
        (Code.FIRST_KING, Code.FIRST_PIECE): Code.FIRST_KING,
        **{(piece, Code.NO_SECOND_PIECE): Code.FIRST_PIECE for piece in _FIRST},
    }
)
_SPECIALISED_UNDECIDED: Final = _with_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.ANYTHING): Code.FIRST_PIECE,
        (Code.FIRST_KING, Code.ANYTHING): Code.FIRST_PIECE,
        (Code.FIRST_PIECE, Code.ANYTHING): Code.NO_SECOND_PIECE,
    }
)


def decisive(first_value: float, second_value: float) -> bool:
    """Whether both values are strictly positive (above 0.66) or both strictly negative (below 0.33)."""
    return (
        min(first_value, second_value) > STRICT_POSITIVE or max(first_value, second_value) < STRICT_NEGATIVE
    )


def generalised_cell(first: int, second: int, is_decisive: bool) -> int | None:
    """The code that a pair of unequal cells becomes by generalisation, or None where it blocks it."""
    if (first in _FIRST and second in _SECOND) or (first in _SECOND and second in _FIRST):
        return Code.ANYTHING if is_decisive else None
    return _GENERALISED.get((first, second)) or _GENERALISED.get((second, first))


def specialised_cell(new: int, known: int, is_decisive: bool) -> int | None:
    """The code that a new cell and an unequal known one become by specialisation, or None."""
    if known == Code.ANYTHING and new in (*_FIRST, *_SECOND):
        return Code.ANYTHING if is_decisive else _SPECIALISED_UNDECIDED[new, known]
    return _SPECIALISED.get((new, known))


def cell_rule(vote: Vote, known: VoteTally) -> CellRule | None:
    """The table for a new pattern's vote and a known pattern: by specialisation, generalisation, or none.

    Compared in whole hundredths: as floats, most differences of exactly 200 would not be 200.
    """
    gap = vote.elo_hundredths * known.proposers - known.elo_hundredths
    band = BAND_HUNDREDTHS * known.proposers
    if gap > band:
        return specialised_cell
    return generalised_cell if -band < gap < band else None


def is_vague(codes: bytes) -> bool:
    """Whether codes are nothing but `#`, `1`, `2` and `+`."""
    return _VAGUE.issuperset(codes)


def information(codes: bytes) -> float:
    """How many bits codes say of a board; `#` and the board's edge say nothing."""
    return sum(_MILLIBITS[code] for code in codes) / 1_000


def merged(
    new: Pattern, known: bytes, differing: Sequence[int], rule: CellRule, is_decisive: bool
) -> Pattern | None:
    """The new pattern merged cell by cell with known codes that lie on the same cells.

    `differing` are the places where they are not equal. None where a pair blocks the merge or
    nothing would be left but `#`, `1`, `2` and `+`.
    """
    codes = bytearray(known)
    for place in differing:
        code = rule(new.codes[place], known[place], is_decisive)
        if code is None:
            return None
        codes[place] = code
    if is_vague(bytes(codes)):
        return None
    return new.with_codes(bytes(codes))
