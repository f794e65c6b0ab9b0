"""One phase adjudicated: moves, retreats or builds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Final

from referees.diplomacy import adjustments
from referees.diplomacy.map import Map, Unit
from referees.diplomacy.movement import Movement
from referees.diplomacy.orders import BUILT, WAIVE, Order, OrderKind
from referees.diplomacy.position import Dislodged, Phase, Position, Season
from referees.diplomacy.results import OrderOutcome, OrderResult, movement_results
from referees.diplomacy.settings import Choices

_LOCATION: Final = attrgetter("location")


def after_moves(movement: Movement) -> tuple[tuple[Unit, ...], tuple[Dislodged, ...]]:
    """The units when all moves are made, and those that were dislodged, with their options.

    A unit may not go where a unit stands, where a standoff left the province empty, or from where it was
    attacked, unless the attacker came by sea.
    """
    board, destination, province_of = movement.board, movement.destination, movement.board.province_of
    succeeds, attackers = movement.succeeds, movement.attackers
    stayed: list[Unit] = []
    beaten: list[tuple[Unit, int]] = []
    occupied = 0
    for unit in movement.units:
        province = province_of[unit.location]
        target = destination[province]
        if target >= 0 and succeeds(province):
            order = movement.orders[province]
            assert order is not None
            stayed.append(Unit(unit.power, unit.kind, order.target))
            continue
        if province in attackers:
            source = movement.dislodged_by(province)
            if source >= 0:
                beaten.append((unit, source))
                continue
        stayed.append(unit)
        occupied |= 1 << province
    stayed.sort(key=_LOCATION)
    if not beaten:
        return tuple(stayed), ()
    closed = occupied | contested(movement)
    dislodged = []
    for unit, source in beaten:
        shut = closed if movement.by_sea(source) else closed | 1 << source
        options = tuple(
            place for place in board.reach[unit.kind][unit.location] if not shut >> province_of[place] & 1
        )
        dislodged.append(Dislodged(unit, options))
    return tuple(stayed), tuple(dislodged)


def contested(movement: Movement) -> int:
    """The provinces (bits) that a move was made to, or that a standoff left empty."""
    mask = 0
    for target, sources in movement.attackers.items():
        if any(movement.prevent_strength(source, 1) for source in sources):
            mask |= 1 << target
    return mask


def resolve_retreats(
    position: Position, orders: Mapping[int, Order]
) -> tuple[tuple[Unit, ...], dict[int, tuple[int, ...]]]:
    """The units after the retreats, given each retreating unit's order by its province.

    Also, for every province that several units retreated to and so disbanded, where they came from.
    """
    province_of = position.map.province_of
    going: dict[int, list[tuple[int, Unit]]] = {}
    for unit, _ in position.dislodged:
        source = province_of[unit.location]
        order = orders.get(source)
        if order is not None and order.kind is OrderKind.RETREAT:
            arrived = Unit(unit.power, unit.kind, order.target)
            going.setdefault(province_of[order.target], []).append((source, arrived))
    units = list(position.units)
    clashes: dict[int, tuple[int, ...]] = {}
    for target, arrivals in going.items():
        if len(arrivals) == 1:
            units.append(arrivals[0][1])
        else:
            clashes[target] = tuple(source for source, _ in arrivals)
    return tuple(sorted(units, key=_LOCATION)), clashes


DEFAULT_CHOICES: Final = Choices()


@dataclass(frozen=True)
class PhaseAdjudication:
    """A phase that is over: the position before, the orders by power, the position after.

    `results` are made when they are first asked for.
    """

    position: Position
    orders: Mapping[int, Sequence[Order]]
    after: Position
    _findings: "Movement | tuple[OrderResult, ...]"

    @cached_property
    def results(self) -> tuple[OrderResult, ...]:
        """What became of each order. Units without orders have one, too."""
        if isinstance(self._findings, Movement):
            return movement_results(self._findings)
        return self._findings


def adjudicate(
    position: Position, orders: Mapping[int, Sequence[Order]], choices: Choices = DEFAULT_CHOICES
) -> PhaseAdjudication:
    """Carry out one phase's orders, given by power; a power may be missing.

    Any orders lead to a next position: orders that cannot be carried out are void and say why in
    the results. Units without orders hold, dislodged ones disband, builds are waived, and removals go by the
    rules of civil disorder. The last of several orders for a unit counts. Phases in which nothing can be
    done are left out. Locations and provinces in orders must be of the map.
    """
    if position.phase is Phase.MOVES:
        movement = Movement(position.map, position.units, orders, choices)
        units, dislodged = after_moves(movement)
        if dislodged:
            after = replace(position, phase=Phase.RETREATS, units=units, dislodged=dislodged)
        else:
            after = _after_season(position, units)
        return PhaseAdjudication(position, orders, after, movement)
    if position.phase is Phase.RETREATS:
        units, results = _retreats(position, orders)
        return PhaseAdjudication(position, orders, _after_season(position, units), results)
    units, results = _builds(position, orders, choices)
    after = replace(position, year=position.year + 1, season=Season.SPRING, phase=Phase.MOVES, units=units)
    return PhaseAdjudication(position, orders, after, results)


def _after_season(position: Position, units: tuple[Unit, ...]) -> Position:
    held = replace(position, season=Season.AUTUMN, phase=Phase.MOVES, units=units, dislodged=())
    if position.season is Season.SPRING:
        return held
    builds = replace(held, phase=Phase.BUILDS, owners=adjustments.owners_after(held))
    if any(adjustments.adjustments(builds)):
        return builds
    return replace(builds, year=position.year + 1, season=Season.SPRING, phase=Phase.MOVES)


def _void(power: int, order: Order, why: str) -> OrderResult:
    return OrderResult(power, order, OrderOutcome.VOID, f"void: {why}")


def _retreats(
    position: Position, orders: Mapping[int, Sequence[Order]]
) -> tuple[tuple[Unit, ...], tuple[OrderResult, ...]]:
    board, province_of = position.map, position.map.province_of
    leaving = {province_of[entry.unit.location]: entry for entry in position.dislodged}
    accepted: dict[int, Order] = {}
    void: list[OrderResult] = []
    for power, given in orders.items():
        for order in given:
            entry = leaving.get(province_of[order.location]) if order.location >= 0 else None
            if entry is None or entry.unit.power != power:
                void.append(_void(power, order, "no unit of the power retreats from there"))
            elif order.kind not in (OrderKind.RETREAT, OrderKind.DISBAND):
                void.append(_void(power, order, "dislodged units retreat or disband"))
            elif order.kind is OrderKind.RETREAT and order.target not in entry.options:
                void.append(_void(power, order, "the unit cannot retreat there"))
            else:
                accepted[province_of[order.location]] = order
    units, clashes = resolve_retreats(position, accepted)
    results = []
    for province, entry in leaving.items():
        unit = entry.unit
        order = accepted.get(province) or Order(OrderKind.DISBAND, unit.location)
        others = clashes.get(province_of[order.target], ()) if order.kind is OrderKind.RETREAT else ()
        if others:
            who = " and ".join(
                board.owned_unit_text(leaving[other].unit) for other in others if other != province
            )
            why = f"disbanded: {who} retreated there too"
            results.append(OrderResult(unit.power, order, OrderOutcome.CLASHED, why))
        else:
            results.append(OrderResult(unit.power, order, OrderOutcome.SUCCEEDED))
    return units, (*results, *void)


def _builds(
    position: Position, orders: Mapping[int, Sequence[Order]], choices: Choices
) -> tuple[tuple[Unit, ...], tuple[OrderResult, ...]]:
    units = list(position.units)
    results: list[OrderResult] = []
    for power, number in enumerate(adjustments.adjustments(position)):
        given = orders.get(power, ())
        if number > 0:
            results += _build(position, power, number, given, units)
        elif number < 0:
            results += _remove(position, power, given, units, choices)
        else:
            results += [_void(power, order, "the power has nothing to build or remove") for order in given]
    return tuple(sorted(units, key=_LOCATION)), tuple(results)


def _build(
    position: Position, power: int, number: int, given: Sequence[Order], units: list[Unit]
) -> Iterator[OrderResult]:
    board = position.map
    free = set(adjustments.free_homes(position, power))
    left = number
    for order in given:
        why = "" if order.kind is OrderKind.WAIVE else _why_no_build(board, power, order, free)
        if why:
            yield _void(power, order, why)
        elif not left:
            yield OrderResult(power, order, OrderOutcome.SURPLUS, f"the power has only {number} to build")
        else:
            left -= 1
            yield OrderResult(power, order, OrderOutcome.SUCCEEDED)
            if order.kind is not OrderKind.WAIVE:
                free.remove(board.province_of[order.location])
                units.append(Unit(power, BUILT[order.kind], order.location))
    yield from [OrderResult(power, WAIVE, OrderOutcome.SUCCEEDED, "not ordered")] * left


def _why_no_build(board: Map, power: int, order: Order, free: set[int]) -> str:
    """Why an order is not a build that the power can make; empty if it is one."""
    province = board.province_of[order.location]
    if order.kind not in BUILT:
        return "the power may build, not remove"
    if province not in board.powers[power].homes:
        return "it is not a home centre of the power"
    if province not in free:
        return "the centre is another power's or a unit stands in it"
    if not board.can_stand(BUILT[order.kind], order.location):
        return "it must say on which coast" if board.coasts[province] else "such a unit cannot be there"
    return ""


def _remove(
    position: Position, power: int, given: Sequence[Order], units: list[Unit], choices: Choices
) -> Iterator[OrderResult]:
    board = position.map
    standing = {board.province_of[unit.location]: unit for unit in position.units_of(power)}
    left = number = -adjustments.adjustment(position, power)
    for order in given:
        unit = standing.get(board.province_of[order.location])
        if order.kind is not OrderKind.REMOVE:
            yield _void(power, order, "the power must remove, not build")
        elif unit is None:
            yield _void(power, order, "no unit of the power is left there")
        elif not left:
            yield OrderResult(power, order, OrderOutcome.SURPLUS, f"the power has only {number} to remove")
        else:
            left -= 1
            units.remove(standing.pop(board.province_of[unit.location]))
            yield OrderResult(power, order, OrderOutcome.SUCCEEDED)
    if left:
        lost = [unit for unit in adjustments.civil_disorder_order(position, power, choices) if unit in units]
        for unit in lost[:left]:
            units.remove(unit)
            order = Order(OrderKind.REMOVE, unit.location)
            yield OrderResult(power, order, OrderOutcome.SUCCEEDED, "civil disorder: not ordered")
