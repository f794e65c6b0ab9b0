"""The bots as policies of the shape that DeepMind's agents have.

`arena` plays them with `protocol = "policy"` and `command = "clients.bots.diplomacy.policy:BotPolicy"`, and
so does any runner of `google-deepmind/diplomacy`.
"""

from collections.abc import Sequence

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import bot
from referees.diplomacy import shipped_map
from referees.diplomacy.deepmind import Observation, Season, action_of
from referees.diplomacy.deepmind.observation import position_of

FIRST_YEAR = shipped_map("standard").first_year


class BotPolicy:
    """Plays any number of slots, each with a bot of its own. It must be called for every phase in order."""

    def __init__(self, name: str = "tactical", seed: int = 0) -> None:
        """Take a bot by its name: `hold`, `random` or `tactical`. Raises UnknownBotError."""
        bot(name)
        self._name = name
        self._seed = seed
        self._games = 0
        self.reset()

    def __str__(self) -> str:
        return self._name

    def reset(self) -> None:
        """Begin a game."""
        self._games += 1
        self._year = FIRST_YEAR
        self._season: int | None = None
        self._bots: dict[int, Bot] = {}

    def actions(
        self,
        slots_list: Sequence[int],
        observation: Observation,
        legal_actions: Sequence[Sequence[int]],
    ) -> tuple[list[list[int]], None]:
        """The actions of each slot, and nothing else about them."""
        season = int(observation.season.value)
        if season == Season.SPRING_MOVES.value and self._season is not None:
            self._year += 1
        self._season = season
        position = position_of(observation, legal_actions, self._year)
        return [
            [action_of(order) for order in self._bot(slot).orders(position, slot)] for slot in slots_list
        ], None

    def _bot(self, slot: int) -> Bot:
        if slot not in self._bots:
            self._bots[slot] = bot(self._name, f"{self._seed}/{self._games}/{slot}")
        return self._bots[slot]
