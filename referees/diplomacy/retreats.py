"""Where dislodged units may go, and how retreats resolve."""

from collections.abc import Mapping, Sequence

from referees.diplomacy.movement import Movement
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.position import Dislodged, Position
from referees.diplomacy.provinces import Unit


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
            occupied |= 1 << target
            continue
        if province in attackers:
            source = movement.dislodged_by(province)
            if source >= 0:
                beaten.append((unit, source))
                continue
        stayed.append(unit)
        occupied |= 1 << province
    stayed.sort(key=_by_location)
    if not beaten:
        return tuple(stayed), ()
    closed = occupied | contested(movement, occupied)
    dislodged = []
    for unit, source in beaten:
        shut = closed if movement.by_sea(source) else closed | 1 << source
        options = tuple(
            place for place in board.reach[unit.kind][unit.location] if not shut >> province_of[place] & 1
        )
        dislodged.append(Dislodged(unit, options))
    return tuple(stayed), tuple(dislodged)


def contested(movement: Movement, occupied: int) -> int:
    """The provinces (bits) that a standoff left empty, given those that are occupied after the moves."""
    mask = 0
    for target, sources in movement.attackers.items():
        if not occupied >> target & 1 and any(movement.prevent_strength(source, 1) for source in sources):
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
    return in_order(units), clashes


def in_order(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Units in the order of their locations."""
    return tuple(sorted(units, key=_by_location))


def _by_location(unit: Unit) -> int:
    return unit.location
