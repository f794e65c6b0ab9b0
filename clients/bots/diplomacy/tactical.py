"""A bot that fights: it goes where most can be won, supports its attacks, and guards what it has.

A supply centre is worth taking, the more the larger its owner is, and an own one worth guarding while it is
threatened. That spreads over the moves of armies and of fleets, weaker with each step, so that units far from
everything still know where to go. A `Plan` then makes the orders, the move that gains most first.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Final, NamedTuple

from clients.bots.diplomacy.bot import Bot
from referees.diplomacy import (
    WAIVE,
    Map,
    Order,
    OrderKind,
    Phase,
    Position,
    Season,
    Unit,
    UnitKind,
    adjustment,
    legal_orders,
)
from referees.diplomacy.game import centre_counts
from referees.diplomacy.map import NOBODY, bits


@dataclass(frozen=True)
class Front:
    """A position of moves as one power sees it, by province.

    `own` are its units that can move there; `against` is the strength with which one other power could hold
    or enter it, units in it included; `occupant` the unit in it. `owner` is who owns its supply centre:
    NOBODY for a neutral one, None where there is none.
    """

    position: Position
    power: int
    own: tuple[tuple[Unit, ...], ...]
    against: tuple[int, ...]
    occupant: tuple[Unit | None, ...]
    owner: tuple[int | None, ...]


def front(position: Position, power: int) -> Front:
    """The front of a power."""
    board = position.map
    size = len(board.codes)
    own: list[list[Unit]] = [[] for _ in range(size)]
    others: list[dict[int, int]] = [{} for _ in range(size)]
    occupant: list[Unit | None] = [None] * size
    for unit in position.units:
        here = board.province_of[unit.location]
        occupant[here] = unit
        for province in bits(board.reach_mask[unit.kind][unit.location]):
            if unit.power == power:
                own[province].append(unit)
            else:
                others[province][unit.power] = others[province].get(unit.power, 0) + 1
        if unit.power != power:
            others[here][unit.power] = others[here].get(unit.power, 0) + 1
    owner: list[int | None] = [None] * size
    for centre, owned_by in zip(board.centres, position.owners, strict=True):
        owner[centre] = owned_by
    return Front(
        position,
        power,
        tuple(map(tuple, own)),
        tuple(max(strengths.values(), default=0) for strengths in others),
        tuple(occupant),
        tuple(owner),
    )


Worth = tuple[list[float], list[float]]
"""By kind of unit and location."""

NEUTRAL: Final = 1.0
ENEMY: Final = 0.7
PER_CENTRE: Final = 0.05
OWN_HOME: Final = 0.4
GUARD: Final = 0.45
# Where a unit stands counts in autumn; in spring, what it can reach counts as well.
STEPS: Final = {
    Season.SPRING: (0.7, 0.9, 0.5, 0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
    Season.AUTUMN: (1.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.1, 0.1, 0.1),
}
SPREAD: Final = 5.0
# The weight of the best coast to which one sea's fleet could convoy an army.
CROSSING: Final = 0.5


def worth_of(front: Front) -> Worth:
    """The worth of each location to an army and to a fleet of the front's power."""
    board = front.position.map
    base = _centres(front)
    weights = STEPS[front.position.season]
    worths = []
    for kind in UnitKind:
        reach = board.reach[kind]
        across = _across(board) if kind is UnitKind.ARMY else ((),) * len(board.province_of)
        layer = [base[province] for province in board.province_of]
        total = [weights[0] * worth for worth in layer]
        for weight in weights[1:]:
            layer = [
                (
                    layer[place]
                    + sum(layer[near] for near in reach[place])
                    + CROSSING * max((layer[far] for far in across[place]), default=0.0)
                )
                / SPREAD
                if reach[place]
                else 0.0
                for place in range(len(layer))
            ]
            total = [sum_so_far + weight * worth for sum_so_far, worth in zip(total, layer, strict=True)]
        worths.append(total)
    return worths[UnitKind.ARMY], worths[UnitKind.FLEET]


@cache
def _across(board: Map) -> tuple[tuple[int, ...], ...]:
    """For each location the coasts over one sea from its province, where armies stand."""
    coasts_across = []
    for location, province in enumerate(board.province_of):
        coasts = 0
        if location == board.main_location[province]:
            for sea in bits(board.sea_access[province]):
                coasts |= board.shores[sea]
        coasts_across.append(tuple(board.main_location[coast] for coast in bits(coasts & ~(1 << province))))
    return tuple(coasts_across)


def _centres(front: Front) -> list[float]:
    board = front.position.map
    counts = centre_counts(front.position)
    base = [0.0] * len(board.codes)
    for centre in board.centres:
        owner = front.owner[centre]
        if owner == front.power:
            base[centre] = GUARD * min(front.against[centre], 2)
        elif owner is None or owner == NOBODY:
            base[centre] = NEUTRAL
        else:
            base[centre] = ENEMY + PER_CENTRE * counts[owner]
        if owner != front.power and centre in board.powers[front.power].homes:
            base[centre] += OWN_HOME
    return base


# How much of what a helper could do itself its help costs, and what help that can be cut costs more.
HELP: Final = 0.8
CUTTABLE: Final = 0.03
MOVE_NOISE: Final = 0.15
MAX_HELPERS: Final = 4


class PlannedMove(NamedTuple):
    """A unit's move with those that support it, and the fleet that convoys it, if one does."""

    gain: float
    unit: Unit
    target: int
    supporters: tuple[Unit, ...]
    fleet: Unit | None


class Plan:
    """The orders of one power, made move by move, the one that gains most first."""

    def __init__(
        self, front: Front, worth: Worth, chance: random.Random, wishes: Mapping[tuple[int, int], float]
    ) -> None:
        self._front = front
        self._board = front.position.map
        self._worth = worth
        self._free = {unit.location: unit for unit in front.position.units_of(front.power)}
        self._noise = {
            unit.location: {
                place: chance.uniform(1 - MOVE_NOISE, 1 + MOVE_NOISE)
                * (1 + wishes.get(self._way(unit, place), 0.0))
                for place in self._places(unit)
            }
            for unit in self._free.values()
        }
        self._targets: dict[int, int] = {}
        """The province that a moving unit leaves, and the one where it goes."""
        self._strength: dict[int, int] = {}
        self._orders: dict[int, Order] = {}

    def orders(self) -> list[Order]:
        """One order for each unit."""
        while self._free:
            alone = {place: self._best_alone(unit) for place, unit in self._free.items()}
            moves = [move for unit in self._free.values() for move in self._moves(unit, alone)]
            best = max(moves, key=lambda move: move.gain, default=None)
            if best is None or best.gain <= 0:
                break
            self._make(best)
        for unit in list(self._free.values()):
            self._orders[unit.location] = self._help_or_hold(unit)
        return list(self._orders.values())

    def _way(self, unit: Unit, place: int) -> tuple[int, int]:
        """The provinces that a move leaves and enters."""
        return self._board.province_of[unit.location], self._board.province_of[place]

    def _places(self, unit: Unit) -> Sequence[int]:
        if unit.kind is UnitKind.ARMY:
            return range(len(self._board.province_of))
        return self._board.reach[unit.kind][unit.location]

    def _rise(self, unit: Unit, target: int) -> float:
        """How much more the unit is worth there."""
        worth = self._worth[unit.kind]
        return worth[target] * self._noise[unit.location][target] - worth[unit.location]

    def _is_open(self, unit: Unit, target: int) -> bool:
        """Whether no unit of the power stays there, comes there, or comes from there to here."""
        province = self._board.province_of[target]
        if province in self._targets.values():
            return False
        occupant = self._front.occupant[province]
        if occupant is None or occupant.power != self._front.power:
            return True
        here = self._board.province_of[unit.location]
        return self._targets.get(province, here) != here

    def _chance(self, target: int, strength: int) -> float:
        """How likely a move of this strength arrives, as far as can be known."""
        province = self._board.province_of[target]
        against = self._front.against[province]
        if strength > against:
            return 1.0 if against == 0 else 0.9
        occupant = self._front.occupant[province]
        if occupant is None or occupant.power == self._front.power:
            return strength / (strength + against)
        return 0.15 if strength == 1 else 0.7 * strength / (strength + against)

    def _best_alone(self, unit: Unit) -> float:
        """What the unit gains by its best move without help."""
        return max(
            (
                self._chance(target, 1) * self._rise(unit, target)
                for target in self._board.reach[unit.kind][unit.location]
                if self._is_open(unit, target)
            ),
            default=0.0,
        )

    def _moves(self, unit: Unit, alone: dict[int, float]) -> Iterator[PlannedMove]:
        for target in self._board.reach[unit.kind][unit.location]:
            if self._is_open(unit, target):
                yield from self._supported(unit, target, alone, None)
        if unit.kind is UnitKind.ARMY:
            yield from self._convoyed(unit, alone)

    def _convoyed(self, unit: Unit, alone: dict[int, float]) -> Iterator[PlannedMove]:
        """Moves over one sea, where a fleet of the power is."""
        board = self._board
        here = board.province_of[unit.location]
        for fleet in self._free.values():
            sea = board.province_of[fleet.location]
            if fleet.kind is UnitKind.ARMY or not board.seas >> sea & 1 or not board.shores[sea] >> here & 1:
                continue
            for province in bits(board.shores[sea]):
                target = board.main_location[province]
                near = board.reach_mask[UnitKind.ARMY][unit.location] >> province & 1
                if province != here and not near and self._is_open(unit, target):
                    yield from self._supported(unit, target, alone, fleet)

    def _supported(
        self, unit: Unit, target: int, alone: dict[int, float], fleet: Unit | None
    ) -> Iterator[PlannedMove]:
        """The move with as many helpers as there are, the cheapest first."""
        province = self._board.province_of[target]
        rise = self._rise(unit, target)
        if rise <= 0:
            return
        cost = 0.0 if fleet is None else HELP * max(0.0, alone[fleet.location])
        helpers = sorted(
            (self._cost_of_help(helper, alone), helper)
            for helper in self._front.own[province]
            if helper.location in self._free and helper not in (unit, fleet)
        )[:MAX_HELPERS]
        for number in range(len(helpers) + 1):
            gain = self._chance(target, 1 + number) * rise - cost
            yield PlannedMove(gain, unit, target, tuple(helper for _, helper in helpers[:number]), fleet)
            if 1 + number > self._front.against[province]:
                return
            if number < len(helpers):
                cost += helpers[number][0]

    def _cost_of_help(self, helper: Unit, alone: dict[int, float]) -> float:
        threat = self._front.against[self._board.province_of[helper.location]]
        return HELP * max(0.0, alone[helper.location]) + CUTTABLE * threat

    def _make(self, move: PlannedMove) -> None:
        board = self._board
        unit, target = move.unit, move.target
        source, province = board.province_of[unit.location], board.province_of[target]
        kind = OrderKind.MOVE if move.fleet is None else OrderKind.CONVOYED_MOVE
        self._orders[unit.location] = Order(kind, unit.location, target)
        del self._free[unit.location]
        self._targets[source] = province
        self._strength[source] = 1 + len(move.supporters)
        helped = board.main_location[province]
        for helper in move.supporters:
            self._stay(helper, Order(OrderKind.SUPPORT_MOVE, helper.location, helped, source))
        if move.fleet is not None:
            self._stay(move.fleet, Order(OrderKind.CONVOY, move.fleet.location, helped, source))

    def _stay(self, unit: Unit, order: Order) -> None:
        self._orders[unit.location] = order
        del self._free[unit.location]
        province = self._board.province_of[unit.location]
        self._targets[province] = province

    def _help_or_hold(self, unit: Unit) -> Order:
        """Help where most is at stake: an attack that could fail, or a neighbour that could be dislodged."""
        board, front = self._board, self._front
        best, chosen = 0.0, Order(OrderKind.HOLD, unit.location)
        for province in bits(board.reach_mask[unit.kind][unit.location]):
            if not front.against[province]:
                continue
            helped = board.main_location[province]
            worth = max(self._worth[kind][helped] for kind in UnitKind)
            for source, target in self._targets.items():
                if (
                    target == province != source
                    and worth > best
                    and self._strength[source] <= front.against[province]
                ):
                    best, chosen = worth, Order(OrderKind.SUPPORT_MOVE, unit.location, helped, source)
            occupant = front.occupant[province]
            stays = self._targets.get(province, province) == province
            if occupant is not None and occupant.power == front.power and stays and worth > best:
                best, chosen = worth, Order(OrderKind.SUPPORT_HOLD, unit.location, helped)
        return chosen


BUILD_NOISE: Final = 0.1
MIX: Final = 0.6
# The years without a change of centres after which it would draw.
QUIET_YEARS: Final = 3


class TacticalBot(Bot):
    """Values provinces, plans moves with their supports and convoys, retreats and builds to where it counts.

    It looks one phase ahead and trusts no other power.
    """

    name: ClassVar[str] = "tactical"

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self._counts: list[int] = []
        self._quiet_since = 0

    def orders(self, position: Position, power: int) -> list[Order]:
        """The best orders it finds."""
        seen = front(position, power)
        worth = worth_of(seen)
        if position.phase is Phase.MOVES:
            return Plan(seen, worth, self.chance, self.wishes).orders()
        if position.phase is Phase.RETREATS:
            return self._retreats(position, power, worth)
        due = adjustment(position, power)
        return (
            self._builds(position, power, worth, due)
            if due > 0
            else self._removals(position, power, worth, -due)
        )

    def _retreats(self, position: Position, power: int, worth: Worth) -> list[Order]:
        """Each to the best place that is left, the unit with the most to lose first."""
        board = position.map
        own = [entry for entry in position.dislodged if entry.unit.power == power]
        orders, taken = [], set[int]()
        options = [
            (worth[unit.kind][option], unit.location, option) for unit, places in own for option in places
        ]
        placed = set[int]()
        for _, location, option in sorted(options, reverse=True):
            if location not in placed and board.province_of[option] not in taken:
                placed.add(location)
                taken.add(board.province_of[option])
                orders.append(Order(OrderKind.RETREAT, location, option))
        orders += [
            Order(OrderKind.DISBAND, entry.unit.location)
            for entry in own
            if entry.unit.location not in placed
        ]
        return orders

    def _builds(self, position: Position, power: int, worth: Worth, due: int) -> list[Order]:
        """Where and of which kind a unit is worth most; the kind that it has much of is worth less."""
        own = position.units_of(power)
        scarcity = {
            kind: 1 - MIX * sum(unit.kind is kind for unit in own) / (len(own) + 3) for kind in UnitKind
        }
        rated: list[tuple[float, int, Order]] = []
        for home, orders in legal_orders(position, power).items():
            for order in orders:
                kind = UnitKind.ARMY if order.kind is OrderKind.BUILD_ARMY else UnitKind.FLEET
                noise = self.chance.uniform(1 - BUILD_NOISE, 1 + BUILD_NOISE)
                rated.append((worth[kind][order.location] * scarcity[kind] * noise, home, order))
        chosen: dict[int, Order] = {}
        for _, home, order in sorted(rated, reverse=True):
            if len(chosen) < due:
                chosen.setdefault(home, order)
        return [*chosen.values(), *[WAIVE] * (due - len(chosen))]

    def _removals(self, position: Position, power: int, worth: Worth, due: int) -> list[Order]:
        """The units that are worth least where they stand."""
        units = sorted(position.units_of(power), key=lambda unit: worth[unit.kind][unit.location])
        return [Order(OrderKind.REMOVE, unit.location) for unit in units[:due]]

    def draws(self, position: Position, power: int) -> bool:
        """Whether no number of centres has changed for some years."""
        counts = centre_counts(position)
        if counts != self._counts:
            self._counts, self._quiet_since = counts, position.year
        return position.year - self._quiet_since >= QUIET_YEARS
