"""DeepMind's POSSIBLE_ACTIONS: every order that a unit could ever be given on the standard map.

Source: the action space of google-deepmind/diplomacy (Anthony et al., 2020). An action is 64 bits: a word of
32 that says the order, 16 zeros, and the action's index. The list is the set of words below in rising order.
"""

from collections.abc import Iterator
from enum import IntEnum
from itertools import permutations
from typing import Final

from referees.diplomacy.convoys import chains, ways_round
from referees.diplomacy.provinces import Map, UnitKind, bits, shipped_map

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

    The province, its first coast and its only one are not told apart.
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
    for power in board.powers:
        for home in power.homes:
            yield word(OrderCode.BUILD_ARMY, home << 1)
            for place in (board.main_location[home], *board.coasts[home]):
                if board.can_stand(UnitKind.FLEET, place):
                    yield word(OrderCode.BUILD_FLEET, area_bits(place))
    yield from _convoy_words(board)
    yield from _support_words(board, near)


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
    index << INDEX_SHIFT | found for index, found in enumerate(sorted(set(_words(STANDARD))))
)
