"""The orders of a phase as arrows on the map."""

from typing import Final, Literal

from referees.diplomacy.adjudication import PhaseAdjudication
from referees.diplomacy.drawing import drawing_of
from referees.diplomacy.notation import order_text
from referees.diplomacy.orders import NOWHERE, Order, OrderKind
from referees.drawing import Arrow, Point

_KINDS: Final[dict[OrderKind, Literal["move", "support", "convoy"]]] = {
    OrderKind.SUPPORT_HOLD: "support",
    OrderKind.SUPPORT_MOVE: "support",
    OrderKind.CONVOY: "convoy",
}
# What was done in a place, without a way.
_SIGNS: Final = {
    OrderKind.DISBAND: "\N{MULTIPLICATION SIGN}",
    OrderKind.REMOVE: "\N{MULTIPLICATION SIGN}",
    OrderKind.BUILD_ARMY: "+",
    OrderKind.BUILD_FLEET: "+",
}


def arrows_of(phase: PhaseAdjudication) -> tuple[Arrow, ...]:
    """The orders that lead somewhere, and units that came and went; holds need no arrow."""
    arrows = []
    for result in phase.results:
        ends = _ends(phase, result.order)
        if ends is None:
            continue
        became = "" if result.succeeded else f": {result.reason or result.outcome.value}"
        arrows.append(
            Arrow(
                result.power + 1,
                *ends,
                f"{order_text(phase.position, result.order)}{became}",
                _SIGNS.get(result.order.kind, ""),
                _KINDS.get(result.order.kind, "move"),
                failed=not result.succeeded,
            )
        )
    return tuple(arrows)


def _ends(phase: PhaseAdjudication, order: Order) -> tuple[Point, Point] | None:
    """Where an order begins and leads; None for a hold, and for what is nowhere."""
    board = phase.position.map
    places = drawing_of(board).places
    if order.location == NOWHERE or order.kind is OrderKind.HOLD:
        return None
    start = places[order.location]
    if order.kind in _SIGNS:
        return start, start
    if order.target == NOWHERE:
        return None
    target = places[order.target]
    if order.kind in (OrderKind.SUPPORT_MOVE, OrderKind.CONVOY):
        # To the middle of the move that is helped.
        source = places[board.main_location[order.source]]
        target = ((source[0] + target[0]) / 2, (source[1] + target[1]) / 2)
    return start, target
