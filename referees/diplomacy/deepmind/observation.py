"""What DeepMind's agents see of a position.

Source: the observations of google-deepmind/diplomacy (Anthony et al., 2020). Rows of the board are areas,
which are the locations of the standard map. A fleet on one of two coasts is flagged there and in the
province's own row, an army in the province's own row alone.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referees.diplomacy.adjustments import adjustments, free_homes
from referees.diplomacy.deepmind.possible_actions import STANDARD
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.provinces import Terrain, UnitKind

POWERS: Final = len(STANDARD.powers)
NUM_AREAS: Final = len(STANDARD.location_codes)
PROVINCE_VECTOR_LENGTH: Final = 35

# Columns of a row. A unit is three flags (army, fleet, none), each power's, and nobody's.
UNIT: Final = 0
BUILDABLE: Final = 11
REMOVABLE: Final = 12
DISLODGED: Final = 13
AREA_TYPE: Final = 24
CENTRE_OWNER: Final = 27
_UNIT_LENGTH: Final = 3 + POWERS + 1
_OWNER_LENGTH: Final = POWERS + 1


class Season(Enum):
    """When it is, as DeepMind counts."""

    SPRING_MOVES = 0
    SPRING_RETREATS = 1
    AUTUMN_MOVES = 2
    AUTUMN_RETREATS = 3
    BUILDS = 4

    def is_moves(self) -> bool:
        """Whether units move."""
        return self in (Season.SPRING_MOVES, Season.AUTUMN_MOVES)

    def is_retreats(self) -> bool:
        """Whether dislodged units retreat."""
        return self in (Season.SPRING_RETREATS, Season.AUTUMN_RETREATS)

    def is_builds(self) -> bool:
        """Whether units are built and removed."""
        return self is Season.BUILDS


class Observation(NamedTuple):
    """What an agent is given.

    `season` is a Season, or what the state was told to make of its number. `board` is uint8, (81, 35).
    `build_numbers` has for each power how many units it builds (above 0) or removes (below 0).
    `last_actions` are all powers' actions of the phase before.
    """

    season: Any
    board: NDArray[np.uint8]
    build_numbers: NDArray[np.int32]
    last_actions: list[int]


def season_of(position: Position) -> Season:
    """The season of a position's phase."""
    if position.phase is Phase.BUILDS:
        return Season.BUILDS
    return Season(2 * position.season + position.phase)


def build_numbers(position: Position, before: Sequence[int]) -> tuple[int, ...]:
    """The builds and removals of a position that comes after one with the numbers `before`.

    Outside phases of builds there should be none, but the removals of the last such phase stay: the
    published agents learned from observations with that fault.
    """
    if position.phase is Phase.BUILDS:
        return tuple(adjustments(position))
    return tuple(min(number, 0) for number in before)


def board_array(position: Position) -> NDArray[np.uint8]:
    """The board of an observation, made anew. The position is one on the standard map."""
    board = bytearray(_EMPTY)
    for power, kind, location in position.units:
        flags = _FLAGS[kind][power]
        for start in _STARTS[kind][location]:
            board[start : start + _UNIT_LENGTH] = flags
    for (power, kind, location), _ in position.dislodged:
        flags = _FLAGS[kind][power]
        for start in _STARTS[kind][location]:
            board[start + DISLODGED : start + DISLODGED + _UNIT_LENGTH] = flags
    for starts, owner in zip(_CENTRE_STARTS, position.owners, strict=True):
        flags = _OWNERS[owner]
        for start in starts:
            board[start : start + _OWNER_LENGTH] = flags
    if position.phase is Phase.BUILDS:
        _flag_adjustments(position, board)
    return np.frombuffer(board, np.uint8).reshape(NUM_AREAS, PROVINCE_VECTOR_LENGTH)


def _flag_adjustments(position: Position, board: bytearray) -> None:
    for power, number in enumerate(adjustments(position)):
        if number > 0:
            for home in free_homes(position, power):
                for area in _areas(home):
                    board[area * PROVINCE_VECTOR_LENGTH + BUILDABLE] = 1
        elif number < 0:
            for unit in position.units_of(power):
                for start in _STARTS[unit.kind][unit.location]:
                    board[start + REMOVABLE] = 1


def _areas(province: int) -> tuple[int, ...]:
    return (STANDARD.main_location[province], *STANDARD.coasts[province])


def _one_hot(length: int, *numbers: int) -> bytes:
    return bytes(place in numbers for place in range(length))


def _empty_board() -> bytes:
    """A board without units and centres."""
    board = bytearray()
    nothing = _one_hot(_UNIT_LENGTH, 2, 3 + POWERS)
    for area, province in enumerate(STANDARD.province_of):
        if STANDARD.terrain[province] is Terrain.SEA:
            area_type = 1
        else:
            area_type = 0 if area == STANDARD.main_location[province] else 2
        board += nothing + bytes(2) + nothing + _one_hot(3, area_type) + bytes(_OWNER_LENGTH)
    return bytes(board)


def _unit_starts(kind: UnitKind, location: int) -> tuple[int, ...]:
    main = STANDARD.main_location[STANDARD.province_of[location]]
    areas = {main, location} if kind is UnitKind.FLEET else {main}
    return tuple(area * PROVINCE_VECTOR_LENGTH for area in sorted(areas))


_EMPTY: Final = _empty_board()
_FLAGS: Final = tuple(
    tuple(_one_hot(_UNIT_LENGTH, kind, 3 + power) for power in range(POWERS)) for kind in UnitKind
)
_STARTS: Final = tuple(tuple(_unit_starts(kind, area) for area in range(NUM_AREAS)) for kind in UnitKind)
# Nobody, -1, is the last.
_OWNERS: Final = tuple(_one_hot(_OWNER_LENGTH, owner) for owner in range(_OWNER_LENGTH))
_CENTRE_STARTS: Final = tuple(
    tuple(area * PROVINCE_VECTOR_LENGTH + CENTRE_OWNER for area in _areas(centre))
    for centre in STANDARD.centres
)
