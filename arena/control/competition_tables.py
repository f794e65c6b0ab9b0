"""What is played: `[competition]` of each kind, `[game]`, matchups, series, families and parameters."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from arena.control.table import Table
from arena.control.validation import SettingError
from arena.control.values import (
    MAX_CHILDREN,
    MAX_MEMBERS,
    MAX_PARALLEL,
    MAX_PARAMETERS,
    MAX_SERIES,
    Chance,
    Command,
    Count,
    CountFromZero,
    Description,
    Format,
    Moves,
    Name,
    Names,
    Number,
    Plain,
    Results,
    Seconds,
    Share,
    TestElo,
    Text,
    Weight,
)


class CompetitionTable(Table):
    """The settings of `[competition]` that all kinds share."""

    kind: Text
    """What is played: one of the kinds of competition."""
    description: Description = ""
    """Text for the report."""
    parallel: int = Field(1, ge=1, le=MAX_PARALLEL)
    """Games at a time; `arena run --parallel` overrides it."""
    pin_cores: bool = False
    """Keep each game, with its engines, to one core, the least taken one: much faster for quick engines of
    one thread, wrong for others."""
    seed: int | None = Field(None, ge=0, le=2**63 - 1)
    """Makes the games repeat, wherever the file is run; without it chance comes from a secret."""
    record_games: bool = True
    """Write a record file for each game."""
    check_players: bool = True
    """Start every player once before the first game."""
    errors_to_log: bool = True
    """Keep players' standard error in the log; `false`: it stays the arena's own."""
    failures: Literal["forfeit", "void"] = "forfeit"
    """What becomes of a game whose player crashes or breaks its protocol after the request for the first
    move."""
    void_retries: int = Field(1, ge=0, le=1000)
    """How many void games of a matchup in a row are tried again before `on_void` holds."""
    on_void: Literal["halt", "skip-matchup", "forfeit"] = "halt"
    """What follows then: the run stops, the matchup is left out, or the player at fault loses."""
    leave_out_after: int = Field(3, ge=1, le=1000)
    """A player that dials in is left out after this number of games in a row that are void because of it."""
    results: Results | None = None
    """The results database; without it a file beside the control file."""


class OneMatchupTable(CompetitionTable):
    """A competition whose only matchup cannot be left out."""

    @model_validator(mode="after")
    def _check_on_void(self) -> Self:
        if self.on_void == "skip-matchup":
            raise SettingError(
                "on_void", f"a competition of kind {self.kind!r} has one matchup: say 'halt' or 'forfeit'"
            )
        return self


class AllPlayAllTable(CompetitionTable):
    """Every line-up of competitors in turn; `kind` is `"all-play-all"` or `"round-robin"`."""

    competitors: Names | None = None
    """Who plays, in the order of the cross-table; without it all players."""
    rounds: Count | None = None
    """Games of each pair; without it there is no end."""


class PlayoffTable(CompetitionTable):
    """Matchups that the file lists, each with a game of its own."""

    games: CountFromZero | None = None
    """Games of each matchup that does not give its own; without it there is no end."""
    alternating: bool = False
    """Swap the seats from game to game, in each matchup that does not give its own."""


class GauntletTable(CompetitionTable):
    """Some challengers against all the others."""

    challengers: Names
    """The new players."""
    opponents: Names | None = None
    """The players whom each challenger meets; without it everybody else."""
    rounds: Count | None = None
    """Games of each challenger against each opponent; without it there is no end."""


class SwissTable(CompetitionTable):
    """In each round, players of like scores."""

    competitors: Names | None = None
    """Who plays, the first being seeded first; without it all players."""
    rounds: int = Field(ge=1, le=10_000)
    """How many rounds."""
    games: int = Field(2, ge=1, le=10_000)
    """Games of each pairing."""


class StandingTable(CompetitionTable):
    """Rounds without end of those players that are there: they may dial in and go at any time."""

    competitors: Names | None = None
    """Who may play; without it all players."""
    rounds: Count | None = None
    """How many rounds; without it there is no end."""

    @model_validator(mode="after")
    def _check_repetitions(self) -> Self:
        for setting in ("void_retries", "leave_out_after"):
            if setting in self.model_fields_set:
                raise SettingError(setting, "a standing competition plays no void game again: leave it out")
        return self


class SprtTestTable(OneMatchupTable):
    """Two players, until a test knows which one is better."""

    competitors: Names | None = None
    """The new player, then the old one; without it all players."""
    elo0: TestElo
    """H0: the new player is so much better, in Elo. By `"normalized"` from -200 to 200."""
    elo1: TestElo
    """H1: the new player is so much better, in Elo. By `"normalized"` from -200 to 200."""
    alpha: Chance = 0.05
    """The chance to accept H1 where H0 holds."""
    beta: Chance = 0.05
    """The chance to accept H0 where H1 holds."""
    model: Literal["normalized", "logistic"] = "normalized"
    """The kind of Elo."""
    games: int | None = Field(None, ge=2, le=10_000_000)
    """The greatest number of games, an even one; without it there is no end."""

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        if self.games is not None and self.games % 2:
            raise SettingError("games", f"must be even, games are played in pairs; not {self.games}")
        return self


class TunerTable(OneMatchupTable):
    """What both tuners share."""

    opponent: Text
    """The player whom the candidates meet."""
    candidate_seat: Text = "random"
    """The candidates' seat by its name, such as `"black"`, or `"random"`."""


class MonteCarloTable(TunerTable):
    """A candidate of other parameters in each game, chosen as UCT chooses moves."""

    games: Count | None = None
    """How many games; without it there is no end."""
    exploration: float = Field(ge=0, le=1e6)
    """E of w/g + E sqrt(ln g_p / g): how much is risked on parts that are little known."""
    initial_visits: Count
    """What the games g of every part begin with."""
    initial_wins: float = Field(ge=0, le=1e7)
    """What the wins w of every part begin with; at most `initial_visits`."""
    max_depth: int = Field(1, ge=1, le=20)
    """How often ranges are split."""
    summary: tuple[Annotated[int, Field(ge=0, le=10_000)], ...] = Field((30,), strict=False, max_length=20)
    """How many parts of each depth reports list."""
    log_period: Count | None = None
    """The number of games between two such lists in the history; without it the history has none."""
    shown_running: int = Field(12, ge=0, le=1023)
    """How many candidates in progress reports list."""

    @model_validator(mode="after")
    def _check_wins(self) -> Self:
        if self.initial_wins > self.initial_visits:
            raise SettingError(
                "initial_wins", f"must be at most initial_visits, which are {self.initial_visits}"
            )
        return self


class CrossEntropyTable(TunerTable):
    """Generations of candidates, drawn from normal distributions that move towards the best."""

    generations: int = Field(ge=1, le=100_000)
    """How many generations."""
    samples: int = Field(ge=1, le=100_000)
    """Candidates of a generation."""
    batch: int = Field(ge=1, le=100_000)
    """Games of each candidate."""
    elite_proportion: Share
    """The share of candidates that count as the best."""
    step_size: Share
    """How far mean and variance move towards theirs."""


class GenerationsTable(OneMatchupTable):
    """Families of players: after some rounds each keeps its best and fills up with variants of them."""

    generations: int = Field(ge=1, le=10_000)
    """How many generations."""
    rounds: int = Field(ge=1, le=1000)
    """Rounds of a generation: in each round everybody has one opponent, for two games."""
    meet: Literal["everybody", "panel"] = "everybody"
    """Whom the members of families meet: each other and the players of `[players]`, or these alone."""


class GameTable(Table):
    """The game; all other settings of the table are the game's own."""

    model_config = ConfigDict(extra="allow")

    name: Text
    """The game, of a referee that is installed."""
    move_limit: Moves | None = None
    """The moves (plies) of a game, after which its result is unknown; without it 1000, or more where the
    referee says that a game can last longer."""
    scorer: Literal["internal", "players"] | None = None
    """Who counts the end: the referee (`"internal"`, the default) or the players, who must agree."""


class ChangedGameTable(GameTable):
    """What differs from `[game]`."""

    name: Text | None = None  # type: ignore[assignment]
    """The game of `[game]`; no other one can be given."""


class MatchupTable(Table):
    """A matchup of a playoff."""

    players: Annotated[tuple[Name, ...], Field(strict=False, max_length=100)]
    """The players, by seat; one may stand there twice."""
    id: Name | None = None
    """Its name in the results; without it its place, from 0."""
    name: Text = ""
    """Its name in the report; without it its players."""
    alternating: bool | None = None
    """Swap the seats from game to game; without it as in `[competition]`."""
    games: CountFromZero | None = None
    """How many games, 0 to keep the results and play nothing; without it as in `[competition]`."""
    game: ChangedGameTable | None = None
    """What differs from `[game]`."""


class SeriesSetting(Table):
    """An environment that the games of a series are drawn from."""

    name: Name | None = None
    """Its name; without it its place, from 0."""
    weight: Weight = 1.0
    """The chance to be drawn, relative to other settings."""
    game: ChangedGameTable | None = None
    """What differs from `[game]`."""


class SeriesTable(Table):
    """A series of a MARS mission."""

    name: Name
    """Its name; game n is `NAME_N`."""
    selector: Literal["weighted", "least-played", "slow-knockout"] = "weighted"
    """Players are drawn by weight, or the one with the fewest games comes first and the others are drawn,
    or all are drawn by weight times moving average."""
    by: Literal["strength", "tenacity", "fitness"] = "fitness"
    """That moving average: of leading, of surviving, or of winning."""
    clones: bool = True
    """A player may have several seats of a game."""
    kinds: tuple[Annotated[int, Field(ge=1, le=100)], ...] = Field((), strict=False, max_length=100)
    """The number of seats of each player in a game: `[3, 4]` is two players with three and four seats."""
    contestants: dict[str, Weight] | None = None
    """Weights by player's name; without it all players, with weight 1."""
    settings: tuple[SeriesSetting, ...] = Field((), strict=False, max_length=MAX_SERIES)
    """The environments that its games are drawn from; without it `[game]`."""
    weight: Weight = 1.0
    """The chance to be run, relative to other series; 0 for never."""
    state: Literal["open", "complete"] = "open"
    """A complete series is never run again."""
    pure: bool = True
    """It goes by its own games alone, not by all of the mission."""
    games: Count | None = None
    """The greatest number of games; without it there is no end."""
    notes: Text = ""
    """Any text."""


class ScaledRange(Table):
    """A parameter of a family with a range: `scale` is `"linear"` or `"log"`."""

    scale: Literal["linear", "log"] = "linear"
    """Equal steps, or equal ratios."""
    low: Number
    """The least value."""
    high: Number
    """The greatest value."""
    integer: bool = False
    """Round to whole numbers, halves up."""
    format: Format | None = None
    """How reports write it: `"level %d"`; without it `"NAME:%s"`."""

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.low >= self.high:
            raise SettingError("low", f"must be less than high, which is {self.high:g}, not {self.low:g}")
        return self


class RangeParameter(ScaledRange):
    """A parameter of the Monte Carlo tuner with a range: `scale` is `"linear"` or `"log"`."""

    split: int = Field(ge=1, le=MAX_CHILDREN)
    """The parts that the range is split into."""


class ListedValues(Table):
    """A parameter of a family with a list of values: `scale` is `"explicit"`."""

    scale: Literal["explicit"]
    """The values are listed."""
    values: tuple[Plain, ...] = Field(strict=False, min_length=1, max_length=10_000)
    """The values. Put like ones side by side: parts and variants go by their order."""
    format: Format | None = None
    """How reports write it: `"level %d"`; without it `"NAME:%s"`."""


class ListedParameter(ListedValues):
    """A parameter of the Monte Carlo tuner with a list of values: `scale` is `"explicit"`."""

    split: int = Field(ge=1, le=MAX_CHILDREN)
    """The parts that the list is split into."""

    @model_validator(mode="after")
    def _check_split(self) -> Self:
        if self.split > len(self.values):
            count = len(self.values)
            raise SettingError("split", f"{self.split} parts of {count} values: give at most {count}")
        return self


class DrawnParameter(Table):
    """A parameter of the cross-entropy tuner."""

    initial_mean: float = Field(ge=-1e6, le=1e6)
    """The mean of the numbers that are drawn at first."""
    initial_variance: float = Field(ge=0, le=1e12)
    """Their variance at first."""
    transform: Literal["none", "exp", "exp2", "exp10"] = "none"
    """The number itself is the value, or e, 2 or 10 to its power, which is about 1.8e308 at most."""
    least: Number | None = None
    """The least value; without it there is no bound."""
    most: Number | None = None
    """The greatest value; without it there is no bound."""
    integer: bool = False
    """Round to whole numbers, halves up."""
    format: Format | None = None
    """How reports write it: `"level %d"`; without it `"NAME:%s"`."""

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.least is not None and self.most is not None and self.least > self.most:
            raise SettingError("least", f"must be at most `most`, which is {self.most:g}")
        return self


class FamilyTable(Table):
    """A family of a competition of kind `"generations"`.

    Its variants are drawn from the space of its `parameters`, or a program makes them.
    """

    size: int = Field(ge=1, le=MAX_MEMBERS)
    """How many members it has at any time."""
    keep: int = Field(ge=1, le=MAX_MEMBERS)
    """How many of its best stay after a generation; the other places go to their variants."""
    player: dict[str, Any]
    """Its members, defined like a player; `{NAME}` stands for a value."""
    parameters: dict[Name, dict[str, Any]] = Field({}, max_length=MAX_PARAMETERS)
    """The space of its values, a table `[families.NAME.parameters.NAME]` each."""
    mutation: float = Field(0.1, ge=0, le=1)
    """How far a variant's values lie from its parent's: a standard deviation, as a share of the range."""
    combine: float = Field(0.5, ge=0, le=1)
    """The chance that a variant has two parents and each value from either, before it is mutated."""
    child: Command | None = None
    """A program that makes variants instead: it reads a line of JSON and answers with one."""
    child_seconds: Seconds = 60.0
    """How long that program may take."""
    first: dict[Name, Plain] = Field({}, max_length=MAX_PARAMETERS)
    """For `child`: the values of the first member."""

    @model_validator(mode="after")
    def _check_variants(self) -> Self:
        if self.keep > self.size:
            raise SettingError("keep", f"must be at most size, which is {self.size}, not {self.keep}")
        if self.child is None and not self.parameters:
            raise SettingError(
                "parameters", "is missing, and so is child: nothing says how variants are made"
            )
        if self.child is not None and (self.parameters or not self.first):
            raise SettingError(
                "child", "needs `first`, the values of the first member, and excludes `parameters`"
            )
        if self.child is None and self.first:
            raise SettingError("first", "belongs to `child`; with `parameters` the first members are drawn")
        return self


SCALES: Final[Mapping[str, type[RangeParameter | ListedParameter]]] = {
    "linear": RangeParameter,
    "log": RangeParameter,
    "explicit": ListedParameter,
}
FAMILY_SCALES: Final[Mapping[str, type[ScaledRange | ListedValues]]] = {
    "linear": ScaledRange,
    "log": ScaledRange,
    "explicit": ListedValues,
}
