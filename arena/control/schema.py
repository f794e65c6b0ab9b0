"""The tables of a control file as models: each setting's type, limits, default and meaning.

The text below a setting is its meaning; `arena.control.reference` prints all of them. Rules between several
tables are in `arena.control.kinds`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates, Endpoint
from arena.control.validation import SettingError
from arena.control.values import (
    MAX_CHILDREN,
    MAX_FAMILIES,
    MAX_LISTED,
    MAX_MATCHUPS,
    MAX_MEMBERS,
    MAX_PARALLEL,
    MAX_PARAMETERS,
    MAX_PLAYERS,
    MAX_SERIES,
    Address,
    Argument,
    Chance,
    ClockSeconds,
    Command,
    Count,
    CountFromZero,
    Description,
    Elo,
    FamilyName,
    FilePath,
    Folder,
    Format,
    GameId,
    GtpCommand,
    HalfPoint,
    Interpreter,
    LabelName,
    LabelValue,
    Memory,
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
    VariableName,
    Version,
    Weight,
    Workers,
)
from arena.lobby import DEFAULT_ADDRESS
from arena.players.lines import MAX_LATE_TURNS
from arena.players.policy import MAX_LATE_TURNS as MAX_LATE_POLICY_TURNS


class Table(BaseModel):
    """The settings under one heading."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
        arbitrary_types_allowed=True,
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


def _require_partners(table: Table, partners: Mapping[str, str]) -> None:
    """Raise SettingError for a setting that is given without the one that it belongs to."""
    for setting, partner in partners.items():
        if setting in table.model_fields_set and partner not in table.model_fields_set:
            raise SettingError(setting, f"belongs to {partner}, which is not given: leave it out")


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
    """H0: the new player is so much better, in Elo."""
    elo1: TestElo
    """H1: the new player is so much better, in Elo."""
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


class MarsTable(CompetitionTable):
    """Series whose players are drawn by weight, play count or success."""


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


class ClockTable(Table):
    """A clock; without one each move may take `move_seconds`."""

    main_seconds: ClockSeconds = 0.0
    """Time for the whole game."""
    increment_seconds: ClockSeconds = 0.0
    """Time that is added after each move."""
    byo_yomi_seconds: ClockSeconds = 0.0
    """When the main time is used up: time for `byo_yomi_stones` moves, again and again."""
    byo_yomi_stones: int = Field(1, ge=1, le=10_000)
    """The moves of one byo-yomi period."""
    most_seconds: ClockSeconds | None = None
    """What increments fill the main time up to; without it there is no limit."""
    margin_seconds: ClockSeconds = 0.0
    """How late a move may be without losing the game; it is taken from nothing."""

    @model_validator(mode="after")
    def _check_time(self) -> Self:
        if not self.main_seconds and not self.byo_yomi_seconds:
            raise SettingError(
                "main_seconds", "give main_seconds or byo_yomi_seconds above 0: nobody could move at all"
            )
        _require_partners(self, {"byo_yomi_stones": "byo_yomi_seconds", "most_seconds": "increment_seconds"})
        return self


def _check_path(setting: str, path: Path, is_there: Callable[[Path], bool], why: str) -> None:
    try:
        if is_there(path):
            return
    except OSError as error:  # A name that is too long, or a folder that may not be read.
        why = f"{why}: {error.strerror}"
    raise SettingError(setting, why)


class OpeningsFile(Table):
    """How games begin. Every opening is played once in each seat."""

    file: FilePath
    """The openings: SGF, or a list of moves on each line."""
    order: Literal["random", "file"] = "random"
    """Shuffled by the seed, or as in the file."""
    plies: Moves | None = None
    """How much of each opening is played; without it all."""

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        _check_path("file", self.file, Path.is_file, f"there is no file {self.file}")
        return self


class EarlyEndTable(Table):
    """When the arena ends games that are decided, by the expected values (0 to 1) that players report."""

    resign_value: HalfPoint | None = None
    """A player that reports at most this value has lost; without it the rule is off."""
    resign_moves: Moves = 3
    """The number of its moves in a row for which that holds."""
    two_sided: bool = True
    """The others must agree."""
    draw_margin: HalfPoint | None = None
    """A draw when all report 0.5, give or take this margin; without it the rule is off."""
    draw_moves: Moves = 8
    """The number of moves of each player for which that holds."""
    draw_after: int = Field(0, ge=0, le=1_000_000)
    """The first ply after which such a draw is possible."""
    count_after: Moves | None = None
    """The number of plies after which the referee counts the position; without it the rule is off."""

    @model_validator(mode="after")
    def _check_rule(self) -> Self:
        if self.resign_value is None and self.draw_margin is None and self.count_after is None:
            raise SettingError(
                "resign_value", "is missing, and so are draw_margin and count_after: no rule is given"
            )
        resigning = dict.fromkeys(("resign_moves", "two_sided"), "resign_value")
        _require_partners(self, resigning | dict.fromkeys(("draw_moves", "draw_after"), "draw_margin"))
        return self


class RatingsTable(Table):
    """How players are rated while a competition runs."""

    start: Elo = 1000.0
    """A newcomer's Elo."""
    curve: Literal["logistic", "normal"] = "logistic"
    """How a difference in Elo becomes an expected score."""
    by: Literal["winners", "rank", "points"] = "winners"
    """What is rated in games of more than two: who won, the losers' order as well, or all by points."""
    begin: Literal["academy", "fresh"] = "academy"
    """Players without an `elo` begin with the last one that ACADEMY knows, or as newcomers."""


# What only an ACADEMY that is not embedded needs.
_ELSEWHERE: Final = (
    *("token", "token_env", "token_file", "tls_ca", "tls_cert", "tls_key", "insecure"),
    *("player_tls_cert", "player_tls_key"),
)


class AcademyTable(Table):
    """How ACADEMY is reached. Without this table it learns nothing of the games."""

    address: Address = "embedded"
    """`"embedded"` (a server of the competition's own), `"host:port"`, `"unix:PATH"`, or `"none"`."""
    data: FilePath | None = None
    """The embedded server's folder; without it `NAME.academy`, of the league's file where there is one."""
    game: GameId | None = None
    """What ACADEMY calls the game, where that is not the referee's name for it: a fork with changed rules."""
    update: bool = True
    """`false`: players may consult, but ACADEMY learns nothing from these games."""
    token: Text | None = Field(None, repr=False)
    """The arena's token."""
    token_env: Text | None = None
    """The variable that holds the arena's token; no player's program gets it."""
    token_file: FilePath | None = None
    """The file that holds the arena's token."""
    tls_ca: FilePath | None = None
    """The server's certificate authority; it turns TLS on."""
    tls_cert: FilePath | None = None
    """The arena's own certificate, for mutual TLS."""
    tls_key: FilePath | None = None
    """The key of `tls_cert`."""
    insecure: bool = False
    """Whether to send the token without TLS even to another machine."""
    player_tls_cert: FilePath | None = None
    """The certificate that the players show, for mutual TLS."""
    player_tls_key: FilePath | None = None
    """The key of `player_tls_cert`."""

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        embedded = self.address == "embedded"
        kind = "a server elsewhere" if embedded else "the embedded server"
        for setting in _ELSEWHERE if embedded else ("data",):
            if self.address != "none" and getattr(self, setting):
                raise SettingError(setting, f"is for {kind}, and address is {self.address!r}: leave it out")
        return self

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.address == "none":
            return self
        if sum(token is not None for token in (self.token, self.token_env, self.token_file)) > 1:
            raise SettingError("token", "give only one of token, token_env and token_file")
        for certificate, key in (("tls_cert", "tls_key"), ("player_tls_cert", "player_tls_key")):
            if (getattr(self, certificate) is None) != (getattr(self, key) is None):
                raise SettingError(certificate, f"{certificate} and {key} go together")
        if not (self._is_here() or self.insecure or self.tls_ca or self.tls_cert):
            raise SettingError(
                "address",
                f"{self.address} is another machine: give tls_ca, or insecure = true to send tokens in clear",
            )
        return self

    def _is_here(self) -> bool:
        if self.address == "embedded":
            return True
        try:
            return ServerAddress.parse(self.address).is_local
        except InvalidAddressError as error:
            raise SettingError("address", f"{error}, or 'embedded' or 'none'") from error


class LeagueTable(Table):
    """The league that the competition belongs to: its players begin with their Elo there, and its games go on
    with it."""

    url: Results
    """The league's database: `sqlite:///league.db` (beside the control file) or `postgresql://host/name`."""


class FairUseTable(Table):
    """How much players may lean on ACADEMY in this competition.

    What is absent is as the game's settings say. ACADEMY refuses contests with a rule that is looser.
    """

    opening_moves_per_consultation: int | None = Field(None, ge=1, le=1_000_000)
    """The opening tree may be consulted before one own move in this number."""
    opening_plies_ahead: int | None = Field(None, ge=0, le=6)
    """How many plies of recommended moves and replies follow a recommended move."""
    pattern_value_limit: float | None = Field(None, ge=0, le=1)
    """Patterns may be consulted where the player expects this or less."""
    elo_margin: int | None = Field(None, ge=0, le=1_000_000)
    """Knowledge counts of players of an Elo above the player's own less this."""
    consult_share: float | None = Field(None, ge=0, le=1)
    """The share of contests in which a player may consult; ACADEMY draws for each contest and seat."""
    local_weights: bool | None = None
    """`false`: players may not download the weights of tesujis and evaluation, though the game lets them."""

    @property
    def rules(self) -> dict[str, float]:
        """The rules that are given, by name."""
        return {name: value for name, value in dict(self).items() if value is not None}


class RemoteTable(Table):
    """Where players of protocol `"grpc"` dial in."""

    address: Address = DEFAULT_ADDRESS
    """`host:port` or `unix:PATH`."""
    tls_cert: FilePath | None = None
    """The arena's certificate; it turns TLS on."""
    tls_key: FilePath | None = None
    """The key of `tls_cert`."""
    insecure: bool = False
    """Allow addresses that other machines reach, without TLS."""

    @property
    def endpoint(self) -> Endpoint:
        """The same as a value for the lobby. Raises InvalidAddressError."""
        certificates = Certificates(self.tls_cert, self.tls_key)
        return Endpoint(ServerAddress.parse(self.address), certificates, self.insecure)

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            self.endpoint.credentials()
        except InvalidAddressError as error:
            raise SettingError("address", str(error)) from None
        return self


class WorkersTable(Table):
    """Where games are played."""

    on: Workers = "local"
    """`"local"`: processes on this machine; `"ray"`: a Ray cluster that the run starts on it;
    `"ray://HOST:PORT"` or `"HOST:PORT"`: a Ray cluster that is there."""
    working_folder: Folder | None = None
    """A folder that each node of the cluster gets a copy of. Programs and folders in it are then those of the
    copy; without it they must be on each node, at the same path."""
    packages: tuple[Text, ...] = Field((), strict=False, max_length=1000)
    """Python packages that each node of the cluster installs for the run."""
    variables: dict[VariableName, Text] = {}
    """Variables of the processes that play on the nodes."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.working_folder is not None:
            why = f"{self.working_folder!r} is no folder here"
            _check_path("working_folder", Path(self.working_folder), Path.is_dir, why)
        # Without `on` the file may be for `arena run --on`.
        if self.on == "local" and "on" in self.model_fields_set:
            for setting in ("working_folder", "packages", "variables"):
                if getattr(self, setting):
                    raise SettingError(
                        setting, "is for a Ray cluster, and on is 'local': leave one of them out"
                    )
        return self


# Ray counts in steps of it.
LEAST_AMOUNT: Final = 0.0001
_TPU_CHIPS: Final = (1, 2, 4, 8)


class ResourcesTable(Table):
    """What a player takes of a node of a Ray cluster."""

    cpus: float = Field(0.5, ge=0, le=10_000)
    """Processors. Players of most games think by turns, so two of them take one."""
    gpus: float = Field(0.0, ge=0, le=1000)
    """Graphics processors: a whole number, or a part of one that is shared. The player sees its own alone
    (`CUDA_VISIBLE_DEVICES`), and none with 0 beside a player that has one."""
    memory: Memory | None = None
    """Memory that is kept for it; `memory` of the player limits it."""
    custom: dict[Name, Annotated[float, Field(ge=LEAST_AMOUNT, le=10_000)]] = {}
    """Amounts of what nodes offer by names of their own (`ray start --resources`)."""
    labels: dict[LabelName, LabelValue] = {}
    """Labels that a node must have (`ray start --labels`); those of a game's players
    may not exclude each other."""

    @field_validator("cpus", "gpus")
    @classmethod
    def _check_amount(cls, amount: float) -> float:
        if 0 < amount < LEAST_AMOUNT:
            raise ValueError(f"must be 0 or at least {LEAST_AMOUNT:g}, not {amount:g}")
        return amount

    @field_validator("gpus")
    @classmethod
    def _check_gpus(cls, gpus: float) -> float:
        if gpus > 1 and not gpus.is_integer():
            raise ValueError(f"must be a whole number, or a part of one, not {gpus:g}")
        return gpus

    @field_validator("custom")
    @classmethod
    def _check_custom(cls, custom: dict[str, float]) -> dict[str, float]:
        own = {"CPU": "cpus", "GPU": "gpus", "memory": "memory", "object_store_memory": "memory"}
        for name in custom.keys() & own.keys():
            raise ValueError(f"may not have {name}: write {own[name]} beside custom")
        if (chips := custom.get("TPU", 1)) not in _TPU_CHIPS:
            raise ValueError(f"'TPU' must be 1, 2, 4 or 8, as Ray gives a node's chips, not {chips:g}")
        return custom


class PlayerTable(Table):
    """The settings that all players share."""

    protocol: Text = "gtp"
    """How the arena talks to the player."""
    version: Version = ""
    """Its version. In a league each version of a name has ratings of its own, which begin with those of the
    version before."""
    family: Name | None = None
    """Players of one architecture, as a league lists them; without it the family of the version before, or
    the player's name."""
    start_seconds: Seconds = 30.0
    """How long it may take to get ready."""
    move_seconds: Seconds = 60.0
    """How long it may take for each answer."""
    elo: Elo | None = None
    """The Elo that it begins with; without it `[ratings]` decides."""
    fixed_elo: Elo | None = None
    """An Elo that never changes and anchors the others'; it excludes `elo`."""

    @model_validator(mode="after")
    def _check_elo(self) -> Self:
        if self.elo is not None and self.fixed_elo is not None:
            raise SettingError("elo", "elo and fixed_elo exclude each other: give one of them")
        return self


class StartedTable(PlayerTable):
    """The settings of players that the arena starts.

    Those of protocol `"python"` (`command = "module:function"`) have no others.
    """

    command: Command
    """The program and its arguments; `{seed}` stands for the seat's own seed. A program with a `/` is
    looked for beside the control file, others on `PATH`."""
    working_directory: Folder | None = None
    """Where it runs; without it in the control file's folder."""
    environment: dict[VariableName, Text] = {}
    """Variables that are added to the arena's own."""
    time_control: ClockTable | None = None
    """A clock of its own, instead of `[time_control]`."""
    resources: ResourcesTable = ResourcesTable.model_construct()
    """What it takes of a machine, where games are played on a Ray cluster."""


class ProgramTable(StartedTable):
    """The settings of players that are programs."""

    discard_stderr: bool = False
    """Throw its standard error away instead of keeping it in the log."""
    exit_seconds: Seconds = 5.0
    """How long it may take to end."""
    memory: Memory | None = None
    """How much memory it may use; without it there is no limit."""
    restart: bool = True
    """`false`: the program is kept for its next games instead of being started for each."""


class GtpTable(ProgramTable):
    """Players of protocol `"gtp"`."""

    startup_commands: tuple[GtpCommand, ...] = Field((), strict=False, max_length=10_000)
    """GTP commands that are sent before each game."""
    aliases: dict[str, Text] = {}
    """Other names for GTP commands: `{ genmove = "my-genmove" }`."""
    reliable_scorer: bool = True
    """`false`: the arena never asks it for the score; the word of the others counts."""
    allow_claim: bool = False
    """It may claim the game, if it knows `gomill-genmove_ex`."""
    name_from_gtp: bool = True
    """Records call it what it calls itself; `false`: by the name that it has here."""


class LinesTable(ProgramTable):
    """Players of protocol `"lines"`."""

    dialogue: Text = ""
    """Another of the game's dialogues; without it the game's own."""
    crash: Literal["pass", "lose"] = "pass"
    """What becomes of one that ends."""
    late_turns: int = Field(3, ge=1, le=MAX_LATE_TURNS)
    """After this number of late turns a bot passes, without requests."""


class PolicyTable(ProgramTable):
    """Players of protocol `"policy"`: agents of DeepMind's shape."""

    interpreter: Interpreter | None = None
    """The Python that runs it; without it the arena's own."""
    arguments: dict[str, Argument] | None = None
    """Arguments by name for its constructor."""
    faults: Literal["lose", "pass"] | None = None
    """What becomes of a game in which it fails; without it the game's own rule."""
    late_turns: int | None = Field(None, ge=1, le=MAX_LATE_POLICY_TURNS)
    """It gets no more requests after this number of late turns; without it the game's own rule holds."""


class RemotePlayerTable(PlayerTable):
    """Players of protocol `"grpc"`, which dial in."""

    time_control: ClockTable | None = None
    """A clock of its own, instead of `[time_control]`."""
    token_env: Text | None = None
    """The variable that holds its token."""
    token_file: FilePath | None = None
    """The file that holds its token."""
    reconnect_seconds: float | None = Field(None, ge=0, le=86_400)
    """How long it may be away; without it the lobby's default."""

    @model_validator(mode="after")
    def _check_token(self) -> Self:
        if self.token_env is not None and self.token_file is not None:
            raise SettingError("token_env", "give only one of token_env and token_file")
        return self


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
    """The values; variants take neighbours in the list more often than others."""
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
    """The number itself is the value, or e, 2 or 10 to its power."""
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


Kind = TypeVar("Kind", bound=CompetitionTable)


class ControlFile(Table, Generic[Kind]):
    """The tables of a control file."""

    competition: Kind
    """What is played, and how a run goes."""
    game: GameTable
    """The game."""
    players: dict[Name, dict[str, Any]] = Field(max_length=MAX_LISTED)
    """The players, a table `[players.NAME]` each."""
    time_control: ClockTable | None = None
    """Everybody's clock."""
    openings: OpeningsFile | None = None
    """How games begin."""
    adjudication: EarlyEndTable | None = None
    """When the arena ends games that are decided."""
    ratings: RatingsTable = RatingsTable.model_construct()
    """How players are rated."""
    academy: AcademyTable | None = None
    """How ACADEMY is reached."""
    fair_use: FairUseTable | None = None
    """How much players may lean on ACADEMY."""
    remote: RemoteTable = RemoteTable.model_construct()
    """Where players dial in over gRPC."""
    league: LeagueTable | None = None
    """The league that the competition belongs to."""
    workers: WorkersTable = WorkersTable.model_construct()
    """Where games are played."""


class PlayoffFile(ControlFile[PlayoffTable]):
    """A file of kind `"playoff"`."""

    matchups: tuple[MatchupTable, ...] = Field(strict=False, min_length=1, max_length=MAX_MATCHUPS)
    """The matchups."""


class MarsFile(ControlFile[MarsTable]):
    """A file of kind `"mars"`."""

    series: tuple[SeriesTable, ...] = Field(strict=False, min_length=1, max_length=MAX_SERIES)
    """The series of the mission."""


class GenerationsFile(ControlFile[GenerationsTable]):
    """A file of kind `"generations"`."""

    players: dict[Name, dict[str, Any]] = Field({}, max_length=MAX_PLAYERS)
    """The panel: players that stay as they are, a table `[players.NAME]` each."""
    families: dict[FamilyName, FamilyTable] = Field(min_length=1, max_length=MAX_FAMILIES)
    """The families, a table `[families.NAME]` each."""


class TunerFile(ControlFile[Kind]):
    """A file of a tuner."""

    candidate: dict[str, Any]
    """The candidate, defined like a player; `{NAME}` stands for a parameter's value."""


class MonteCarloFile(TunerFile[MonteCarloTable]):
    """A file of kind `"mc_tuner"`."""

    parameters: dict[Name, dict[str, Any]] = Field(min_length=1, max_length=MAX_PARAMETERS)
    """The parameters, a table `[parameters.NAME]` each."""


class CrossEntropyFile(TunerFile[CrossEntropyTable]):
    """A file of kind `"ce_tuner"`."""

    parameters: dict[Name, DrawnParameter] = Field(min_length=1, max_length=MAX_PARAMETERS)
    """The parameters, a table `[parameters.NAME]` each."""


FILES: Final[Mapping[str, type[ControlFile[Any]]]] = {
    "playoff": PlayoffFile,
    "all-play-all": ControlFile[AllPlayAllTable],
    "gauntlet": ControlFile[GauntletTable],
    "swiss": ControlFile[SwissTable],
    "standing": ControlFile[StandingTable],
    "sprt": ControlFile[SprtTestTable],
    "mars": MarsFile,
    "generations": GenerationsFile,
    "mc_tuner": MonteCarloFile,
    "ce_tuner": CrossEntropyFile,
    "round-robin": ControlFile[AllPlayAllTable],
}
KINDS: Final = tuple(kind for kind in FILES if kind != "round-robin")
TUNERS: Final = ("mc_tuner", "ce_tuner")
"""Kinds whose candidates play a game or two each, so that nobody is rated by them."""
PLAYERS: Final[Mapping[str, type[PlayerTable]]] = {
    "gtp": GtpTable,
    "lines": LinesTable,
    "python": StartedTable,
    "policy": PolicyTable,
    "grpc": RemotePlayerTable,
}
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
