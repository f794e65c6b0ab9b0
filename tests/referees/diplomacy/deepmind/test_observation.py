"""The arrays that DeepMind's agents see, read as their code reads them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from referees.diplomacy import Dislodged, Phase, Position, shipped_map
from referees.diplomacy import Season as HalfYear
from referees.diplomacy.deepmind import Season
from referees.diplomacy.deepmind.observation import board_array, season_of
from tests.referees.diplomacy.positions import position

STANDARD = shipped_map("standard")
ARMY, FLEET, NONE = 0, 1, 2
NO_OWNER, NO_DISLODGED = 10, 23
BUILDABLE, REMOVABLE = 11, 12
LAND, SEA, COAST = 24, 25, 26
UNOWNED = 34


def columns(place: str, standing: Position) -> list[int]:
    """The columns that are set in an area's row."""
    return [int(column) for column in np.flatnonzero(board_array(standing)[STANDARD.location(place)])]


def test_areas_are_numbered_so() -> None:
    names = {
        72: "BUL",
        73: "BUL/EC",
        74: "BUL/SC",
        75: "SPA",
        76: "SPA/NC",
        77: "SPA/SC",
        78: "STP",
        80: "STP/SC",
    }
    names |= {0: "BOH", 7: "BUD", 14: "ADR", 33: "ALB", 48: "ANK", 71: "VEN", 80: "STP/SC"}
    assert {area: STANDARD.location_codes[area] for area in names} == names
    assert board_array(Position.start(STANDARD)).shape == (81, 35)


@pytest.mark.parametrize(
    ("place", "set_columns"),
    [
        ("VIE", [ARMY, 3 + 0, 15, NO_DISLODGED, LAND, 27 + 0]),
        ("LON", [FLEET, 3 + 1, 15, NO_DISLODGED, LAND, 27 + 1]),
        ("STP", [FLEET, 3 + 5, 15, NO_DISLODGED, LAND, 27 + 5]),
        ("STP/SC", [FLEET, 3 + 5, 15, NO_DISLODGED, COAST, 27 + 5]),
        ("STP/NC", [NONE, NO_OWNER, 15, NO_DISLODGED, COAST, 27 + 5]),
        ("BUL/EC", [NONE, NO_OWNER, 15, NO_DISLODGED, COAST, UNOWNED]),
        ("NTH", [NONE, NO_OWNER, 15, NO_DISLODGED, SEA]),
        ("BOH", [NONE, NO_OWNER, 15, NO_DISLODGED, LAND]),
    ],
)
def test_the_first_position(place: str, set_columns: list[int]) -> None:
    assert columns(place, Position.start(STANDARD)) == set_columns


def test_an_army_in_a_province_with_coasts_is_in_its_own_row_alone() -> None:
    standing = position("FRA A SPA")
    assert columns("SPA", standing)[:2] == [ARMY, 3 + 2]
    assert columns("SPA/NC", standing)[:2] == columns("SPA/SC", standing)[:2] == [NONE, NO_OWNER]


def test_dislodged_units_stand_beside_who_dislodged_them() -> None:
    before = position("RUS A STP")
    standing = Position(
        STANDARD,
        1901,
        HalfYear.SPRING,
        Phase.RETREATS,
        before.units,
        (Dislodged(STANDARD.unit(1, "F STP/NC"), (STANDARD.location("BAR"),)),),
        before.owners,
    ).checked()
    assert columns("STP", standing) == [ARMY, 3 + 5, 14, 16 + 1, LAND, 27 + 5]
    assert columns("STP/NC", standing) == [NONE, NO_OWNER, 14, 16 + 1, COAST, 27 + 5]
    assert columns("STP/SC", standing) == [NONE, NO_OWNER, 15, NO_DISLODGED, COAST, 27 + 5]


def test_where_units_can_be_built_and_removed_is_flagged_in_builds_alone() -> None:
    units, owned = "RUS A MOS; TUR F BUL/SC, A CON", "RUS MOS STP WAR; TUR CON"
    standing = position(units, Phase.BUILDS, HalfYear.AUTUMN, owned)
    board = board_array(standing)
    assert flagged(board, BUILDABLE) == ["WAR", "STP", "STP/NC", "STP/SC"]
    assert flagged(board, REMOVABLE) == ["CON", "BUL", "BUL/SC"]
    moves = board_array(position(units, owned=owned))
    assert not flagged(moves, BUILDABLE)
    assert not flagged(moves, REMOVABLE)


def flagged(board: NDArray[np.uint8], column: int) -> list[str]:
    return [STANDARD.location_codes[area] for area in np.flatnonzero(board[:, column])]


@pytest.mark.parametrize(
    ("half", "phase", "season"),
    [
        (HalfYear.SPRING, Phase.MOVES, Season.SPRING_MOVES),
        (HalfYear.SPRING, Phase.RETREATS, Season.SPRING_RETREATS),
        (HalfYear.AUTUMN, Phase.MOVES, Season.AUTUMN_MOVES),
        (HalfYear.AUTUMN, Phase.RETREATS, Season.AUTUMN_RETREATS),
        (HalfYear.AUTUMN, Phase.BUILDS, Season.BUILDS),
    ],
)
def test_seasons(half: HalfYear, phase: Phase, season: Season) -> None:
    found = season_of(position("FRA A PAR", phase, half))
    assert found is season
    assert (found.is_moves(), found.is_retreats(), found.is_builds()) == tuple(
        phase is one for one in (Phase.MOVES, Phase.RETREATS, Phase.BUILDS)
    )
