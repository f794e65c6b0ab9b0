"""The games of the experiment, who learns in them, and who is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clients.bots.strength import Method, Strength
from referees.api import Referee, referee

# Seeds and populations: the series of the tables, newest first, and the one by which the player was tuned.
FINAL: Final = "final-3"
MEASURED: Final = (FINAL, "tuning", "final-2")
SERIES: Final = (FINAL, "tuning")
# What the players of a match may have the same of: time, or playouts (plies for alpha-beta).
EQUAL: Final = ("time", "playouts")
# Raised whenever the player decides otherwise than before by the same seeds: results of one player are not
# to be counted together with another's.
PLAYER: Final = 6


@dataclass(frozen=True)
class School:
    """The strengths of the players that ACADEMY learns from, and of the one that is measured.

    Strengths are playouts a move, or plies for alpha-beta.
    """

    population: tuple[int, ...]
    student: int


@dataclass(frozen=True)
class Trial:
    """One game, and its players: those of the final series, and others by which the player was tuned."""

    title: str
    game: str
    settings: Mapping[str, object]
    final: School
    tuning: School
    # Processor time a move, for both players of a match at equal time: half as much thought as that of
    # the population's strongest, or less; but a question about patterns fits into the second half of it.
    seconds: float
    # Contests learnt from where it is measured; the ablations after the last of them.
    checkpoints: tuple[int, ...]
    method: Method = field(default="monte-carlo")

    def referee(self) -> Referee[Any, Any]:
        """The rules."""
        return referee(self.game).from_settings(self.settings)

    def school(self, series: str) -> School:
        """The players of one of `SERIES`."""
        return self.tuning if series == "tuning" else self.final

    def strength(self, level: int) -> Strength:
        """A player of the given playouts or plies."""
        if self.method == "alpha-beta":
            return Strength("alpha-beta", depth=level)
        return Strength("monte-carlo", playouts=level)

    def level(self, level: int) -> str:
        """What a player of a strength has a move, in words."""
        if self.method == "alpha-beta":
            return f"{level} {'ply' if level == 1 else 'plies'}"
        return f"{level} playouts"

    def a_move(self, equal: str, series: str) -> str:
        """What both players of a match have for a move, in words; `equal` is one of `EQUAL`."""
        return f"{1000 * self.seconds:g} ms" if equal == "time" else self.level(self.school(series).student)

    def timed(self, clock: Callable[[], float]) -> Strength:
        """A player who has the time of a move by a clock."""
        return Strength(self.method, seconds=self.seconds, clock=clock)


TRIALS: Final = {
    "connect-four": Trial(
        "Connect four",
        "openspiel",
        {"game": "connect_four"},
        School((10, 10, 50, 50, 200, 200, 400, 400), 200),
        School((8, 8, 40, 40, 160, 160, 320, 320), 8),
        0.008,
        (200, 626, 2000),
    ),
    "hex": Trial(
        "Hex 7x7",
        "hex",
        {"board_size": 7},
        School((10, 10, 40, 40, 120, 120, 240, 240), 120),
        School((8, 8, 32, 32, 100, 100, 200, 200), 8),
        0.036,
        (100, 300, 1000),
    ),
    "othello": Trial(
        "Othello 8x8",
        "openspiel",
        {"game": "othello"},
        School((10, 10, 40, 40, 120, 120), 40),
        School((8, 8, 30, 30, 100, 100), 8),
        0.01,
        (50, 171, 500),
    ),
    "draughts": Trial(
        "English draughts",
        "draughts",
        {"variant": "english"},
        School((1, 1, 2, 2, 3, 3, 4, 4), 1),
        School((1, 1, 2, 2, 3, 3), 2),
        0.008,
        (200,),
        method="alpha-beta",
    ),
    "go": Trial(
        "Go 9x9",
        "go",
        {"board_size": 9, "komi": 7.5},
        School((10, 10, 30, 30, 80, 80), 30),
        School((8, 8, 24, 24, 64, 64), 8),
        0.016,
        (100,),
    ),
}
