"""When a void game is tried again, and when void games stop a run.

The rules of Gomill's ringmaster. Tournaments, by matchup: a void game before the matchup's first
completed game of the run stops the run, since its players probably never work. Afterwards the first
void game is tried again at once, and a second one with no completed game in between stops the run.

Monte Carlo tuner: the same, with all games as one matchup, but the void game is not tried again.
Cross-entropy tuner: a void game before the first completed game of the run stops the run; afterwards
every game is tried a second time, and stops the run if it is void again.
"""

from enum import Enum


class VoidPolicy(Enum):
    """Which games are judged together, and whether a void one is tried again."""

    BY_MATCHUP = "by matchup"
    DROP = "drop"
    RETRY_GAME = "retry game"


class VoidVerdict(Enum):
    """What follows from a void game."""

    RETRY = "retry"
    DROP = "drop"
    HALT = "halt"


class VoidRules:
    """Counts the void games of one run."""

    def __init__(self, policy: VoidPolicy = VoidPolicy.BY_MATCHUP) -> None:
        self._policy = policy
        self._trusted: set[str] = set()
        self._any_completed = False
        self._retried: set[str] = set()

    def completed(self, matchup: str) -> None:
        """Note a completed game: the matchup may have a void game again."""
        self._any_completed = True
        self._trusted.add(matchup)

    def void(self, matchup: str, game_id: str = "") -> VoidVerdict:
        """Note a void game."""
        match self._policy:
            case VoidPolicy.RETRY_GAME:
                if not self._any_completed or game_id in self._retried:
                    return VoidVerdict.HALT
                self._retried.add(game_id)
                return VoidVerdict.RETRY
            case VoidPolicy.BY_MATCHUP:
                verdict = VoidVerdict.RETRY
            case VoidPolicy.DROP:
                verdict = VoidVerdict.DROP
        if matchup not in self._trusted:
            return VoidVerdict.HALT
        self._trusted.discard(matchup)
        return verdict
