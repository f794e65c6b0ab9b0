"""Orders as values."""

from enum import IntEnum
from typing import Final, NamedTuple

from referees.diplomacy.map import UnitKind


class OrderKind(IntEnum):
    """What is ordered."""

    HOLD = 0
    MOVE = 1
    CONVOYED_MOVE = 2
    SUPPORT_HOLD = 3
    SUPPORT_MOVE = 4
    CONVOY = 5
    RETREAT = 6
    DISBAND = 7
    BUILD_ARMY = 8
    BUILD_FLEET = 9
    REMOVE = 10
    WAIVE = 11


NOWHERE = -1


class Order(NamedTuple):
    """One order, for the unit at `location`, or to build there (a waive is nowhere).

    `target` is the location where a move, a retreat, or the move that is supported or convoyed goes, and the
    location of the unit supported in holding. `source` is the province of the army that is convoyed or the
    unit whose move is supported. A support for a move to a province with several coasts names one of them
    or the province, which means any.
    """

    kind: OrderKind
    location: int = NOWHERE
    target: int = NOWHERE
    source: int = NOWHERE


WAIVE = Order(OrderKind.WAIVE)
BUILT: Final = {OrderKind.BUILD_ARMY: UnitKind.ARMY, OrderKind.BUILD_FLEET: UnitKind.FLEET}
"""What orders to build make."""
