"""Bots that take ACADEMY's counsel, as Python players of the arena.

`command = "clients.bots.diplomacy.counselled:tactical"`: known openings first, then the bot's own orders.
"""

import random
from collections.abc import Mapping
from functools import partial

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import bot
from clients.bots.diplomacy.counsel import DiplomacyAdvisor, expected_value
from clients.bots.diplomacy.in_process import WrongGameError, written
from referees.diplomacy import Diplomacy
from referees.diplomacy.game import GamePosition


class Counselled:
    """A Python player: a bot and its seat at ACADEMY, which hears what was played."""

    def __init__(self, seat: int, player: Bot, counsel: DiplomacyAdvisor) -> None:
        self._power = seat - 1
        self._bot = player
        self._counsel = counsel
        self.told, self.ended = counsel.played, counsel.finish

    def __call__(self, view: GamePosition) -> tuple[str, float]:
        """Orders as text, and what the power expects with them."""
        value = expected_value(view.position, self._power)
        orders = self._counsel.opening(view)
        if orders is None:
            self._bot.wishes = self._counsel.wishes(view, value)
            orders = written(view, self._power, self._bot)
        self._counsel.gave(view, orders, value)
        return orders.text, value


def _counselled(
    name: str, referee: Diplomacy, seat: int, seed: int, environment: Mapping[str, str]
) -> Counselled:
    if not isinstance(referee, Diplomacy):
        raise WrongGameError(f"the game {referee.name!r}: these bots play Diplomacy")
    # Powers do not share their chance.
    own_seed = f"{seed}/{seat}"
    counsel = DiplomacyAdvisor.from_environment(referee, seat, environment, random.Random(own_seed))
    return Counselled(seat, bot(name, own_seed), counsel)


random_legal, tactical = (partial(_counselled, name) for name in ("random", "tactical"))
