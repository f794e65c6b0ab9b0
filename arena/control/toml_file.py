"""Reads a competition's control file in TOML; `docs/reference/control-file.md` describes the format."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL

from arena.control.competition_tables import CompetitionTable
from arena.control.kinds import Contents, read_game, read_plan
from arena.control.player_tables import PlayerTable
from arena.control.players import clock, read_player, setup_player
from arena.control.schema import (
    FILES,
    TUNERS,
    AcademyTable,
    ControlFile,
    FairUseTable,
    LeagueTable,
    RatingsTable,
    WorkersTable,
)
from arena.control.settings import AcademySettings, Control, ControlError, WorkerSettings
from arena.control.tokens import variables_named
from arena.control.validation import choose, toml_place
from arena.control.validation import read as read_table
from arena.jobs import Adjudication
from arena.players.protocols import added_protocols, dial_in_protocol
from arena.ratings.elo import Curve, EloRules
from arena.ratings.places import RatedBy
from referees.toml_text import InvalidTomlError, read_toml

MAX_BYTES: Final = 2**20
# What stands in [competition] and is the same in `Control`.
_SHARED: Final = CompetitionTable.model_fields.keys() - {"kind", "description"}


def read(path: Path) -> Control:
    """Read a control file. Raises ControlError, whose message names the faulty setting's path."""
    path = path.absolute()
    return parse(path, read_text(path))


def parse(path: Path, text: str) -> Control:
    """The control file of an absolute path, from its text. Raises ControlError."""
    try:
        tables = read_toml(text.removeprefix("\ufeff"))
    except InvalidTomlError as error:
        raise ControlError(f"the control file {path} can't be read: {error}") from None
    return _control(path, tables)


def read_text(path: Path, encoding: Callable[[bytes], str] = lambda content: "utf-8") -> str:
    """The text of a control file, in the `encoding` that its format says. Raises ControlError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ControlError(f"can't read the control file {path}: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise ControlError(f"the control file {path} is longer than {MAX_BYTES} bytes")
    try:
        return content.decode(encoding(content))
    except (UnicodeError, LookupError, SyntaxError) as error:
        what = "UTF-8" if isinstance(error, UnicodeDecodeError) and error.encoding == "utf-8" else "text"
        raise ControlError(f"the control file {path} is not valid {what}: {error}") from None


def _control(path: Path, tables: dict[str, Any]) -> Control:
    folder = path.parent
    token_variables = frozenset(variables_named(tables))
    listeners = _listeners(tables, folder)
    tables = {name: table for name, table in tables.items() if name not in listeners}
    file = read_table(_model(tables), tables, toml_place(), folder)
    game = read_game(file.game, folder, toml_place("game"))
    everybodys_clock = None if file.time_control is None else clock(file.time_control)
    players = {
        name: read_player(table, toml_place("players", name), folder) for name, table in file.players.items()
    }
    setups = {name: setup_player(name, player, folder, everybodys_clock) for name, player in players.items()}
    league = None if file.league is None else _league(file.league, file.competition.kind)
    academy = None if file.academy is None else _academy(file.academy, path, league)
    if academy is not None:
        setups = {
            name: replace(setup, environment=academy.player_environment | dict(setup.environment))
            for name, setup in setups.items()
        }
    plan = read_plan(Contents(file, game, setups, folder, everybodys_clock))
    return Control(
        path=path,
        kind="all-play-all" if file.competition.kind == "round-robin" else file.competition.kind,
        game=game,
        players=setups,
        competitors=plan.competitors,
        plan=plan,
        description=file.competition.description.strip(),
        openings=file.openings,
        adjudication=None if file.adjudication is None else Adjudication(**dict(file.adjudication)),
        elo=_rating(file.ratings, players),
        begins_at_academy=file.ratings.begin == "academy",
        academy=academy,
        league=league,
        fair_use=_fair_use(file.fair_use, academy),
        remote=file.remote.endpoint,
        listeners=listeners,
        token_variables=token_variables,
        workers=_workers(file.workers),
        **{setting: getattr(file.competition, setting) for setting in _SHARED},
    )


def _listeners(tables: dict[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """The settings of each listener of an added protocol that the file has a table of."""
    named = [name for name in added_protocols() if name in tables]
    return {
        name: dict(
            read_table(dial_in_protocol(name).listener_settings(), tables[name], toml_place(name), folder)
        )
        for name in named
    }


def _model(tables: dict[str, Any]) -> type[ControlFile[Any]]:
    competition = tables.get("competition")
    if not isinstance(competition, dict):
        return ControlFile[CompetitionTable]
    return FILES[choose(FILES, "kind", None, competition, toml_place("competition"))]


def _rating(table: RatingsTable, players: dict[str, PlayerTable]) -> EloRules:
    return EloRules(
        table.start,
        Curve(table.curve),
        fixed={name: player.fixed_elo for name, player in players.items() if player.fixed_elo is not None},
        begin={name: player.elo for name, player in players.items() if player.elo is not None},
        by=RatedBy(table.by),
    )


def _workers(table: WorkersTable) -> WorkerSettings:
    environment = {
        "working_dir": None if table.working_folder is None else str(table.working_folder),
        "pip": list(table.packages),
        "env_vars": dict(table.variables),
    }
    return WorkerSettings(table.on, {name: value for name, value in environment.items() if value})


def _fair_use(table: FairUseTable | None, academy: AcademySettings | None) -> Mapping[str, float]:
    if table is None:
        return {}
    if academy is None:
        raise ControlError("[fair_use] is about ACADEMY: add a table [academy], or leave [fair_use] out")
    return {name: value for name, value in dict(table).items() if value is not None}


def _league(table: LeagueTable, kind: str) -> URL:
    if kind in TUNERS:
        raise ControlError(
            f"league: a competition of kind {kind!r} belongs to no league: its candidates play a game or two "
            "each, and rate nobody; leave [league] out"
        )
    return table.url


def _academy(table: AcademyTable, path: Path, league: URL | None) -> AcademySettings | None:
    if table.address == "none":
        return None
    # What a league's competitions teach is kept together, as their ratings are.
    shared = league is not None and league.get_backend_name() == "sqlite"
    beside = Path(str(league.database)) if league is not None and shared else path
    return AcademySettings.model_construct(
        **{**dict(table), "data": table.data or beside.with_suffix(".academy")}
    )
