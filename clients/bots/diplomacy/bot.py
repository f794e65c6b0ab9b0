"""What every bot for Diplomacy does, and the two simplest: one never moves, one orders at random."""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from referees.diplomacy import WAIVE, Order, OrderKind, Phase, Position, adjustment, legal_orders


class Bot(ABC):
    """The player of one power in one game, asked phase by phase; all of its chance is `chance`.

    `wishes` is what an advisor thinks of the next moves, for bots that use it: from -1 to 1, by the
    provinces from which and to which a unit would go.
    """

    name: ClassVar[str]

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.wishes: Mapping[tuple[int, int], float] = {}

    @abstractmethod
    def orders(self, position: Position, power: int) -> list[Order]:
        """The power's orders for the position's phase: legal ones, one for each unit or adjustment due.

        Builds that it does not want are waived. Nothing is given where the power has nothing to order.
        """

    def draws(self, position: Position, power: int) -> bool:
        """Whether it would now end the game with a draw of all survivors. Asked in phases of moves."""
        return False


class HoldBot(Bot):
    """Holds, disbands what is dislodged, waives its builds, and removes its first units."""

    name: ClassVar[str] = "hold"

    def orders(self, position: Position, power: int) -> list[Order]:
        """Hold, disband, waive or remove."""
        if position.phase is Phase.MOVES:
            return [Order(OrderKind.HOLD, unit.location) for unit in position.units_of(power)]
        if position.phase is Phase.RETREATS:
            dislodged = [entry.unit for entry in position.dislodged]
            return [Order(OrderKind.DISBAND, unit.location) for unit in dislodged if unit.power == power]
        due = adjustment(position, power)
        if due > 0:
            return [WAIVE] * due
        return [Order(OrderKind.REMOVE, unit.location) for unit in position.units_of(power)[:-due]]

    def draws(self, position: Position, power: int) -> bool:
        """Always: it has nothing to gain by playing on."""
        return True


class RandomBot(Bot):
    """For each unit any of its legal orders, all as likely; builds and removals in any places."""

    name: ClassVar[str] = "random"

    def orders(self, position: Position, power: int) -> list[Order]:
        """One legal order for each unit, or as many builds or removals as are due."""
        chosen = [self.chance.choice(orders) for orders in legal_orders(position, power).values()]
        if position.phase is Phase.BUILDS:
            return self.chance.sample(chosen, abs(adjustment(position, power)))
        return chosen
