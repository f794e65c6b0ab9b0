"""The games of the experiment, who learns in them, and who is measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clients.bots.strength import Method, Strength
from referees.api import Referee, referee


@dataclass(frozen=True)
class Trial:
    """One game: its rules, the strengths of the players that ACADEMY learns from, and the one measured.

    Strengths are playouts a move, or plies for alpha-beta.
    """

    title: str
    game: str
    settings: Mapping[str, object]
    population: tuple[int, ...]
    student: int
    method: Method = "monte-carlo"
    tuned: int = field(default=0)

    def referee(self) -> Referee[Any, Any]:
        """The rules."""
        return referee(self.game).from_settings(self.settings)

    def strength(self, level: int) -> Strength:
        """A player of so many playouts or plies."""
        if self.method == "alpha-beta":
            return Strength("alpha-beta", depth=level)
        return Strength("monte-carlo", playouts=level)


TRIALS: Final = {
    "connect-four": Trial(
        "Connect four", "openspiel", {"game": "connect_four"}, (6, 12, 24, 48), student=24, tuned=16
    ),
    "hex": Trial("Hex 7x7", "hex", {"board_size": 7}, (6, 12, 24, 48), student=24, tuned=16),
    "othello": Trial("Othello 8x8", "openspiel", {"game": "othello"}, (6, 12, 24), student=12, tuned=8),
    "draughts": Trial(
        "English draughts",
        "draughts",
        {"variant": "english"},
        (1, 2, 3),
        student=2,
        method="alpha-beta",
        tuned=1,
    ),
    "go": Trial("Go 9x9", "go", {"board_size": 9, "komi": 7.5}, (6, 12, 24), student=12, tuned=8),
}
