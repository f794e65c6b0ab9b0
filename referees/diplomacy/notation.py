"""Orders as text, in three notations; `referees.diplomacy.order_reading` reads them.

STANDARD: `A PAR - BUR`, `A PAR S A MAR - BUR`, `F ECH C A LON - BRE`, `A LON - BRE VIA`, `A PAR B`,
`A PAR D`.
MILA: the same with `ENG`, `BOT`, `LYO` for `ECH`, `GOB`, `GOL`.
DEEPMIND: `PAR - BUR`, `PAR S MAR - BUR`, `ECH C LON - BRE`, `LON - BRE VC`, `B A PAR`, `R PAR`.
"""

from collections.abc import Sequence
from enum import Enum

from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.position import Position
from referees.diplomacy.provinces import Map, Unit


class Notation(Enum):
    """How orders are written."""

    STANDARD = "standard"
    MILA = "mila"
    DEEPMIND = "deepmind"


def order_text(position: Position, order: Order, notation: Notation = Notation.STANDARD) -> str:
    """An order as text; the units that it names are looked up in the position before the phase.

    Where no unit is, the text says of none that it is an army or a fleet.
    """
    if order.kind is OrderKind.WAIVE:
        return "W" if notation is Notation.DEEPMIND else "WAIVE"
    if notation is Notation.DEEPMIND:
        return _deepmind_text(position, order)
    board = position.map
    codes = board.mila_codes if notation is Notation.MILA else board.location_codes
    place = codes[order.location]
    if order.kind in (OrderKind.BUILD_ARMY, OrderKind.BUILD_FLEET):
        return f"{'A' if order.kind is OrderKind.BUILD_ARMY else 'F'} {place} B"
    subject = _named(position.ordered_unit(board.province_of[order.location]), place)
    target = codes[order.target]
    match order.kind:
        case OrderKind.HOLD:
            return f"{subject} H"
        case OrderKind.MOVE:
            return f"{subject} - {target}"
        case OrderKind.CONVOYED_MOVE:
            return f"{subject} - {target} VIA"
        case OrderKind.SUPPORT_HOLD:
            return f"{subject} S {_helped(position, board.province_of[order.target], codes)}"
        case OrderKind.SUPPORT_MOVE:
            return f"{subject} S {_helped(position, order.source, codes)} - {target}"
        case OrderKind.CONVOY:
            return f"{subject} C {_helped(position, order.source, codes)} - {target}"
        case OrderKind.RETREAT:
            return f"{subject} R {target}"
        case _:
            return f"{subject} D"


def _named(unit: Unit | None, place: str) -> str:
    return f"{unit.kind.letter} {place}" if unit else place


def _helped(position: Position, province: int, codes: Sequence[str]) -> str:
    unit = position.unit_in(province)
    return _named(unit, codes[unit.location if unit else position.map.main_location[province]])


def _deepmind_text(position: Position, order: Order) -> str:
    board = position.map
    place = board.codes[board.province_of[order.location]]
    target = board.codes[board.province_of[order.target]]
    source = board.codes[order.source]
    match order.kind:
        case OrderKind.HOLD:
            return f"{place} H"
        case OrderKind.MOVE:
            return f"{place} - {_deepmind_target(board, order.target)}"
        case OrderKind.CONVOYED_MOVE:
            return f"{place} - {target} VC"
        case OrderKind.SUPPORT_HOLD:
            return f"{place} SH {target}"
        case OrderKind.SUPPORT_MOVE:
            return f"{place} S {source} - {target}"
        case OrderKind.CONVOY:
            return f"{place} C {source} - {target}"
        case OrderKind.RETREAT:
            return f"{place} - {_deepmind_target(board, order.target)}"
        case OrderKind.DISBAND:
            return f"{place} D"
        case OrderKind.BUILD_ARMY:
            return f"B A {place}"
        case OrderKind.BUILD_FLEET:
            return f"B F {board.location_codes[order.location].replace('/', '')}"
        case _:
            return f"R {place}"


def _deepmind_target(board: Map, location: int) -> str:
    """The second coast has a name; the first one and the province itself are not told apart."""
    province = board.province_of[location]
    coasts = board.coasts[province]
    if not coasts:
        return board.codes[province]
    if location == coasts[-1]:
        return board.location_codes[location].replace("/", "")
    return board.location_codes[coasts[0]].replace("/", "maybe_")
