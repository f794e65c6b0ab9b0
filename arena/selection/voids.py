"""When a void game is tried again, and when void games stop a run.

Gomill's rules for tournaments, by matchup: a void game before the matchup's first completed game
of the run stops the run, since its players probably never work. Afterwards the first void game is
tried again at once, and a second one with no completed game in between stops the run.
"""

from enum import Enum


class VoidVerdict(Enum):
    """What follows from a void game."""

    RETRY = "retry"
    HALT = "halt"


class VoidRules:
    """Counts the void games of one run."""

    def __init__(self) -> None:
        self._trusted: set[str] = set()

    def completed(self, matchup: str) -> None:
        """Note a completed game: the matchup may have a void game again."""
        self._trusted.add(matchup)

    def void(self, matchup: str) -> VoidVerdict:
        """Note a void game."""
        if matchup not in self._trusted:
            return VoidVerdict.HALT
        self._trusted.discard(matchup)
        return VoidVerdict.RETRY
