"""POSSIBLE_ACTIONS, and what orders they are."""

from collections import Counter

import pytest

from referees.diplomacy import Order, OrderKind, UnitKind, shipped_map
from referees.diplomacy.deepmind import (
    POSSIBLE_ACTIONS,
    IllegalActionError,
    OrderCode,
    action_of,
    order_of,
    parts,
)

STANDARD = shipped_map("standard")


def test_the_number_of_actions_of_each_order() -> None:
    assert Counter(parts(action).code.name for action in POSSIBLE_ACTIONS) == {
        "HOLD": 75,
        "DISBAND": 75,
        "REMOVE": 75,
        "WAIVE": 1,
        "MOVE_TO": 419,
        "RETREAT_TO": 419,
        "SUPPORT_HOLD": 412,
        "BUILD_ARMY": 22,
        "BUILD_FLEET": 17,
        "CONVOY_TO": 1194,
        "CONVOY": 9022,
        "SUPPORT_MOVE_TO": 6853,
    }
    assert len(POSSIBLE_ACTIONS) == 18_584


def test_actions_rise_by_their_words_and_have_their_index() -> None:
    words = [action & 0xFFFFFFFF for action in POSSIBLE_ACTIONS]
    assert words == sorted(set(words))
    assert [action >> 48 for action in POSSIBLE_ACTIONS] == list(range(len(POSSIBLE_ACTIONS)))
    assert not any(action >> 32 & 0xFFFF for action in POSSIBLE_ACTIONS)


def test_the_mid_atlantic_has_the_most() -> None:
    (province, count), *_ = Counter(parts(action).province for action in POSSIBLE_ACTIONS).most_common(1)
    assert (STANDARD.codes[province], count) == ("MAO", 1004)


def area(code: str) -> int:
    return STANDARD.location(code)


@pytest.mark.parametrize(
    ("action", "unit", "order"),
    [
        (0x011E000000021404, "A PAR", Order(OrderKind.MOVE, area("PAR"), area("BUR"))),
        (
            0x32C6000078021406,
            "A PAR",
            Order(OrderKind.SUPPORT_MOVE, area("PAR"), area("BUR"), STANDARD.province("MAR")),
        ),
        (
            0x2FFA000074662802,
            "F ECH",
            Order(OrderKind.CONVOY, area("ECH"), area("BRE"), STANDARD.province("LON")),
        ),
        (0x0641000000667401, "A LON", Order(OrderKind.CONVOYED_MOVE, area("LON"), area("BRE"))),
        (0x0A6C000000933404, "F MAO", Order(OrderKind.MOVE, area("MAO"), area("SPA/SC"))),
        (0x0A3C000000923404, "F MAO", Order(OrderKind.MOVE, area("MAO"), area("SPA/NC"))),
        (0x011700000000950B, "", Order(OrderKind.BUILD_FLEET, area("STP/SC"))),
        (0x011500000000940B, "", Order(OrderKind.BUILD_FLEET, area("STP/NC"))),
        (0x000300000000000D, "", Order(OrderKind.WAIVE)),
    ],
)
def test_an_action_is_an_order(action: int, unit: str, order: Order) -> None:
    if unit:
        placed = STANDARD.unit(0, unit)
        assert order_of(action, placed.kind, placed.location) == order
    else:
        assert order_of(action) == order
    assert action_of(order) == action


def test_every_action_is_an_order_to_each_unit_that_it_can_be_for_and_back() -> None:
    for action in POSSIBLE_ACTIONS:
        province = parts(action).province
        for location in (STANDARD.main_location[province], *STANDARD.coasts[province]):
            for kind in UnitKind:
                if STANDARD.can_stand(kind, location):
                    assert action_of(order_of(action, kind, location)) == action


def test_the_coast_of_a_unit_comes_from_where_it_stands() -> None:
    hold = next(
        action
        for action in POSSIBLE_ACTIONS
        if parts(action)[:2] == (OrderCode.HOLD, STANDARD.province("STP"))
    )
    for code in ("STP", "STP/NC", "STP/SC"):
        kind = UnitKind.ARMY if code == "STP" else UnitKind.FLEET
        assert order_of(hold, kind, area(code)) == Order(OrderKind.HOLD, area(code))


@pytest.mark.parametrize("number", [-1, 0x011E000000021405, 0x011F000000021404, 18_584 << 48, 1 << 80])
def test_other_numbers_are_refused(number: int) -> None:
    with pytest.raises(IllegalActionError, match="is not an action"):
        parts(number)


def test_an_order_that_no_unit_can_be_given_has_no_action() -> None:
    with pytest.raises(IllegalActionError, match="no unit can be given"):
        action_of(Order(OrderKind.MOVE, area("PAR"), area("BER")))


def test_an_action_for_another_province_is_not_an_order_to_a_unit() -> None:
    with pytest.raises(IllegalActionError, match="a unit in PAR"):
        order_of(0x011E000000021404, UnitKind.ARMY, area("BER"))
