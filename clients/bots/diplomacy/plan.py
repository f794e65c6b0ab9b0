"""A phase of moves planned: which of a power's units goes where, and which of the others help it."""

import random
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from clients.bots.diplomacy.front import Front
from clients.bots.diplomacy.province_values import Worth
from referees.diplomacy import Order, OrderKind, Unit, UnitKind
from referees.diplomacy.map import bits

# How much of what a helper could do itself its help costs, and what help that can be cut costs more.
HELP: Final = 0.8
CUTTABLE: Final = 0.03
NOISE: Final = 0.15
MAX_HELPERS: Final = 4


class PlannedMove(NamedTuple):
    """A unit's move with those that support it, and the fleet that convoys it, if one does."""

    gain: float
    unit: Unit
    target: int
    supporters: tuple[Unit, ...] = ()
    fleet: Unit | None = None


class Plan:
    """The orders of one power, made move by move, the one that gains most first."""

    def __init__(
        self,
        front: Front,
        worth: Worth,
        chance: random.Random,
        wishes: Mapping[tuple[int, int], float] = MappingProxyType({}),
    ) -> None:
        self._front = front
        self._board = front.position.map
        self._worth = worth
        self._free = {unit.location: unit for unit in front.position.units_of(front.power)}
        self._noise = {
            unit.location: {
                place: chance.uniform(1 - NOISE, 1 + NOISE) * (1 + wishes.get(self._way(unit, place), 0.0))
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
        there = self._front.occupant[province]
        if there is None or there.power != self._front.power:
            return True
        return (
            self._targets.get(province, self._board.province_of[unit.location])
            != self._board.province_of[unit.location]
        )

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
            if not front.is_threatened(province):
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
            there = front.occupant[province]
            stays = self._targets.get(province, province) == province
            if there is not None and there.power == front.power and stays and worth > best:
                best, chosen = worth, Order(OrderKind.SUPPORT_HOLD, unit.location, helped)
        return chosen
