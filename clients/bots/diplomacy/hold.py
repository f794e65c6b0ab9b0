"""A bot that never moves: the least that an opponent can be."""

from typing import ClassVar

from clients.bots.diplomacy.bot import Bot
from referees.diplomacy import WAIVE, Order, OrderKind, Phase, Position, adjustment


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
