"""The tables of players: `[players.NAME]` of each protocol."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from arena.control.schema import ClockTable
from arena.control.table import Table
from arena.control.validation import SettingError
from arena.control.values import (
    Argument,
    Command,
    Elo,
    FilePath,
    Folder,
    GtpCommand,
    Interpreter,
    LabelName,
    LabelValue,
    LateTurns,
    Memory,
    Name,
    Seconds,
    Text,
    VariableName,
    Version,
)

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
    custom: dict[Name, Annotated[float, Field(ge=LEAST_AMOUNT, le=10_000)]] = Field({})
    """Amounts of what nodes offer by names of their own (`ray start --resources`)."""
    labels: dict[LabelName, LabelValue] = Field({})
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
    """Players of one architecture, as a league and the results' `SAGA_Client` list them; without it the
    player's name, in a league the family of the version before."""
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
    environment: dict[VariableName, Text] = Field({})
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
    aliases: dict[str, Text] = Field({})
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
    late_turns: LateTurns = 3
    """After this number of late turns a bot passes, without requests."""


class PolicyTable(ProgramTable):
    """Players of protocol `"policy"`: agents of DeepMind's shape."""

    interpreter: Interpreter | None = None
    """The Python that runs it; without it the arena's own."""
    arguments: dict[str, Argument] | None = None
    """Arguments by name for its constructor."""
    faults: Literal["lose", "pass"] | None = None
    """What becomes of a game in which it fails; without it the game's own rule."""
    late_turns: LateTurns | None = None
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


PLAYERS: Final[Mapping[str, type[PlayerTable]]] = {
    "gtp": GtpTable,
    "lines": LinesTable,
    "python": StartedTable,
    "policy": PolicyTable,
    "grpc": RemotePlayerTable,
}
