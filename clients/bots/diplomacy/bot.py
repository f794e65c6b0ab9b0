"""What every bot for Diplomacy does, whatever door it comes to a game by."""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from referees.diplomacy import Order, Position


class Bot(ABC):
    """The player of one power in one game, asked phase by phase; all of its chance is `chance`.

    `wishes` is what a counsellor thinks of the next moves, for bots that heed it: from -1 to 1, by the
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
