"""The games of the study, who learns in them, and who is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from clients.bots.strength import Method, Strength
from referees.api import Referee, referee
from research.learning.gnu_go import GnuGo

# All seeds begin with the name of the study: another is another study, with contests and matches of its own.
# The player's number is raised whenever it decides otherwise than before by the same seeds, and is never used
# again: results of one player must not be counted together with another's.
# Rows of earlier ones stand in the table until the present study and player have them.
EDITIONS: Final = (
    ("study-4", 8),
    ("study-5", 8),
    ("study-5", 12),
    ("study-5", 13),
    ("study-5", 14),
    ("study-5", 15),
    ("study-5", 16),
)
STUDY, PLAYER = EDITIONS[-1]
# What is claimed of a game is measured with the contests of two populations.
POPULATIONS: Final = ("first", "second")

# Playouts, plies, or another program.
Level = int | GnuGo


@dataclass(frozen=True)
class Analysis:
    """How many of the most visited nodes an analyst searches, and by how many playouts."""

    nodes: int
    playouts: int


@dataclass(frozen=True)
class Trial:
    """One game, its players and what is measured in it.

    Levels are playouts a move, or plies for alpha-beta, or those of a program beside the project. `levels`
    are those of the population, the weakest first; `student` is about as strong as the player measured.
    """

    title: str
    game: str
    settings: Mapping[str, object]
    levels: tuple[Level, ...]
    student: int
    # Processor time a move, on the average, for both players of a match.
    seconds: float
    # How many contests ACADEMY learns from.
    contests: int
    conditions: tuple[str, ...]
    analysis: Analysis | None = None
    # How many patterns the evaluation has, in conditions where it has any.
    evaluation_patterns: int = 5_000
    method: Method = "monte-carlo"
    # Another trial, whose population and contests teach here too.
    contests_of: str | None = None

    def referee(self) -> Referee[Any, Any]:
        """The rules."""
        return referee(self.game).from_settings(self.settings)

    def strength(self, level: Level) -> Strength | GnuGo:
        """A player of the given level."""
        return self.search(level) if isinstance(level, int) else level

    def search(self, level: int) -> Strength:
        """A player of the given playouts or plies."""
        if self.method == "alpha-beta":
            return Strength("alpha-beta", depth=level)
        return Strength("monte-carlo", playouts=level)

    @property
    def a_move(self) -> str:
        """What both players of a match have for a move, in words."""
        return f"{1000 * self.seconds:g} ms"

    def timed(self, clock: Callable[[], float]) -> Strength:
        """A player who has the time of a move by a clock."""
        return Strength(self.method, seconds=self.seconds, clock=clock)


TRIALS: Final = {
    "connect-four": Trial(
        "Connect four",
        "openspiel",
        {"game": "connect_four"},
        levels=(10, 10, 50, 50, 200, 200, 400, 400),
        student=200,
        seconds=0.008,
        contests=1_200,
        conditions=(
            "everything-remembered",
            "remembered",
            "remembered-own",
            "remembered-silent",
            "no-openings",
            "defaults",
            "everything",
            "shared",
            "openings",
            "own",
            "open",
            "open-evaluated",
            "open-own",
        ),
        analysis=Analysis(1_000, 4_000),
    ),
    # On a machine where 8 ms are some 280 playouts, the teachers above are hardly stronger than the player
    # measured.
    "connect-four-1200": Trial(
        "Connect four, teachers of up to 1,200 playouts",
        "openspiel",
        {"game": "connect_four"},
        levels=(30, 30, 120, 120, 400, 400, 1_200, 1_200),
        student=400,
        seconds=0.008,
        contests=1_200,
        conditions=("remembered", "everything-remembered", "defaults"),
        analysis=Analysis(1_000, 12_000),
    ),
    # Everybody has about twelve times the time of the first trial, so there are fewer contests.
    "connect-four-100ms": Trial(
        "Connect four",
        "openspiel",
        {"game": "connect_four"},
        levels=(100, 100, 500, 500, 2_000, 2_000, 4_000, 4_000),
        student=2_000,
        seconds=0.1,
        contests=400,
        conditions=("remembered", "everything-remembered", "shared"),
        analysis=Analysis(400, 40_000),
    ),
    "hex": Trial(
        "Hex 7x7",
        "hex",
        {"board_size": 7},
        levels=(10, 10, 40, 40, 120, 120, 240, 240),
        student=120,
        seconds=0.036,
        contests=1_000,
        conditions=("everything-remembered", "everything", "shared", "openings", "own", "open", "open-own"),
        analysis=Analysis(1_000, 2_000),
    ),
    # On a machine where 36 ms are some 320 playouts, the player measured is as strong as the best of the
    # teachers above.
    "hex-720": Trial(
        "Hex 7x7, teachers of up to 720 playouts",
        "hex",
        {"board_size": 7},
        levels=(30, 30, 120, 120, 360, 360, 720, 720),
        student=360,
        seconds=0.036,
        contests=1_000,
        conditions=("openings", "remembered", "everything-remembered", "open", "open-evaluated"),
        analysis=Analysis(1_000, 6_000),
    ),
    # Everybody has about three times the time of the first trial of Hex.
    "hex-100ms": Trial(
        "Hex 7x7",
        "hex",
        {"board_size": 7},
        levels=(30, 30, 120, 120, 360, 360, 720, 720),
        student=360,
        seconds=0.1,
        contests=400,
        conditions=("everything-remembered", "remembered"),
        analysis=Analysis(400, 6_000),
    ),
    # Everybody has some ten times the playouts of the first trial of Hex.
    "hex-2400": Trial(
        "Hex 7x7, teachers of up to 2,400 playouts",
        "hex",
        {"board_size": 7},
        levels=(100, 100, 400, 400, 1_200, 1_200, 2_400, 2_400),
        student=1_200,
        seconds=0.1,
        contests=1_000,
        conditions=("remembered", "everything-remembered"),
        analysis=Analysis(1_000, 20_000),
    ),
    "hex-2400-36ms": Trial(
        "Hex 7x7, teachers of up to 2,400 playouts",
        "hex",
        {"board_size": 7},
        levels=(100, 100, 400, 400, 1_200, 1_200, 2_400, 2_400),
        student=1_200,
        seconds=0.036,
        contests=1_000,
        conditions=("remembered", "defaults"),
        contests_of="hex-2400",
    ),
    "go": Trial(
        "Go 9x9",
        "go",
        {"board_size": 9, "komi": 7.5},
        levels=(10, 10, 30, 30, 80, 80),
        student=30,
        seconds=0.016,
        contests=1_000,
        conditions=("remembered", "no-openings", "defaults", "everything", "shared", "own", "open"),
        analysis=Analysis(1_000, 600),
    ),
    # Everybody has about six times the time of the trial before.
    "go-100ms": Trial(
        "Go 9x9",
        "go",
        {"board_size": 9, "komi": 7.5},
        levels=(60, 60, 180, 180, 480, 480),
        student=180,
        seconds=0.1,
        contests=120,
        conditions=("remembered",),
    ),
    # Others' programs teach as well as the project's.
    "go-gnu-go": Trial(
        "Go 9x9, with GNU Go",
        "go",
        {"board_size": 9, "komi": 7.5},
        levels=(30, 30, GnuGo(0), GnuGo(0), GnuGo(1), GnuGo(1), GnuGo(2), GnuGo(3)),
        student=30,
        seconds=0.016,
        contests=1_000,
        conditions=("remembered", "shared", "own", "open"),
    ),
    "othello": Trial(
        "Othello 8x8",
        "openspiel",
        {"game": "othello"},
        levels=(10, 10, 30, 30, 75, 75, 150, 150),
        student=75,
        seconds=0.01,
        contests=1_000,
        conditions=("remembered", "openings", "evaluated", "open-evaluated"),
        evaluation_patterns=1_000,
    ),
    # Everybody has ten times the time of the trial before.
    "othello-100ms": Trial(
        "Othello 8x8",
        "openspiel",
        {"game": "othello"},
        levels=(100, 100, 300, 300, 750, 750, 1_500, 1_500),
        student=750,
        seconds=0.1,
        contests=150,
        conditions=("openings",),
    ),
    # Its moves do not go to empty cells alone, so it has no tesujis.
    "draughts": Trial(
        "English draughts",
        "draughts",
        {"variant": "english"},
        levels=(1, 1, 2, 2, 3, 3, 4, 4),
        student=2,
        seconds=0.008,
        contests=200,
        conditions=("openings", "open", "open-no-openings"),
        method="alpha-beta",
    ),
    # Everybody looks two plies further ahead, which takes some ten times the time of the trial before.
    "draughts-100ms": Trial(
        "English draughts",
        "draughts",
        {"variant": "english"},
        levels=(3, 3, 4, 4, 5, 5, 6, 6),
        student=4,
        seconds=0.1,
        contests=80,
        conditions=("openings",),
        method="alpha-beta",
    ),
}
