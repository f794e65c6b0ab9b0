"""The orders that a power's units may be given, as lists."""

from functools import cache
from typing import NamedTuple

from referees.diplomacy.adjustments import adjustments, free_homes
from referees.diplomacy.convoys import chains, ways_round
from referees.diplomacy.map import Map, Unit, UnitKind, bits
from referees.diplomacy.orders import NOWHERE, Order, OrderKind
from referees.diplomacy.position import Phase, Position

LegalOrders = dict[int, list[Order]]


def legal_orders(position: Position, power: int) -> LegalOrders:
    """The legal orders of one power, by province; see `all_legal_orders`."""
    return all_legal_orders(position)[power]


def all_legal_orders(position: Position) -> list[LegalOrders]:
    """For each power, by province: what its unit there may be ordered, or what it may build there.

    Moves to a neighbour by convoy are listed beside those by land. Supports name no coast. A power that may
    build may also waive, one that must remove is listed all its units; of the provinces it chooses as many
    as its adjustment says. Provinces and orders stand in a fixed order.
    """
    if position.phase is Phase.MOVES:
        return _moves(position)
    legal: list[LegalOrders] = [{} for _ in position.map.powers]
    province_of = position.map.province_of
    if position.phase is Phase.RETREATS:
        for unit, options in position.dislodged:
            legal[unit.power][province_of[unit.location]] = [
                Order(OrderKind.DISBAND, unit.location),
                *(Order(OrderKind.RETREAT, unit.location, option) for option in options),
            ]
        return legal
    for power, number in enumerate(adjustments(position)):
        if number > 0:
            for home in free_homes(position, power):
                legal[power][home] = list(_builds(position.map, home))
        elif number < 0:
            for unit in position.units_of(power):
                legal[power][province_of[unit.location]] = [Order(OrderKind.REMOVE, unit.location)]
    return legal


def as_listed(board: Map, order: Order) -> Order:
    """An order as lists of legal orders have it: a support for a move without the coast that it names."""
    if order.kind is not OrderKind.SUPPORT_MOVE:
        return order
    return order._replace(target=board.main_location[board.province_of[order.target]])


@cache
def _builds(board: Map, home: int) -> tuple[Order, ...]:
    fleets = (place for place in board.places[home] if board.can_stand(UnitKind.FLEET, place))
    return (
        Order(OrderKind.BUILD_ARMY, board.main_location[home]),
        *(Order(OrderKind.BUILD_FLEET, place) for place in fleets),
    )


@cache
def _hold_and_moves(board: Map, kind: UnitKind, location: int) -> tuple[Order, ...]:
    return (
        Order(OrderKind.HOLD, location),
        *(Order(OrderKind.MOVE, location, target) for target in board.reach[kind][location]),
    )


@cache
def _hold_supports(board: Map, kind: UnitKind, location: int) -> tuple[tuple[int, Order], ...]:
    return tuple(
        (province, Order(OrderKind.SUPPORT_HOLD, location, board.main_location[province]))
        for province in bits(board.reach_mask[kind][location])
    )


@cache
def _move_supports(board: Map, kind: UnitKind, location: int) -> tuple[tuple[int, tuple[Order, ...]], ...]:
    """For each province in reach: the supports for a move there, by where the move begins."""
    return tuple(
        (
            province,
            tuple(
                Order(OrderKind.SUPPORT_MOVE, location, board.main_location[province], source)
                for source in range(len(board.codes))
            ),
        )
        for province in bits(board.reach_mask[kind][location])
    )


@cache
def _by_convoy(
    board: Map, kind: OrderKind, location: int, targets: int, source: int = NOWHERE
) -> tuple[Order, ...]:
    return tuple(Order(kind, location, board.main_location[target], source) for target in bits(targets))


def _moves(position: Position) -> list[LegalOrders]:
    board, units = position.map, position.units
    province_of = board.province_of
    legal: list[LegalOrders] = [{} for _ in board.powers]
    occupied = fleets = armies = 0
    movers: list[list[int]] = [[] for _ in board.codes]
    for unit in units:
        province = province_of[unit.location]
        occupied |= 1 << province
        if unit.kind is UnitKind.FLEET:
            fleets |= 1 << province
        elif board.sea_access[province]:
            armies |= 1 << province
        for target, _ in _hold_supports(board, unit.kind, unit.location):
            movers[target].append(province)
    fleets &= board.seas
    shores = chains(board, fleets) if fleets and armies else []
    convoys = _Convoys(fleets, armies, shores, movers)
    for unit in units:
        power, kind, location = unit
        province = province_of[location]
        orders = list(_hold_and_moves(board, kind, location))
        orders += [order for target, order in _hold_supports(board, kind, location) if occupied >> target & 1]
        for target, supports in _move_supports(board, kind, location):
            orders += [supports[source] for source in movers[target] if source != province]
        if shores:
            _add_convoys(board, unit, convoys, orders)
        legal[power][province] = orders
    return legal


class _Convoys(NamedTuple):
    """What could carry, be carried and go by land in a position.

    `fleets` and `armies` are provinces as bits; `shores` are groups of linked fleets, each with the coasts
    that it touches; `movers` are, by target, the provinces whose units could go there by land or sea.
    """

    fleets: int
    armies: int
    shores: list[tuple[int, int]]
    movers: list[list[int]]


def _add_convoys(board: Map, unit: Unit, convoys: _Convoys, orders: list[Order]) -> None:
    """Add the moves by convoy, the supports for such moves, and the convoys that a unit may be ordered."""
    province, shores = board.province_of[unit.location], convoys.shores
    here = 1 << province
    if unit.kind is UnitKind.ARMY:
        targets = 0
        for _, coasts in shores:
            if coasts & here:
                targets |= coasts
        orders += _by_convoy(board, OrderKind.CONVOYED_MOVE, unit.location, targets & ~here)
    elif here & convoys.fleets:
        chain, coasts = next(entry for entry in shores if entry[0] & here)
        sets = ways_round(board, chain, province)
        for source in bits(coasts & convoys.armies):
            targets = coasts & ~(1 << source)
            for touched in sets:
                if not touched >> source & 1:
                    targets &= touched
            orders += _by_convoy(board, OrderKind.CONVOY, unit.location, targets, source)
        shores = [entry for entry in shores if not entry[0] & here] + chains(board, chain & ~here)
    _add_supports_of_convoys(board, unit, convoys._replace(shores=shores), orders)


def _add_supports_of_convoys(board: Map, unit: Unit, convoys: _Convoys, orders: list[Order]) -> None:
    _, armies, shores, movers = convoys
    reach = board.reach_mask[unit.kind][unit.location]
    common = 0
    for _, coasts in shores:
        if coasts & armies:
            common |= coasts
    if not common & reach:
        return
    for target, supports in _move_supports(board, unit.kind, unit.location):
        bit = 1 << target
        if not common & bit:
            continue
        sources = 0
        for _, coasts in shores:
            if coasts & bit:
                sources |= coasts
        sources &= armies & ~bit
        for source in movers[target]:
            sources &= ~(1 << source)
        orders += [supports[source] for source in bits(sources)]
