"""DeepMind's actions, and the orders that they are.

An action names provinces; which unit is meant, and on which coast it stands, the position says. So an
order has one action, but what order an action is depends on the unit that it is for.
"""

from functools import cache
from typing import Final, NamedTuple

from referees.diplomacy.deepmind.possible_actions import (
    INDEX_SHIFT,
    POSSIBLE_ACTIONS,
    STANDARD,
    OrderCode,
    area_bits,
    word,
)
from referees.diplomacy.orders import WAIVE, Order, OrderKind
from referees.diplomacy.provinces import UnitKind

MAX_ORDERS: Final = 17
MAX_ACTIONS: Final = 34
MAX_UNIT_LEGAL_ACTIONS: Final = 700
MAX_LEGAL_ACTIONS: Final = 11900
MAX_ACTION_INDEX: Final = len(POSSIBLE_ACTIONS)

_KINDS: Final = {
    OrderCode.CONVOY_TO: OrderKind.CONVOYED_MOVE,
    OrderCode.CONVOY: OrderKind.CONVOY,
    OrderCode.HOLD: OrderKind.HOLD,
    OrderCode.MOVE_TO: OrderKind.MOVE,
    OrderCode.SUPPORT_HOLD: OrderKind.SUPPORT_HOLD,
    OrderCode.SUPPORT_MOVE_TO: OrderKind.SUPPORT_MOVE,
    OrderCode.DISBAND: OrderKind.DISBAND,
    OrderCode.RETREAT_TO: OrderKind.RETREAT,
    OrderCode.BUILD_ARMY: OrderKind.BUILD_ARMY,
    OrderCode.BUILD_FLEET: OrderKind.BUILD_FLEET,
    OrderCode.REMOVE: OrderKind.REMOVE,
    OrderCode.WAIVE: OrderKind.WAIVE,
}
_CODES: Final = {kind: code for code, kind in _KINDS.items()}
_INDEX_OF: Final = {action & 0xFFFFFFFF: index for index, action in enumerate(POSSIBLE_ACTIONS)}


class IllegalActionError(ValueError):
    """A number that is no action, or an action that its power cannot give in this phase."""


class Parts(NamedTuple):
    """What an action says: its order's code, the provinces of the ordered unit, target and third unit.

    Flags are 1 for a south coast. Provinces that the order has no need of are 0.
    """

    code: OrderCode
    province: int
    flag: int
    target: int
    target_flag: int
    third: int


@cache
def parts(action: int) -> Parts:
    """Take an action apart. Raises IllegalActionError for a number that is none of POSSIBLE_ACTIONS."""
    index = action >> INDEX_SHIFT
    if not 0 <= index < MAX_ACTION_INDEX or POSSIBLE_ACTIONS[index] != action:
        raise IllegalActionError(f"{hex(action):.40} is no action: one is its index << 48 | its order")
    return Parts(
        OrderCode(action & 0xFF),
        action >> 9 & 0x7F,
        action >> 8 & 1,
        action >> 17 & 0x7F,
        action >> 16 & 1,
        action >> 25 & 0x7F,
    )


@cache
def action_of(order: Order) -> int:
    """The action that an order on the standard map is. Raises IllegalActionError if no unit can do it."""
    kind, location, target, source = order
    code = _CODES[kind]
    if kind is OrderKind.WAIVE:
        said = word(code)
    elif kind is OrderKind.BUILD_FLEET:
        said = word(code, area_bits(location))
    else:
        ordered = STANDARD.province_of[location] << 1
        if kind in (OrderKind.MOVE, OrderKind.RETREAT):
            said = word(code, ordered, area_bits(target))
        else:
            aim = STANDARD.province_of[target] << 1 if target >= 0 else 0
            said = word(code, ordered, aim, source << 1 if source >= 0 else 0)
    if said not in _INDEX_OF:
        raise IllegalActionError(f"{order} is an order that no unit can be given on the standard map")
    return _INDEX_OF[said] << INDEX_SHIFT | said


@cache
def order_of(action: int, kind: UnitKind = UnitKind.ARMY, location: int = -1) -> Order:
    """The order that an action is to a unit of this kind at this location.

    Builds and waives need no unit. Raises IllegalActionError.
    """
    code, province, flag, target, target_flag, third = parts(action)
    order = _KINDS[code]
    if code is OrderCode.WAIVE:
        return WAIVE
    if code is OrderCode.BUILD_ARMY:
        return Order(order, STANDARD.main_location[province])
    if code is OrderCode.BUILD_FLEET:
        return Order(order, _place(UnitKind.FLEET, province, flag))
    if location < 0 or STANDARD.province_of[location] != province:
        raise IllegalActionError(f"{code.name} is for a unit in {STANDARD.codes[province]}")
    if code in (OrderCode.HOLD, OrderCode.DISBAND, OrderCode.REMOVE):
        return Order(order, location)
    if code in (OrderCode.MOVE_TO, OrderCode.RETREAT_TO):
        return Order(order, location, _place(kind, target, target_flag))
    if code in (OrderCode.SUPPORT_MOVE_TO, OrderCode.CONVOY):
        return Order(order, location, STANDARD.main_location[target], third)
    return Order(order, location, STANDARD.main_location[target])


def _place(kind: UnitKind, province: int, flag: int) -> int:
    coasts = STANDARD.coasts[province]
    if coasts and (flag or kind is UnitKind.FLEET):
        return coasts[flag]
    return STANDARD.main_location[province]
