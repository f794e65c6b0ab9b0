"""What became of each order, and why."""

from enum import Enum
from typing import NamedTuple

from referees.diplomacy.map import NOBODY
from referees.diplomacy.movement import Movement, Way
from referees.diplomacy.orders import Order, OrderKind


class OrderOutcome(Enum):
    """What became of an order."""

    SUCCEEDED = "succeeded"
    BOUNCED = "bounced"
    CUT = "cut"
    DISLODGED = "dislodged"
    DISRUPTED = "convoy disrupted"
    VOID = "void"
    CLASHED = "disbanded"
    SURPLUS = "too many"


class OrderResult(NamedTuple):
    """What became of one order of a power, and why.

    `reason` is one sentence for people, empty for plain success. `dislodged_by` is the province from which
    the ordered unit was dislodged, NOBODY if it was not; a unit can do what it was ordered to and still be
    dislodged only in a phase of retreats.
    """

    power: int
    order: Order
    outcome: OrderOutcome
    reason: str = ""
    dislodged_by: int = NOBODY

    @property
    def succeeded(self) -> bool:
        """Whether the order was carried out and its unit stayed on the board."""
        return self.outcome is OrderOutcome.SUCCEEDED


def movement_results(movement: Movement) -> tuple[OrderResult, ...]:
    """A result for every order given in a phase of moves, and a hold for every unit without one.

    Units in the order of their provinces, then orders that were for no unit of their power.
    """
    results = []
    for unit in movement.units:
        province = movement.board.province_of[unit.location]
        order = movement.orders[province] or Order(OrderKind.HOLD, unit.location)
        results.append(_unit_result(movement, province, unit.power, order))
    for power, order, why in movement.rejected:
        results.append(OrderResult(power, order, OrderOutcome.VOID, f"void: {why.value}"))
    return tuple(results)


def _unit_result(movement: Movement, province: int, power: int, order: Order) -> OrderResult:
    moving = movement.destination[province] >= 0
    if moving and movement.succeeds(province):
        return OrderResult(power, order, OrderOutcome.SUCCEEDED)
    conqueror = movement.dislodged_by(province)
    if province in movement.void:
        outcome, reason = OrderOutcome.VOID, f"void: {movement.void[province].value}"
    elif moving:
        outcome, reason = _failed_move(movement, province)
    else:
        outcome, reason = _help_result(movement, province, power, order)
    if conqueror >= 0:
        dislodgement = f"dislodged by {_unit(movement, conqueror)}"
        reason = f"{reason}; {dislodgement}" if reason else dislodgement
        if outcome is OrderOutcome.SUCCEEDED:
            outcome = OrderOutcome.DISLODGED
    elif (
        order.kind is OrderKind.CONVOY
        and outcome is OrderOutcome.SUCCEEDED
        and not movement.succeeds(order.source)
    ):
        reason = f"the army from {movement.board.codes[order.source]} did not arrive"
    return OrderResult(power, order, outcome, reason, conqueror)


def _help_result(movement: Movement, province: int, power: int, order: Order) -> tuple[OrderOutcome, str]:
    """The result of a support or convoy, before anything about the unit's own dislodgement."""
    safe = movement.dislodged_by(province) < 0
    if order.kind in (OrderKind.SUPPORT_HOLD, OrderKind.SUPPORT_MOVE):
        cutter = movement.cut_by(province)
        if cutter >= 0 and safe:
            return OrderOutcome.CUT, f"cut by {_unit(movement, cutter)}"
        if cutter < 0 and order.kind is OrderKind.SUPPORT_MOVE and _is_against_own(movement, power, order):
            own = _unit(movement, movement.board.province_of[order.target])
            return OrderOutcome.SUCCEEDED, f"not counted against {own}, as no power dislodges its own units"
    elif order.kind is OrderKind.CONVOY and province in movement.disrupted_by_paradox and safe:
        return OrderOutcome.DISRUPTED, "convoy disrupted: a paradox (Szykman's rule)"
    return OrderOutcome.SUCCEEDED, ""


def _is_against_own(movement: Movement, power: int, support: Order) -> bool:
    """Whether a move is supported to where a unit of the supporter's own power stays."""
    target = movement.board.province_of[support.target]
    return movement.owner[target] == power and (
        movement.destination[target] < 0
        or movement.is_head_to_head(support.source)
        or not movement.succeeds(target)
    )


def _failed_move(movement: Movement, source: int) -> tuple[OrderOutcome, str]:
    board = movement.board
    if movement.way[source] is Way.SEA and not movement.has_convoy(source):
        fleets = movement.convoyers.get(source, 0)
        gone = " and ".join(
            _unit(movement, sea)
            for sea in range(len(board.codes))
            if fleets >> sea & 1 and (movement.dislodged(sea) or sea in movement.disrupted_by_paradox)
        )
        why = (
            f"convoy disrupted: {gone}"
            if gone
            else "no convoy: the fleets ordered to convoy it make no chain"
        )
        return OrderOutcome.DISRUPTED, why
    target = movement.destination[source]
    by = []
    if movement.owner[target] >= 0 and (
        movement.is_head_to_head(source) or movement.destination[target] < 0 or not movement.succeeds(target)
    ):
        by.append(target)
        if movement.owner[target] == movement.owner[source] and not movement.is_head_to_head(source):
            return OrderOutcome.BOUNCED, f"bounced: {_unit(movement, target)} of its own power stayed"
    by += [
        rival
        for rival in movement.attackers[target]
        if rival != source and movement.prevent_strength(rival, 1)
    ]
    who = " and ".join(_unit(movement, province) for province in by)
    return OrderOutcome.BOUNCED, f"bounced by {who}"


def _unit(movement: Movement, province: int) -> str:
    unit = movement.unit_at[province]
    assert unit is not None
    return movement.board.owned_unit_text(unit)
