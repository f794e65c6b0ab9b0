"""The tables of a control file as models: each setting's type, limits, default and meaning.

The text below a setting is its meaning; `arena.control.reference` prints all of them. What is played is in
`arena.control.competition_tables`, players are in `arena.control.player_tables`, and rules between several
tables in `arena.control.kinds`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from academy.wire.addresses import InvalidAddressError, ServerAddress
from academy.wire.tls import Certificates, Endpoint
from arena.control.competition_tables import (
    AllPlayAllTable,
    CompetitionTable,
    CrossEntropyTable,
    DrawnParameter,
    FamilyTable,
    GameTable,
    GauntletTable,
    GenerationsTable,
    MatchupTable,
    MonteCarloTable,
    PlayoffTable,
    SeriesTable,
    SprtTestTable,
    StandingTable,
    SwissTable,
)
from arena.control.table import Table, check_path, require_partners
from arena.control.validation import SettingError
from arena.control.values import (
    MAX_FAMILIES,
    MAX_LISTED,
    MAX_MATCHUPS,
    MAX_PARAMETERS,
    MAX_PLAYERS,
    MAX_SERIES,
    Address,
    ClockSeconds,
    Elo,
    FamilyName,
    FilePath,
    Folder,
    GameId,
    HalfPoint,
    Moves,
    Name,
    Results,
    Text,
    VariableName,
    Workers,
)
from arena.lobby import DEFAULT_ADDRESS


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
        require_partners(self, {"byo_yomi_stones": "byo_yomi_seconds", "most_seconds": "increment_seconds"})
        return self


class OpeningsFile(Table):
    """How games begin. Where players change seats, every opening is played once in each seat."""

    file: FilePath
    """The openings: SGF, or a list of moves on each line."""
    order: Literal["random", "file"] = "random"
    """Shuffled by the seed, or as in the file."""
    plies: Moves | None = None
    """How many moves of each opening are played; without it all. Where seats move at once, whole turns."""

    @model_validator(mode="after")
    def _check_file(self) -> Self:
        check_path("file", self.file, Path.is_file, f"there is no file {self.file}")
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
        require_partners(self, resigning | dict.fromkeys(("draw_moves", "draw_after"), "draw_margin"))
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

    What is absent is as the game's settings say. ACADEMY refuses contests with a rule that is looser; a run
    ends where an admin makes the game's rule stricter meanwhile, and goes on once the rule is changed here.
    """

    opening_moves_per_consultation: int | None = Field(None, ge=1, le=1_000_000)
    """The opening tree may be consulted before one own move in this number."""
    opening_plies_ahead: int | None = Field(None, ge=0, le=6)
    """How many plies of recommended moves and replies follow a recommended move; they come in pairs."""
    pattern_value_limit: float | None = Field(None, ge=0, le=1)
    """Patterns may be consulted where the player expects this or less."""
    elo_margin: int | None = Field(None, ge=0, le=1_000_000)
    """A player gets only knowledge of a mean Elo above its own minus this."""
    consult_share: float | None = Field(None, ge=0, le=1)
    """The share of contests in which a player may consult; ACADEMY draws for each contest and seat."""
    local_weights: bool | None = None
    """`false`: players may not download the weights of tesujis and evaluation, though the game lets them."""


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
    variables: dict[VariableName, Text] = Field({})
    """Variables of the processes that play on the nodes, Ray's own among them. `${NAME}` is the node's, and
    `PATH` must contain `${PATH}`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.working_folder is not None:
            why = f"{self.working_folder!r} is not a folder here"
            check_path("working_folder", Path(self.working_folder), Path.is_dir, why)
        path = self.variables.get("PATH")
        if path is not None and "${PATH}" not in path:
            raise SettingError(
                "variables",
                f"PATH, {path!r}, is also that of Ray's own processes, which need what the node has: write "
                f"{path + ':${PATH}'!r}",
            )
        # Without `on` the file may be for `arena run --on`.
        if self.on == "local" and "on" in self.model_fields_set:
            for setting in ("working_folder", "packages", "variables"):
                if getattr(self, setting):
                    raise SettingError(
                        setting, "is for a Ray cluster, and on is 'local': leave one of them out"
                    )
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


class MarsFile(ControlFile[CompetitionTable]):
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
