"""How patterns merge: LUDAE's two tables, cell by cell, and how much a pattern's cells say."""

from collections.abc import Callable, Sequence
from typing import Final

from academy.knowledge.cells import SWAP_COLOURS, Code
from academy.knowledge.patterns import Pattern
from academy.knowledge.votes import BAND_HUNDREDTHS, Vote, VoteTally

__all__ = [
    "STRICT_NEGATIVE",
    "STRICT_POSITIVE",
    "CellRule",
    "cell_rule",
    "decisive",
    "generalised_cell",
    "information",
    "is_vague",
    "merge_cells",
    "specialised_cell",
]

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
# Codes that say nothing about pieces: a pattern of these alone would match almost anywhere.
_VAGUE: Final = frozenset({Code.ANYTHING, Code.OFF_BOARD, Code.NO_FIRST_PIECE, Code.NO_SECOND_PIECE})


def _add_swapped_rows(table: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    swapped = {
        (SWAP_COLOURS[new], SWAP_COLOURS[known]): SWAP_COLOURS[result]
        for (new, known), result in table.items()
    }
    return table | swapped


_GENERALISED: Final = _add_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.FIRST_KING): Code.FIRST_PIECE,
        (Code.FIRST_SOLDIER, Code.FIRST_PIECE): Code.FIRST_PIECE,
        (Code.FIRST_KING, Code.FIRST_PIECE): Code.FIRST_PIECE,
        **{(Code.EMPTY, piece): Code.NO_SECOND_PIECE for piece in _FIRST},
    }
)
_SPECIALISED: Final = _add_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.FIRST_PIECE): Code.FIRST_SOLDIER,
        (Code.FIRST_KING, Code.FIRST_PIECE): Code.FIRST_KING,
        **{(piece, Code.NO_SECOND_PIECE): Code.FIRST_PIECE for piece in _FIRST},
    }
)
_SPECIALISED_UNDECIDED: Final = _add_swapped_rows(
    {
        (Code.FIRST_SOLDIER, Code.ANYTHING): Code.FIRST_PIECE,
        (Code.FIRST_KING, Code.ANYTHING): Code.FIRST_PIECE,
        (Code.FIRST_PIECE, Code.ANYTHING): Code.NO_SECOND_PIECE,
    }
)


def decisive(first_value: float, second_value: float) -> bool:
    """Return whether both values are strictly positive (above 0.66) or both strictly negative (below 0.33).

    Args:
        first_value: An expected value, 0.0 to 1.0.
        second_value: Another.
    """
    return (
        min(first_value, second_value) > STRICT_POSITIVE or max(first_value, second_value) < STRICT_NEGATIVE
    )


def generalised_cell(first: int, second: int, is_decisive: bool) -> int | None:
    """Return what two unequal cells become by generalisation (LUDAE's table and its colour swap).

    Args:
        first: A `cells.Code`.
        second: Another one; the order does not matter.
        is_decisive: Whether the two patterns' values are `decisive`.

    Returns:
        The code; None where this pair blocks the merge.
    """
    if (first in _FIRST and second in _SECOND) or (first in _SECOND and second in _FIRST):
        return Code.ANYTHING if is_decisive else None
    return _GENERALISED.get((first, second)) or _GENERALISED.get((second, first))


def specialised_cell(new: int, known: int, is_decisive: bool) -> int | None:
    """Return what a new cell and an unequal known one become by specialisation (LUDAE's table).

    Args:
        new: The new pattern's `cells.Code`.
        known: The known pattern's.
        is_decisive: Whether the two patterns' values are `decisive`.

    Returns:
        The code; None where this pair blocks the merge.
    """
    if known == Code.ANYTHING and new in (*_FIRST, *_SECOND):
        return Code.ANYTHING if is_decisive else _SPECIALISED_UNDECIDED[new, known]
    return _SPECIALISED.get((new, known))


def cell_rule(vote: Vote, known: VoteTally) -> CellRule | None:
    """Return the table by which a new pattern merges with a known one (how-learning-works.md, "The four ways
    in").

    Args:
        vote: The vote for the new pattern.
        known: The votes for the known pattern.

    Returns:
        `specialised_cell` where the vote's Elo is more than 200 above, `generalised_cell` where it is less
        than 200 away, else None.
    """
    gap = vote.elo_hundredths * known.proposers - known.elo_hundredths
    band = BAND_HUNDREDTHS * known.proposers
    if gap > band:
        return specialised_cell
    return generalised_cell if -band < gap < band else None


def is_vague(codes: bytes) -> bool:
    """Return whether codes are nothing but `#`, `1`, `2` and `+`.

    Args:
        codes: One `cells.Code` a byte.
    """
    return _VAGUE.issuperset(codes)


def information(codes: bytes) -> float:
    """Return how many bits codes say about a board.

    See "The four ways in" of docs/explanation/how-learning-works.md.

    Args:
        codes: One `cells.Code` a byte.

    Returns:
        The bits, exact to thousandths; `#` and the board's edge count 0.
    """
    return sum(_MILLIBITS[code] for code in codes) / 1_000


def merge_cells(
    new: Pattern, known: bytes, differing: Sequence[int], rule: CellRule, is_decisive: bool
) -> Pattern | None:
    """Merge a new pattern with known codes that lie on the same cells.

    Args:
        new: The new pattern.
        known: One code for each of its cells.
        differing: The indices of the cells where the codes are not equal.
        rule: The table, from `cell_rule`.
        is_decisive: Whether the two patterns' values are `decisive`.

    Returns:
        The merged pattern; None where a pair blocks the merge, or nothing but `#`, `1`, `2` and `+` would be
        left.
    """
    codes = bytearray(known)
    for place in differing:
        code = rule(new.codes[place], known[place], is_decisive)
        if code is None:
            return None
        codes[place] = code
    if is_vague(bytes(codes)):
        return None
    return Pattern(new.cells, bytes(codes))
