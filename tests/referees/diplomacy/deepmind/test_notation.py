"""Actions as MILA's strings and as DeepMind's short ones."""

from collections import Counter

import pytest

from referees.diplomacy import UnitKind
from referees.diplomacy.deepmind import (
    POSSIBLE_ACTIONS,
    IllegalActionError,
    OrderCode,
    Season,
    mila_action,
    mila_strings,
    parts,
    short_action,
    short_string,
)

RETREATS = (OrderCode.DISBAND, OrderCode.RETREAT_TO)


def season(action: int) -> Season:
    return Season.SPRING_RETREATS if parts(action).code in RETREATS else Season.BUILDS


@pytest.mark.parametrize(
    ("action", "mila", "short"),
    [
        (0x011E000000021404, ("A PAR - BUR",), "PAR - BUR"),
        (0x0641000000667401, ("A LON - BRE VIA",), "LON - BRE VC"),
        (0x2FFA000074662802, ("F ENG C A LON - BRE",), "ECH C LON - BRE"),
        (0x32C6000078021406, ("A PAR S A MAR - BUR",), "PAR S MAR - BUR"),
        (0x0A6C000000933404, ("F MAO - SPA/SC",), "MAO - SPASC"),
        (0x0A3C000000923404, ("F MAO - SPA/NC",), "MAO - SPAmaybe_NC"),
        (0x011500000000940B, ("F STP/NC B",), "B F STPNC"),
        (0x000300000000000D, ("WAIVE",), "W"),
    ],
)
def test_strings(action: int, mila: tuple[str, ...], short: str) -> None:
    assert mila_strings(action) == mila
    assert short_string(action) == short


def test_the_kind_of_the_unit_says_which_coast() -> None:
    assert short_string(0x0A3C000000923404, UnitKind.FLEET) == "MAO - SPANC"
    assert short_string(0x0A3C000000923404, UnitKind.ARMY) == "MAO - SPA"


def test_number_of_mila_strings_of_all_actions() -> None:
    counts = Counter(len(mila_strings(action)) for action in POSSIBLE_ACTIONS)
    assert counts == {1: 15_158, 2: 3_146, 3: 94, 4: 171, 6: 15}


def test_mila_names_a_fleets_coast_but_none_of_a_supports_target() -> None:
    action = mila_action("F NWY S F STP/NC", Season.SPRING_MOVES)
    assert mila_strings(action) == tuple(
        f"{kind} NWY S {held}" for kind in "AF" for held in ("A STP", "F STP/NC", "F STP/SC")
    )
    assert "F GAS S F MAO - SPA" in mila_strings(mila_action("A GAS S F MAO - SPA", Season.SPRING_MOVES))


def test_every_string_is_read_back() -> None:
    for action in POSSIBLE_ACTIONS:
        for text in mila_strings(action):
            assert mila_action(text, season(action)) == action
        for kind in (None, *UnitKind):
            if kind is not UnitKind.ARMY or not parts(action).target_flag:
                assert short_action(short_string(action, kind), season(action)) == action


@pytest.mark.parametrize(
    ("text", "when", "code"),
    [
        ("A PAR D", Season.AUTUMN_RETREATS, OrderCode.DISBAND),
        ("A PAR D", Season.BUILDS, OrderCode.REMOVE),
        ("F STP/SC D", Season.SPRING_RETREATS, OrderCode.DISBAND),
        ("A PAR - BUR", Season.SPRING_RETREATS, OrderCode.MOVE_TO),
        ("A PAR R BUR", Season.SPRING_RETREATS, OrderCode.RETREAT_TO),
    ],
)
def test_the_season_says_what_a_mila_string_is(text: str, when: Season, code: OrderCode) -> None:
    assert parts(mila_action(text, when)).code is code


@pytest.mark.parametrize("text", ["", "A PAR - BER", "F PAR H", "A STP/SC H", "PAR - BUR", "a par h"])
def test_a_text_that_is_not_a_string_of_mila_is_refused(text: str) -> None:
    with pytest.raises(IllegalActionError, match="is not an action"):
        mila_action(text, Season.SPRING_MOVES)
