"""When a void game is tried again, and when void games stop a run.

The rules of Gomill's ringmaster. Tournaments, by matchup: a void game before the matchup's first
completed game of the run stops the run, since its players probably never work. Afterwards the first
void game is tried again at once, and a second one with no completed game in between stops the run.

Monte Carlo tuner: the same, with all games as one matchup, but the void game is not tried again.
Cross-entropy tuner: a void game before the first completed game of the run stops the run; afterwards
every game is tried a second time, and stops the run if it is void again.

Those are the rules of one forgiven void game; any number of them can be forgiven instead, and from the first
game of the run on. What stops a run by these rules may instead end the matchup, or lose the game for the
player at fault (`on_void` of a control file): the competition sees to that.
"""

from collections import Counter
from enum import Enum


class VoidPolicy(Enum):
    """Which games are judged together, and whether a void one is tried again."""

    BY_MATCHUP = "by matchup"
    DROP = "drop"
    RETRY_GAME = "retry game"


class Sequel(Enum):
    """What follows from a void game."""

    RETRY = "it is played again at once"
    PUT_OFF = "it is played again when another game of its player has ended"
    DROP = "it is forgotten"
    FORFEIT = "its player loses it"
    LEAVE_OUT = "its player is left out of the competition"
    SKIP = "its matchup is left out of the competition"
    HALT = "the run stops"


class VoidRules:
    """Counts the void games of one run; `forgiven` is how many in a row do not stop it.

    Without `from_first`, void games are forgiven after a completed one only.
    """

    def __init__(
        self, policy: VoidPolicy = VoidPolicy.BY_MATCHUP, forgiven: int = 1, *, from_first: bool = False
    ) -> None:
        self._policy = policy
        self._forgiven = forgiven
        self._left: dict[str, int] = {}
        self._before_first = forgiven if from_first else 0
        self._any_completed = from_first
        self._retries: Counter[str] = Counter()

    def completed(self, matchup: str) -> None:
        """Note a completed game: the matchup may have a void game again."""
        self._any_completed = True
        self._left[matchup] = self._forgiven

    def void(self, matchup: str, game_id: str = "") -> Sequel:
        """Note a void game, which is tried again or dropped, or stops the run."""
        if self._policy is VoidPolicy.RETRY_GAME:
            if not self._any_completed or self._retries[game_id] >= self._forgiven:
                return Sequel.HALT
            self._retries[game_id] += 1
            return Sequel.RETRY
        left = self._left.get(matchup, self._before_first)
        if not left:
            return Sequel.HALT
        self._left[matchup] = left - 1
        return Sequel.DROP if self._policy is VoidPolicy.DROP else Sequel.RETRY
