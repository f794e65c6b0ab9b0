"""A bot that fights: it goes where most can be won, supports its attacks, and guards what it has."""

import random
from typing import ClassVar, Final

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.front import front
from clients.bots.diplomacy.plan import Plan
from clients.bots.diplomacy.province_values import Worth, worth_of
from referees.diplomacy import WAIVE, Order, OrderKind, Phase, Position, UnitKind, adjustment, legal_orders
from referees.diplomacy.game import centre_counts

NOISE: Final = 0.1
MIX: Final = 0.6
# After so many years in which nobody won or lost a centre it would draw.
QUIET_YEARS: Final = 3


class TacticalBot(Bot):
    """Values provinces, plans moves with their supports and convoys, retreats and builds to where it counts.

    It looks one phase ahead and trusts nobody.
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
                noise = self.chance.uniform(1 - NOISE, 1 + NOISE)
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
        """Whether nobody's number of centres has changed for some years."""
        counts = centre_counts(position)
        if counts != self._counts:
            self._counts, self._quiet_since = counts, position.year
        return position.year - self._quiet_since >= QUIET_YEARS
