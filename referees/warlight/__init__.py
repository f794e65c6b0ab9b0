"""WarLight: maps, rules, records and the dialogues of its bots; `WarLight` is the referee."""

from referees.warlight.orders import AttackTransfer, Deploy, Orders
from referees.warlight.position import WarPosition
from referees.warlight.rules import WarLight
from referees.warlight.settings import WarSettings

__all__ = ["AttackTransfer", "Deploy", "Orders", "WarLight", "WarPosition", "WarSettings"]
