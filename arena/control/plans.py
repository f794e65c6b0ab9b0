"""The game that is played, and the plan of each kind of competition."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from arena.control.candidates import CandidateMaker
from arena.control.parameters import GridParameter, NormalParameter
from arena.ratings.pentanomial import Sprt
from referees.api import Referee, referee


@dataclass(frozen=True)
class GameSettings:
    """The game: its referee's name and settings, the limit in plies, and who counts the end.

    `settings` are as the control file has them; `folder` is that of the control file, from which the paths
    among them lead. `move_limit_given` is whether the control file has the limit.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    move_limit: int = 1000
    scorer: str = "internal"
    move_limit_given: bool = field(default=False, compare=False)
    folder: Path = field(default=Path(), compare=False)

    # Both are asked for with every game, and looking through all packages takes longer than a short one.
    @cached_property
    def located(self) -> dict[str, Any]:
        """The settings with files that they name as paths from anywhere. Raises UnknownRefereeError."""
        return dict(referee(self.name).located(self.settings, self.folder))

    def rules(self) -> Referee[Any, Any]:
        """The referee of the game. Raises UnknownRefereeError and InvalidSettingError."""
        return self._rules

    @cached_property
    def _rules(self) -> Referee[Any, Any]:
        return referee(self.name).from_settings(self.located)

    @property
    def terms(self) -> dict[str, Any]:
        """All that a game's play depends on, as plain JSON values."""
        whole = {
            "name": self.name,
            **self.settings,
            "move_limit": self.move_limit,
            "scorer": self.scorer,
        }
        plain: dict[str, Any] = json.loads(json.dumps(whole, default=str))
        return plain


@dataclass(frozen=True)
class AllPlayAllPlan:
    """Every line-up of competitors plays `rounds` games (None: no end)."""

    competitors: tuple[str, ...]
    rounds: int | None


@dataclass(frozen=True)
class Matchup:
    """A series of games between the same players.

    `players` are by seat; if `alternating` they move on by one seat from game to game. `name` is empty
    unless the file gives one. `games` None means no end; 0 keeps what was played and plays nothing.
    """

    matchup_id: str
    players: tuple[str, ...]
    game: GameSettings
    name: str = ""
    alternating: bool = False
    games: int | None = None

    @property
    def title(self) -> str:
        """The name, or else who plays whom."""
        return self.name or " v ".join(self.line_up)

    @property
    def line_up(self) -> tuple[str, ...]:
        """The players by seat; one that meets itself is called `NAME#2` the second time."""
        return tuple(
            name if (time := self.players[:place].count(name) + 1) == 1 else f"{name}#{time}"
            for place, name in enumerate(self.players)
        )


@dataclass(frozen=True)
class PlayoffPlan:
    """Matchups, each with a game of its own."""

    matchups: tuple[Matchup, ...]

    @property
    def competitors(self) -> tuple[str, ...]:
        """Everybody in a matchup, in the order in which they first appear."""
        return tuple(dict.fromkeys(name for matchup in self.matchups for name in matchup.players))


@dataclass(frozen=True)
class GauntletPlan:
    """Every challenger plays `rounds` games (None: no end) against every opponent."""

    challengers: tuple[str, ...]
    opponents: tuple[str, ...]
    rounds: int | None

    @property
    def competitors(self) -> tuple[str, ...]:
        """The challengers, then the opponents."""
        return self.challengers + self.opponents


@dataclass(frozen=True)
class SwissPlan:
    """In each round competitors of like scores meet, for `games` games a pairing."""

    competitors: tuple[str, ...]
    rounds: int
    games: int


@dataclass(frozen=True)
class StandingPlan:
    """Rounds of those competitors that are there, `rounds` of them (None: no end); `seats` play a game."""

    competitors: tuple[str, ...]
    rounds: int | None = None
    seats: int = 2


@dataclass(frozen=True)
class SprtPlan:
    """Pairs of games of two players until the test decides, or `games` games are played."""

    competitors: tuple[str, str]
    test: Sprt
    games: int | None


Average = Literal["strength", "tenacity", "fitness"]


@dataclass(frozen=True)
class MarsSetting:
    """An environment that a series plays in, with its relative weight."""

    name: str
    game: GameSettings
    weight: float = 1.0


@dataclass(frozen=True)
class MarsSeries:
    """A series of SAGA.

    Its `selector` chooses the players: `weighted` draws each by weight; `least-played` takes the one with
    the fewest plays first; `slow-knockout` draws in proportion to the moving average `by`. With `kinds` a
    game has one player for each number in it, who takes that number of seats (3 + 4); else, unless `clones`
    are allowed, all seats have different players.
    `weight` is its relative chance to be run, 0 for never; a `complete` one is never run. The choices of
    a `pure` one depend on its own games alone. `games` None means no end. `contestants` have weights.
    """

    name: str
    contestants: Mapping[str, float]
    settings: tuple[MarsSetting, ...]
    selector: Literal["weighted", "least-played", "slow-knockout"] = "weighted"
    by: Average = "fitness"
    clones: bool = True
    kinds: tuple[int, ...] = ()
    weight: float = 1.0
    complete: bool = False
    pure: bool = True
    games: int | None = None
    notes: str = ""


@dataclass(frozen=True)
class MarsPlan:
    """The series of a mission."""

    series: tuple[MarsSeries, ...]

    @property
    def competitors(self) -> tuple[str, ...]:
        """All contestants, in the order in which they first appear."""
        return tuple(dict.fromkeys(name for series in self.series for name in series.contestants))


@dataclass(frozen=True)
class CandidatePlan:
    """Candidates, which `make` makes, play the `opponent`; they have the `seat`, None: one by chance.

    `seat_name` is what the control file calls the seat.
    """

    opponent: str
    seat: int | None
    make: CandidateMaker = field(compare=False)
    seat_name: str = "random"


@dataclass(frozen=True)
class TunerPlan:
    """What both tuners share."""

    candidate: CandidatePlan

    @property
    def competitors(self) -> tuple[str, ...]:
        """The opponent alone: candidates come and go."""
        return (self.candidate.opponent,)


@dataclass(frozen=True)
class MonteCarloPlan(TunerPlan):
    """The Monte Carlo tuner: a tree over the parameters' ranges, searched as UCT does.

    `games` None means no end. `summary` are numbers of candidates to list per depth in reports, and
    `log_period` is how many games lie between two such lists in the history file.
    """

    parameters: tuple[GridParameter, ...]
    exploration: float
    initial_visits: int
    initial_wins: float
    max_depth: int = 1
    games: int | None = None
    summary: tuple[int, ...] = (30,)
    log_period: int | None = None
    shown_running: int = 12


@dataclass(frozen=True)
class CrossEntropyPlan(TunerPlan):
    """The cross-entropy tuner: generations of samples from a normal distribution drawn to the best."""

    parameters: tuple[NormalParameter, ...]
    generations: int
    samples: int
    batch: int
    elite_proportion: float
    step_size: float


Variation = Literal["drawn", "first", "mutated", "combined", "program"]
"""How a member of a family came about."""


@dataclass(frozen=True)
class ParameterSpace:
    """How a family's variants are drawn: `mutation` is a standard deviation, `combine` a chance."""

    parameters: tuple[GridParameter, ...]
    mutation: float
    combine: float


@dataclass(frozen=True)
class ChildProgram:
    """The program that makes a family's variants; `first` are the first member's values."""

    command: tuple[str, ...]
    seconds: float
    first: Mapping[str, Any]
    folder: Path = field(compare=False)


@dataclass(frozen=True)
class Family:
    """Players of one architecture: `size` of them, of which the best stay, `keep` in number."""

    name: str
    size: int
    keep: int
    make: CandidateMaker = field(compare=False)
    variants: ParameterSpace | ChildProgram


@dataclass(frozen=True)
class GenerationsPlan:
    """Families whose members meet each other and the panel, or the panel alone."""

    families: tuple[Family, ...]
    panel: tuple[str, ...]
    generations: int
    rounds: int
    meet: Literal["everybody", "panel"]

    @property
    def competitors(self) -> tuple[str, ...]:
        """The panel alone: members of families come and go."""
        return self.panel


Plan = (
    AllPlayAllPlan
    | PlayoffPlan
    | GauntletPlan
    | SwissPlan
    | StandingPlan
    | SprtPlan
    | MarsPlan
    | GenerationsPlan
    | MonteCarloPlan
    | CrossEntropyPlan
)
