"""What a control file says, as values. The file's own format is read elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import URL

from academy.wire.addresses import ServerAddress
from academy.wire.tls import Endpoint
from arena.control.plans import GameSettings, MarsPlan, Plan, PlayoffPlan
from arena.control.schema import AcademyTable, OpeningsFile
from arena.control.tokens import token_from
from arena.control.validation import ControlError as ControlError
from arena.jobs import Adjudication, PlayerSetup
from arena.lobby import DEFAULT_ADDRESS
from arena.ratings.elo import EloRules

OnVoid = Literal["halt", "skip-matchup", "forfeit"]
Scope = Literal["player", "matchup"]
"""What may be left out of a competition."""


class AcademySettings(AcademyTable):
    """How ACADEMY is reached; `data` is the folder of a server of our own."""

    data: Path

    @property
    def embedded(self) -> bool:
        """Whether the arena runs the server itself."""
        return self.address == "embedded"

    @property
    def player_environment(self) -> dict[str, str]:
        """The variables that name the players' certificate and key, which have no secrets of a contest."""
        files = {"ACADEMY_TLS_CERT": self.player_tls_cert, "ACADEMY_TLS_KEY": self.player_tls_key}
        # Players may have other working directories.
        return {name: str(file.resolve()) for name, file in files.items() if file is not None}

    def read_token(self) -> str | None:
        """The bearer token, from wherever it is kept. Raises MissingTokenError."""
        return token_from("academy", self.token_env, self.token_file) or self.token


@dataclass(frozen=True)
class WorkerSettings:
    """Where games are played, and what the nodes of a Ray cluster get for it, in Ray's words.

    `on` is `local`, `ray`, or the address of a cluster.
    """

    on: str = "local"
    runtime_env: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    """A competition as its control file describes it.

    `plan` says what is played, by its kind. `competitors` are the names of those `players` that take
    part, in the order of the cross-table. `seed` makes all games repeat, wherever the file is run; None:
    what chance there is in the games comes from a secret of the competition. `results` is a database's
    URL; None: a file beside the control file. `league` is that of the league it belongs to. `remote` is
    where players dial in that are reached so; `listeners` has the settings of other protocols' listeners,
    by the protocol's name. Without `errors_to_log`, players' standard errors stay the arena's own. With
    `pin_cores` each game keeps to one core. `failures` and `ringmaster_rules` are what `GameJob` says;
    `void_retries` is how many void games of a matchup in a row are tried again, also before its first
    finished game (`retries_from_first`), and `on_void` what follows when there are more. A player that
    dials in is left out after `leave_out_after` void games in a row that it is at fault for. With
    `begins_at_academy` players whose Elo is not given here begin with ACADEMY's. `fair_use` are rules
    stricter than the game's. `token_variables` are all that the file names as holding a token: no player's
    program gets them.
    """

    path: Path
    kind: str
    game: GameSettings
    players: Mapping[str, PlayerSetup]
    competitors: tuple[str, ...]
    plan: Plan
    description: str = ""
    parallel: int = 1
    pin_cores: bool = False
    seed: int | None = None
    record_games: bool = True
    check_players: bool = True
    errors_to_log: bool = True
    failures: str = "forfeit"
    ringmaster_rules: bool = False
    void_retries: int = 1
    retries_from_first: bool = True
    on_void: OnVoid = "halt"
    leave_out_after: int = 3
    openings: OpeningsFile | None = None
    adjudication: Adjudication | None = None
    results: URL | None = field(default=None, repr=False)
    elo: EloRules = field(default_factory=EloRules)
    begins_at_academy: bool = True
    academy: AcademySettings | None = None
    league: URL | None = field(default=None, repr=False)
    fair_use: Mapping[str, float] = field(default_factory=dict)
    remote: Endpoint = field(default_factory=lambda: Endpoint(ServerAddress.parse(DEFAULT_ADDRESS)))
    listeners: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    token_variables: frozenset[str] = frozenset()
    workers: WorkerSettings = WorkerSettings()

    @property
    def own_settings(self) -> bool:
        """Whether games have settings of their own, so that those of the competition may change."""
        return isinstance(self.plan, PlayoffPlan | MarsPlan)
