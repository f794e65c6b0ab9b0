"""Handicap stones where no player chooses the points: those of the Go Text Protocol, version 2, 4.1.1.

They stand on the third line of boards below 13x13 and on the fourth of others. Boards below 7x7 have
no layout; even boards and 7x7 have the four corners only. GNU Go places the same stones but on 12x12,
where it uses the fourth line. (Gomill refuses any handicap on 7x7.)
"""

from typing import Final

from referees.api import InvalidSettingError

MIN_HANDICAP: Final = 2

# (row, column) of each stone on the low (0), middle (1) and high (2) handicap line, counted from the
# lower left corner, in the order in which they are added.
_CORNERS: Final = ((0, 0), (2, 2), (2, 0), (0, 2))
_SIDES: Final = ((1, 0), (1, 2), (0, 1), (2, 1))
_CENTRE: Final = ((1, 1),)


def max_fixed_handicap(size: int) -> int:
    """How many stones can be placed on a board of `size` rows; 0 where there is no layout."""
    if size < 7:
        return 0
    return 9 if size % 2 and size > 7 else 4


def fixed_handicap(stones: int, size: int) -> frozenset[int]:
    """The points of that many handicap stones.

    Raises InvalidSettingError where the board has no such layout.
    """
    highest = max_fixed_handicap(size)
    if not MIN_HANDICAP <= stones <= highest:
        allowed = f"{MIN_HANDICAP} to {highest} stones" if highest else "no fixed handicap"
        raise InvalidSettingError("handicap", f"{stones} stones: a board of size {size} allows {allowed}")
    edge = 2 if size < 13 else 3
    lines = (edge, size // 2, size - 1 - edge)
    layout = _CORNERS[: min(stones, 4)] + _SIDES[: (stones - 4) // 2 * 2 if stones > 4 else 0]
    if stones > 4 and stones % 2:
        layout += _CENTRE
    return frozenset((size - 1 - lines[row]) * size + lines[column] for row, column in layout)


def free_handicap(stones: int, size: int) -> frozenset[int]:
    """That many stones where those of a free handicap stand if their player does not place them.

    The fixed layout as far as it goes, then every other point. Raises InvalidSettingError where the board
    has no room for them and a move.
    """
    if not MIN_HANDICAP <= stones < size * size:
        raise InvalidSettingError(
            "handicap", f"{stones} stones: a board of size {size} allows 2 to {size * size - 1} free stones"
        )
    highest = max_fixed_handicap(size)
    layout = fixed_handicap(min(stones, highest), size) if highest else frozenset()
    others = sorted(set(range(size * size)) - layout, key=lambda point: (sum(divmod(point, size)) % 2, point))
    return layout | frozenset(others[: stones - len(layout)])
