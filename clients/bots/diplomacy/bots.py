"""The bots by name."""

import random
from typing import Final

from clients.bots.diplomacy.bot import Bot, HoldBot, RandomBot
from clients.bots.diplomacy.tactical import TacticalBot

BOTS: Final[dict[str, type[Bot]]] = {bot.name: bot for bot in (HoldBot, RandomBot, TacticalBot)}


class UnknownBotError(ValueError):
    """A name that no bot for Diplomacy has."""


def bot(name: str, seed: int | str | None = None) -> Bot:
    """A bot for one power in one game, which repeats with its seed. Raises UnknownBotError."""
    if name not in BOTS:
        raise UnknownBotError(f"no bot {name[:40]!r}; there are {', '.join(BOTS)}")
    return BOTS[name](random.Random(seed))
