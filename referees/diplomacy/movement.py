"""A phase of moves: which orders fit the units and each other, which are void, and what becomes of all."""

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from typing import Final

from referees.diplomacy.convoys import are_linked, fleets_reached, needs_fleet
from referees.diplomacy.map import NOBODY, Map, Unit, UnitKind
from referees.diplomacy.orders import Order, OrderKind
from referees.diplomacy.settings import AdjacentConvoy, Choices

MOVE: Final = OrderKind.MOVE
CONVOYED_MOVE: Final = OrderKind.CONVOYED_MOVE
SUPPORT_HOLD: Final = OrderKind.SUPPORT_HOLD
SUPPORT_MOVE: Final = OrderKind.SUPPORT_MOVE
CONVOY: Final = OrderKind.CONVOY


class Way(IntEnum):
    """How a move travels."""

    LAND = 0
    SEA = 1
    SEA_OR_LAND = 2


class Void(Enum):
    """Why an order fails independently of all others; each value says it to people."""

    NO_UNIT = "no unit is there"
    FOREIGN_UNIT = "the unit is another power's"
    OTHER_PHASE = "it is an order of another phase"
    OTHER_COAST = "the unit stands on another coast"
    OUT_OF_REACH = "the unit cannot go there"
    NO_ROUTE = "no chain of fleets could convoy it there"
    COAST_MISSING = "it does not say to which coast"
    NO_CONVOYER = "only fleets on seas convoy"
    SUPPORT_OUT_OF_REACH = "the supporting unit could not go there itself"
    NOT_ORDERED_SO = "the other unit was not ordered so"
    SUPPORTED_MOVES = "the supported unit was ordered to move"
    NOBODY_THERE = "there is no unit that it could help"
    ITSELF = "a unit cannot go to its own province or help itself"
    REPLACED = "a later order for the unit took its place"
    NOT_NEEDED = "no route of the convoy could need this fleet"


class MovementOrders:
    """The orders of one phase of moves, each checked against the units and the other orders.

    Lists are by province. `orders` are those accepted, the last of each unit; `destination` is the province
    where a unit is ordered to move and can, else NOBODY, and `way` how it travels. `attackers` are, by
    destination, where the moves there begin; `move_supports` and `hold_supports` are, by the province of the
    unit supported, the provinces of its supporters, `convoyers` those of its fleets as bits. `void` has the
    provinces whose order does nothing, `rejected` the orders that are for no unit of their power.
    """

    def __init__(
        self, board: Map, units: Sequence[Unit], orders: Mapping[int, Sequence[Order]], choices: Choices
    ) -> None:
        size = len(board.codes)
        self.board = board
        self.choices = choices
        self.units = units
        self.unit_at: list[Unit | None] = [None] * size
        self.owner = [NOBODY] * size
        self.orders: list[Order | None] = [None] * size
        self.destination = [NOBODY] * size
        self.way = [Way.LAND] * size
        self.attackers: dict[int, list[int]] = {}
        self.move_supports: dict[int, list[int]] = {}
        self.hold_supports: dict[int, list[int]] = {}
        self.convoyers: dict[int, int] = {}
        self.void: dict[int, Void] = {}
        self.rejected: list[tuple[int, Order, Void]] = []
        self.fleets = 0
        self._read(orders)

    def _read(self, orders: Mapping[int, Sequence[Order]]) -> None:
        province_of, unit_at, owner = self.board.province_of, self.unit_at, self.owner
        seas = self.board.seas
        for unit in self.units:
            province = province_of[unit.location]
            unit_at[province] = unit
            owner[province] = unit.power
            self.fleets |= 1 << province
        self.fleets &= seas
        self._accept(orders)
        supports: list[tuple[int, Order]] = []
        convoys: list[tuple[int, Order]] = []
        for province, last in enumerate(self.orders):
            if last is None:
                continue
            kind = last.kind
            if kind is MOVE or kind is CONVOYED_MOVE:
                self._read_move(province, last)
            elif kind is SUPPORT_MOVE or kind is SUPPORT_HOLD:
                supports.append((province, last))
            elif kind is CONVOY:
                convoys.append((province, last))
        if supports:
            self._read_supports(supports)
        if convoys:
            self._read_convoys(convoys)

    def _accept(self, orders: Mapping[int, Sequence[Order]]) -> None:
        """Keep the last order of each unit; reject those that are for no unit of their power."""
        province_of, unit_at, accepted = self.board.province_of, self.unit_at, self.orders
        for power, given in orders.items():
            for order in given:
                location = order.location
                province = province_of[location]
                unit = unit_at[province]
                kind = order.kind
                if unit is None or unit.power != power or kind > CONVOY:
                    missing = Void.NO_UNIT if unit is None else Void.FOREIGN_UNIT
                    self.rejected.append((power, order, Void.OTHER_PHASE if kind > CONVOY else missing))
                    continue
                if unit.location != location:
                    if not self.choices.lenient_coasts:
                        self.rejected.append((power, order, Void.OTHER_COAST))
                        continue
                    order = order._replace(location=unit.location)
                earlier = accepted[province]
                if earlier is not None:
                    self.rejected.append((power, earlier, Void.REPLACED))
                accepted[province] = order

    def _read_move(self, province: int, order: Order) -> None:
        board = self.board
        unit = self.unit_at[province]
        assert unit is not None
        location = order.target
        if order.kind is CONVOYED_MOVE or location not in board.reach[unit.kind][unit.location]:
            fitted = (
                self._fit_army(unit, order) if unit.kind is UnitKind.ARMY else self._fit_fleet(unit, order)
            )
            if isinstance(fitted, Void):
                self.void[province] = fitted
                return
            location, self.way[province] = fitted
            if location != order.target:
                self.orders[province] = order._replace(target=location)
        target = board.province_of[location]
        self.destination[province] = target
        rivals = self.attackers.get(target)
        if rivals is None:
            self.attackers[target] = [province]
        else:
            rivals.append(province)

    def _fit_army(self, unit: Unit, order: Order) -> tuple[int, Way] | Void:
        """Where and how an army goes that is ordered by convoy, too far to walk, or to a coast."""
        board = self.board
        province, target = board.province_of[unit.location], board.province_of[order.target]
        location = board.main_location[target]
        if target == province:
            return Void.ITSELF
        if location != order.target and not self.choices.lenient_coasts:
            return Void.OUT_OF_REACH
        by_land = location in board.reach[unit.kind][unit.location]
        if by_land and order.kind is MOVE:
            return location, Way.LAND
        land_route_left = by_land and self.choices.land_route_left
        if are_linked(board, province, target, self.fleets):
            return location, Way.SEA_OR_LAND if land_route_left else Way.SEA
        if land_route_left:
            return location, Way.LAND
        return Void.NO_ROUTE if board.sea_access[target] else Void.OUT_OF_REACH

    def _fit_fleet(self, unit: Unit, order: Order) -> tuple[int, Way] | Void:
        """Where a fleet goes whose target is not a place that it reaches: a coast may be missing."""
        board = self.board
        target = board.province_of[order.target]
        if target == board.province_of[unit.location]:
            return Void.ITSELF
        fitting = [
            place for place in board.reach[unit.kind][unit.location] if board.province_of[place] == target
        ]
        if not fitting or order.target != board.main_location[target] or order.kind is CONVOYED_MOVE:
            return Void.OUT_OF_REACH
        if len(fitting) > 1 or not self.choices.lenient_coasts:
            return Void.COAST_MISSING
        return fitting[0], Way.LAND

    def _read_supports(self, supports: list[tuple[int, Order]]) -> None:
        board, destination, unit_at, orders = self.board, self.destination, self.unit_at, self.orders
        province_of, mains = board.province_of, board.main_location
        reach_mask = board.reach_mask
        for province, order in supports:
            unit = unit_at[province]
            assert unit is not None
            target = province_of[order.target]
            if not reach_mask[unit.kind][unit.location] >> target & 1:
                self.void[province] = Void.ITSELF if target == province else Void.SUPPORT_OUT_OF_REACH
            elif order.kind is SUPPORT_HOLD:
                if unit_at[target] is None:
                    self.void[province] = Void.NOBODY_THERE
                elif destination[target] >= 0:
                    self.void[province] = Void.SUPPORTED_MOVES
                else:
                    self.hold_supports.setdefault(target, []).append(province)
            else:
                source = order.source
                if destination[source] != target:
                    self.void[province] = Void.NOT_ORDERED_SO if unit_at[source] else Void.NOBODY_THERE
                    continue
                if order.target != mains[target]:
                    supported = orders[source]
                    assert supported is not None
                    if supported.target != order.target:
                        self.void[province] = Void.NOT_ORDERED_SO
                        continue
                self.move_supports.setdefault(source, []).append(province)

    def _read_convoys(self, convoys: list[tuple[int, Order]]) -> None:
        board, destination, unit_at = self.board, self.destination, self.unit_at
        adjacent = self.choices.adjacent_convoy
        intended: set[int] = set()
        for province, order in convoys:
            source, target = order.source, board.province_of[order.target]
            army = unit_at[source]
            if not self.fleets >> province & 1:
                self.void[province] = Void.NO_CONVOYER
            elif army is None:
                self.void[province] = Void.NOBODY_THERE
            elif army.kind is not UnitKind.ARMY or destination[source] != target:
                self.void[province] = Void.NOT_ORDERED_SO
            else:
                if self.way[source] is Way.LAND:
                    if adjacent is AdjacentConvoy.EXPLICIT or not are_linked(
                        board, source, target, self.fleets
                    ):
                        self.void[province] = Void.NOT_ORDERED_SO
                        continue
                    near = fleets_reached(board, 1 << province, self.fleets)
                    possible = near & board.sea_access[source] and near & board.sea_access[target]
                    if adjacent is AdjacentConvoy.INTENT and not needs_fleet(board, source, target, province):
                        self.void[province] = Void.NOT_NEEDED
                        continue
                    if possible and (
                        adjacent is AdjacentConvoy.ANY_FLEET or self.owner[province] == army.power
                    ):
                        intended.add(source)
                self.convoyers[source] = self.convoyers.get(source, 0) | 1 << province
        for source in intended:
            self.way[source] = Way.SEA_OR_LAND if self.choices.unsaid_land_route_left else Way.SEA


UNRESOLVED: Final = 0
GUESSING: Final = 1
RESOLVED: Final = 2


class Movement(MovementOrders):
    """The orders of one phase of moves, resolved; provinces name the units that began in them."""

    def __init__(
        self, board: Map, units: Sequence[Unit], orders: Mapping[int, Sequence[Order]], choices: Choices
    ) -> None:
        super().__init__(board, units, orders, choices)
        size = len(board.codes)
        self.disrupted_by_paradox: set[int] = set()
        self._state = [UNRESOLVED] * (2 * size)
        self._resolution = [False] * (2 * size)
        self._dependencies: list[int] = []
        self._resolve_all()

    def _resolve_all(self) -> None:
        attackers, owner, way = self.attackers, self.owner, self.way
        state, resolution = self._state, self._resolution
        for target, sources in attackers.items():
            if len(sources) == 1 and owner[target] < 0 and way[sources[0]] is Way.LAND:
                state[sources[0]] = RESOLVED
                resolution[sources[0]] = True
        for source in self._front_first():
            if state[source] != RESOLVED:
                self.succeeds(source)

    def _front_first(self) -> list[int]:
        """Where the moves begin, each after the move of the unit that it follows, but for circles.

        So a long file of units is resolved step by step, and not in as many nested calls.
        """
        attackers, destination = self.attackers, self.destination
        ordered = [
            source for target, sources in attackers.items() if destination[target] < 0 for source in sources
        ]
        for source in ordered:
            ordered += attackers.get(source, ())
        if len(ordered) < sum(map(len, attackers.values())):
            known = set(ordered)
            ordered += [source for sources in attackers.values() for source in sources if source not in known]
        return ordered

    def succeeds(self, node: int) -> bool:
        """Whether the move from a province succeeds; for province + number of provinces, a fleet's convoy."""
        state, resolution, dependencies = self._state, self._resolution, self._dependencies
        known = state[node]
        if known == RESOLVED:
            return resolution[node]
        if known == GUESSING:
            if node not in dependencies:
                dependencies.append(node)
            return resolution[node]
        before = len(dependencies)
        resolution[node] = False
        state[node] = GUESSING
        first = self._decide(node)
        if len(dependencies) == before:
            if state[node] != RESOLVED:
                resolution[node] = first
                state[node] = RESOLVED
            return resolution[node]
        if dependencies[before] != node:
            dependencies.append(node)
            resolution[node] = first
            return first
        self._forget(before)
        resolution[node] = True
        state[node] = GUESSING
        second = self._decide(node)
        if first == second:
            self._forget(before)
            resolution[node] = first
            state[node] = RESOLVED
            return first
        self._break_circle(before)
        return self.succeeds(node)

    def _forget(self, before: int) -> None:
        for node in self._dependencies[before:]:
            self._state[node] = UNRESOLVED
        del self._dependencies[before:]

    def _break_circle(self, before: int) -> None:
        circle = self._dependencies[before:]
        self._forget(before)
        size = len(self.board.codes)
        convoys = [node for node in circle if node >= size]
        for node in convoys or circle:
            self._state[node] = RESOLVED
            self._resolution[node] = not convoys
        self.disrupted_by_paradox.update(node - size for node in convoys)

    def _decide(self, node: int) -> bool:
        if node >= len(self.board.codes):
            return not self.dislodged(node - len(self.board.codes))
        return self._decide_move(node)

    def _decide_move(self, source: int) -> bool:  # noqa: C901 - hot: each strength only where it decides
        destination, owner = self.destination, self.owner
        target = destination[source]
        if self.way[source] is Way.SEA and not self.has_convoy(source):
            return False
        supports = self.move_supports.get(source)
        defender = owner[target]
        attack = 0
        if defender >= 0:
            against = self.is_head_to_head(source)
            if against or destination[target] < 0 or not self.succeeds(target):
                if defender == owner[source]:
                    return False
                attack = 1
                if supports:
                    attack += sum(owner[by] != defender and self.is_given(by) for by in supports)
                if attack == 1:
                    return False
                if against:
                    helpers = self.move_supports.get(target)
                elif destination[target] < 0:
                    helpers = self.hold_supports.get(target)
                else:
                    helpers = None
                if helpers and attack <= 1 + sum(self.is_given(by) for by in helpers):
                    return False
        rivals = self.attackers[target]
        if len(rivals) > 1:
            if not attack:
                attack = 1
                if supports:
                    attack += sum(self.is_given(by) for by in supports)
            for rival in rivals:
                if rival != source and attack <= self.prevent_strength(rival, attack):
                    return False
        return True

    def prevent_strength(self, source: int, enough: int) -> int:
        """With what strength a move keeps others out of where it goes; no more than `enough` is counted."""
        supports = self.move_supports.get(source, ())
        if 1 + len(supports) < enough:
            return 1 + len(supports)
        if self.way[source] is Way.SEA and not self.has_convoy(source):
            return 0
        if self.is_head_to_head(source) and self.succeeds(self.destination[source]):
            return 0
        return 1 + sum(self.is_given(by) for by in supports)

    def is_head_to_head(self, source: int) -> bool:
        """Whether two units move to each other's provinces, neither by sea."""
        target = self.destination[source]
        return self.destination[target] == source and not self.by_sea(source) and not self.by_sea(target)

    def by_sea(self, source: int) -> bool:
        """Whether a move goes by convoy."""
        way = self.way[source]
        return way is not Way.LAND and (way is Way.SEA or self.has_convoy(source))

    def is_given(self, supporter: int) -> bool:
        """Whether a support that is not void is not cut."""
        return self.cut_by(supporter) < 0

    def cut_by(self, supporter: int) -> int:
        """From which province a support is cut; NOBODY if it is not."""
        attacks = self.attackers.get(supporter)
        if not attacks:
            return NOBODY
        order = self.orders[supporter]
        assert order is not None
        into = self.board.province_of[order.target] if order.kind is SUPPORT_MOVE else NOBODY
        own = self.owner[supporter]
        for source in attacks:
            if self.owner[source] == own:
                continue
            if source == into:
                if self.succeeds(source):
                    return source
            elif self.way[source] is not Way.SEA or self.has_convoy(source):
                return source
        return NOBODY

    def dislodged(self, province: int) -> bool:
        """Whether a unit that does not move away is dislodged."""
        return self.dislodged_by(province) >= 0

    def dislodged_by(self, province: int) -> int:
        """From where a unit that does not move away is dislodged; NOBODY if it is not."""
        for source in self.attackers.get(province, ()):
            if self.succeeds(source):
                return source
        return NOBODY

    def has_convoy(self, source: int) -> bool:
        """Whether fleets that are ordered to, and not dislodged, make a chain for a move."""
        board, target = self.board, self.destination[source]
        fleets = self.convoyers.get(source, 0)
        if not are_linked(board, source, target, fleets):
            return False
        safe = attacked = 0
        rest = fleets
        while rest:
            low = rest & -rest
            rest ^= low
            if low.bit_length() - 1 in self.attackers:
                attacked |= low
            else:
                safe |= low
        if not attacked or are_linked(board, source, target, safe):
            return True
        while attacked:
            low = attacked & -attacked
            attacked ^= low
            if self.succeeds(low.bit_length() - 1 + len(board.codes)):
                safe |= low
                if are_linked(board, source, target, safe):
                    return True
            else:
                fleets ^= low
                if not are_linked(board, source, target, fleets):
                    return False
        return False
