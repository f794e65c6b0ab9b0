"""Time for the moves of a contest: what one of them leaves over, later ones may have."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

# A move gets this share of what was saved, and after dear moves no less than this share of its usual time.
SPENT_AT_ONCE: Final = 0.25
LEAST: Final = 0.5


@dataclass
class TimeBank:
    """A player's time by some clock: `seconds` for each move, on the average.

    Moves that a book recommends need no search; what they leave over makes the next searches longer. A
    question that takes long makes them shorter.
    """

    seconds: float
    clock: Callable[[], float]
    saved: float = 0.0
    _began: float = field(default=0.0, init=False)

    def begin(self) -> float:
        """Begin a move, and return the seconds to search for it."""
        self._began = self.clock()
        return max(LEAST * self.seconds, self.seconds + SPENT_AT_ONCE * self.saved)

    def end(self) -> None:
        """End the move: what it left over is saved, and what it took too long is owed."""
        self.saved += self.seconds - (self.clock() - self._began)
