"""A bot that gives legal orders at random: the yardstick for all others."""

from typing import ClassVar

from clients.bots.diplomacy.bot import Bot
from referees.diplomacy import Order, Phase, Position, adjustment, legal_orders


class RandomBot(Bot):
    """For each unit any of its legal orders, all as likely; builds and removals in any places."""

    name: ClassVar[str] = "random"

    def orders(self, position: Position, power: int) -> list[Order]:
        """One legal order for each unit, or as many builds or removals as are due."""
        chosen = [self.chance.choice(orders) for orders in legal_orders(position, power).values()]
        if position.phase is Phase.BUILDS:
            return self.chance.sample(chosen, abs(adjustment(position, power)))
        return chosen
