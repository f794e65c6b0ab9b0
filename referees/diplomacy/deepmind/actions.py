"""DeepMind's actions, and the orders that they are.

An action names provinces; which unit is meant, and on which coast it stands, the position says. So an
order has one action, but what order an action is depends on the unit that it is for.

POSSIBLE_ACTIONS is the list of all. Source: the action space of google-deepmind/diplomacy (Anthony et al.,
2020). An action is 64 bits: a word of 32 that says the order, 16 zeros, and the action's index. The list is
the set of words below in rising order.
"""

from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from itertools import permutations
from typing import Final, NamedTuple

from referees.diplomacy.convoys import chains, ways_round
from referees.diplomacy.map import Map, UnitKind, bits, shipped_map
from referees.diplomacy.orders import WAIVE, Order, OrderKind

STANDARD: Final = shipped_map("standard")
INDEX_SHIFT: Final = 48


class OrderCode(IntEnum):
    """The lowest byte of an action; 7 is unused."""

    CONVOY_TO = 1
    CONVOY = 2
    HOLD = 3
    MOVE_TO = 4
    SUPPORT_HOLD = 5
    SUPPORT_MOVE_TO = 6
    DISBAND = 8
    RETREAT_TO = 9
    BUILD_ARMY = 10
    BUILD_FLEET = 11
    REMOVE = 12
    WAIVE = 13


def word(code: OrderCode, ordered: int = 0, target: int = 0, third: int = 0) -> int:
    """The 32 bits of an order, of a code and up to three areas.

    An area is a province's number times two, plus 1 for a south coast (`area_bits`).
    """
    return code | ordered << 8 | target << 16 | third << 24


def area_bits(location: int) -> int:
    """A location as a byte: the flag is set for the second of two coasts, which all are south coasts.

    The province, its first coast and its only one are the same here.
    """
    province = STANDARD.province_of[location]
    coasts = STANDARD.coasts[province]
    return province << 1 | (bool(coasts) and location == coasts[-1])


def _words(board: Map) -> Iterator[int]:
    size = len(board.codes)
    near = [0] * size
    for kind in UnitKind:
        for location, reached in enumerate(board.reach[kind]):
            province = board.province_of[location]
            near[province] |= board.reach_mask[kind][location]
            for target in reached:
                yield word(OrderCode.MOVE_TO, province << 1, area_bits(target))
                yield word(OrderCode.RETREAT_TO, province << 1, area_bits(target))
    yield word(OrderCode.WAIVE)
    for province in range(size):
        for code in (OrderCode.HOLD, OrderCode.DISBAND, OrderCode.REMOVE):
            yield word(code, province << 1)
        for target in bits(near[province]):
            yield word(OrderCode.SUPPORT_HOLD, province << 1, target << 1)
    yield from _build_words(board)
    yield from _convoy_words(board)
    yield from _support_words(board, near)


def _build_words(board: Map) -> Iterator[int]:
    for power in board.powers:
        for home in power.homes:
            yield word(OrderCode.BUILD_ARMY, home << 1)
            for place in board.places[home]:
                if board.can_stand(UnitKind.FLEET, place):
                    yield word(OrderCode.BUILD_FLEET, area_bits(place))


def _convoy_words(board: Map) -> Iterator[int]:
    """Moves by convoy, and for each the fleets that some route without a sea twice leads through."""
    for chain, coasts in chains(board, board.seas):
        for source, target in permutations(bits(coasts), 2):
            yield word(OrderCode.CONVOY_TO, source << 1, target << 1)
            ends = 1 << source | 1 << target
            for sea in bits(chain):
                if all(touched & ends for touched in ways_round(board, chain, sea)):
                    yield word(OrderCode.CONVOY, sea << 1, target << 1, source << 1)


def _support_words(board: Map, near: list[int]) -> Iterator[int]:
    """Supports of moves by land or sea, and by convoys without the supporter."""
    for supporter in range(len(board.codes)):
        shores = [coasts for _, coasts in chains(board, board.seas & ~(1 << supporter))]
        for target in bits(near[supporter]):
            sources = near[target]
            for coasts in shores:
                if coasts >> target & 1:
                    sources |= coasts
            for source in bits(sources & ~(1 << supporter) & ~(1 << target)):
                yield word(OrderCode.SUPPORT_MOVE_TO, supporter << 1, target << 1, source << 1)


POSSIBLE_ACTIONS: Final = tuple(
    index << INDEX_SHIFT | order_word for index, order_word in enumerate(sorted(set(_words(STANDARD))))
)


MAX_ACTIONS: Final = 34

KINDS: Final = {
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
_CODES: Final = {kind: code for code, kind in KINDS.items()}
_INDEX_OF: Final = {action & 0xFFFFFFFF: index for index, action in enumerate(POSSIBLE_ACTIONS)}


class IllegalActionError(ValueError):
    """A number that is not an action, or an action that its power cannot give in this phase."""


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
    if not 0 <= index < len(POSSIBLE_ACTIONS) or POSSIBLE_ACTIONS[index] != action:
        raise IllegalActionError(f"{hex(action):.40} is not an action: one is its index << 48 | its order")
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
        number = word(code)
    elif kind is OrderKind.BUILD_FLEET:
        number = word(code, area_bits(location))
    else:
        ordered = STANDARD.province_of[location] << 1
        if kind in (OrderKind.MOVE, OrderKind.RETREAT):
            number = word(code, ordered, area_bits(target))
        else:
            aim = STANDARD.province_of[target] << 1 if target >= 0 else 0
            number = word(code, ordered, aim, source << 1 if source >= 0 else 0)
    if number not in _INDEX_OF:
        raise IllegalActionError(f"{order} is an order that no unit can be given on the standard map")
    return _INDEX_OF[number] << INDEX_SHIFT | number


@cache
def order_of(action: int, kind: UnitKind = UnitKind.ARMY, location: int = -1) -> Order:
    """The order that an action is to a unit of this kind at this location.

    Builds and waives need no unit. Raises IllegalActionError.
    """
    code, province, flag, target, target_flag, third = parts(action)
    order = KINDS[code]
    if code is OrderCode.WAIVE:
        return WAIVE
    if code is OrderCode.BUILD_ARMY:
        return Order(order, STANDARD.main_location[province])
    if code is OrderCode.BUILD_FLEET:
        return Order(order, place_of(UnitKind.FLEET, province, flag))
    if location < 0 or STANDARD.province_of[location] != province:
        raise IllegalActionError(f"{code.name} is for a unit in {STANDARD.codes[province]}")
    if code in (OrderCode.HOLD, OrderCode.DISBAND, OrderCode.REMOVE):
        return Order(order, location)
    if code in (OrderCode.MOVE_TO, OrderCode.RETREAT_TO):
        return Order(order, location, place_of(kind, target, target_flag))
    if code in (OrderCode.SUPPORT_MOVE_TO, OrderCode.CONVOY):
        return Order(order, location, STANDARD.main_location[target], third)
    return Order(order, location, STANDARD.main_location[target])


def place_of(kind: UnitKind, province: int, flag: int) -> int:
    """Where a unit stands in a province, which for a fleet may be a coast."""
    coasts = STANDARD.coasts[province]
    if coasts and (flag or kind is UnitKind.FLEET):
        return coasts[flag]
    return STANDARD.main_location[province]
