"""Reads a competition's control file in TOML; `docs/competitions.md` describes the format."""

import shutil
import sysconfig
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from arena.control import values
from arena.control.settings import EMBEDDED, AcademySettings, Control, GameSettings
from arena.control.table import ControlError, Table
from arena.jobs import PlayerSetup
from arena.ratings.elo import Curve, EloRules
from referees.api import InvalidSetting, UnknownGame, referee

MAX_BYTES: Final = 2**20
# The letters of the cross-table go from A to ZZ.
MAX_COMPETITORS: Final = 702
KINDS: Final = ("all-play-all",)
_SECONDS: Final = values.number(0.001, 1e6)
_ELO: Final = values.number(-10_000, 10_000)


def read(path: Path) -> Control:
    """Read a control file. Raises ControlError, whose message names the faulty setting's path."""
    path = path.absolute()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ControlError(f"can't read the control file {path}: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise ControlError(f"the control file {path} is longer than {MAX_BYTES} bytes")
    try:
        return _control(path, Table(tomllib.loads(content.decode("utf-8"))))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ControlError(f"the control file {path} is not valid TOML: {error}") from None


def _control(path: Path, file: Table) -> Control:
    folder = path.parent
    competition = _heading(file, "competition")
    kind = competition.need("kind", values.choice(*KINDS))
    game = _game(_heading(file, "game"))
    players, fixed = _players(_heading(file, "players"), folder)
    if kind == "all-play-all" and (seats := referee(game.name).from_settings(game.settings).seats) != 2:
        competition.fail("kind", f"all-play-all is for games of two, {game.name} has {seats} seats")
    academy = _academy(file.table("academy"), path)
    if academy is not None:
        players = {
            name: replace(player, environment=academy.player_environment | dict(player.environment))
            for name, player in players.items()
        }
    control = Control(
        path=path,
        kind=kind,
        game=game,
        players=players,
        competitors=_competitors(competition, players),
        description=competition.take("description", values.text, "").strip(),
        rounds=competition.take("rounds", values.whole(1, 10_000_000), None),
        parallel=competition.take("parallel", values.whole(1, 1023), 1),
        pin_cores=competition.take("pin_cores", values.flag, False),
        seed=competition.take("seed", values.whole(0, 2**63 - 1), 0),
        record_games=competition.take("record_games", values.flag, True),
        check_players=competition.take("check_players", values.flag, True),
        elo=_ratings(file.table("ratings"), fixed),
        academy=academy,
    )
    competition.finish()
    file.finish()
    return control


def _heading(file: Table, name: str) -> Table:
    found = file.table(name)
    if found is None:
        file.fail(name, f"is missing: the file needs a table [{name}]")
    return found


def _competitors(competition: Table, players: dict[str, PlayerSetup]) -> tuple[str, ...]:
    names = competition.take(
        "competitors", values.several(values.identifier, MAX_COMPETITORS), tuple(players)
    )
    for name in names:
        if name not in players:
            competition.fail("competitors", f"{name!r} has no table [players.{name}]")
        if names.count(name) > 1:
            competition.fail("competitors", f"{name!r} stands there more than once")
    if len(names) < 2:
        competition.fail("competitors", f"{len(names)} given, at least 2 are needed")
    return names


def _game(table: Table) -> GameSettings:
    name = table.need("name", values.text)
    move_limit = table.take("move_limit", values.whole(1, 1_000_000), 1000)
    scorer = table.take("scorer", values.choice("internal", "players"), "internal")
    settings: dict[str, Any] = table.rest()
    try:
        referee(name).from_settings(settings)
    except UnknownGame as error:
        table.fail("name", str(error))
    except InvalidSetting as error:
        table.fail(error.setting, str(error).removeprefix(f"{error.setting!r}: "))
    return GameSettings(name, settings, move_limit, scorer)


def _players(table: Table, folder: Path) -> tuple[dict[str, PlayerSetup], dict[str, float]]:
    players, fixed = {}, {}
    for name, definition in table.tables().items():
        try:
            values.identifier(name)
        except ValueError as error:
            table.fail(name, str(error))
        players[name] = _player(name, definition, folder)
        elo = definition.take("fixed_elo", _ELO, None)
        if elo is not None:
            fixed[name] = elo
        definition.finish()
    if len(players) > MAX_COMPETITORS:
        raise ControlError(f"players: {len(players)} tables, at most {MAX_COMPETITORS} are allowed")
    return players, fixed


def _player(name: str, table: Table, folder: Path) -> PlayerSetup:
    plain = PlayerSetup(name, ())
    parameters: dict[str, Any] = {}
    if commands := table.take("startup_commands", values.several(_startup_command, 1000), ()):
        parameters["startup_commands"] = commands
    if aliases := table.take("aliases", values.by_name(values.text), {}):
        parameters["aliases"] = aliases
    if not table.take("reliable_scorer", values.flag, True):
        parameters["reliable_scorer"] = False
    working_directory = table.take("working_directory", values.text, None)
    return PlayerSetup(
        name,
        command=_located(table.need("command", values.command), folder),
        protocol=table.take("protocol", values.choice("gtp", "python"), plain.protocol),
        working_directory=str(folder if working_directory is None else _path(folder, working_directory)),
        environment=table.take("environment", values.by_name(values.text), {}),
        discard_stderr=table.take("discard_stderr", values.flag, plain.discard_stderr),
        start_seconds=table.take("start_seconds", _SECONDS, plain.start_seconds),
        move_seconds=table.take("move_seconds", _SECONDS, plain.move_seconds),
        exit_seconds=table.take("exit_seconds", _SECONDS, plain.exit_seconds),
        memory_bytes=table.take("memory", values.memory_size, None),
        parameters=parameters,
    )


def _startup_command(value: object) -> str:
    """A command as one text, or as a list of its words."""
    if isinstance(value, list):
        return " ".join(values.several(values.text, 100)(value))
    return values.text(value)


def _path(folder: Path, name: str) -> Path:
    return folder / Path(name).expanduser()


def _located(command: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The command with its program's place: beside the control file if it has a `/`, else on PATH.

    Programs installed together with this one are found even when their folder is not on PATH.
    """
    program = command[0]
    if "/" in program:
        program = str(_path(folder, program))
    elif shutil.which(program) is None:
        program = shutil.which(program, path=sysconfig.get_path("scripts")) or program
    return program, *command[1:]


def _ratings(table: Table | None, fixed: dict[str, float]) -> EloRules:
    if table is None:
        return EloRules(fixed=fixed)
    start = table.take("start", _ELO, EloRules().start)
    curve = table.take("curve", values.choice(*(curve.value for curve in Curve)), Curve.LOGISTIC.value)
    table.finish()
    return EloRules(start, Curve(curve), fixed)


def _academy(table: Table | None, control: Path) -> AcademySettings | None:
    if table is None:
        return None

    def file(value: object) -> Path:
        return _path(control.parent, values.text(value))

    settings = AcademySettings(
        address=table.take("address", values.text, EMBEDDED),
        data=table.take("data", file, control.with_suffix(".academy")),
        update=table.take("update", values.flag, True),
        token=table.take("token", values.text, None),
        token_env=table.take("token_env", values.text, None),
        token_file=table.take("token_file", file, None),
        tls_ca=table.take("tls_ca", file, None),
        tls_cert=table.take("tls_cert", file, None),
        tls_key=table.take("tls_key", file, None),
        player_tls_cert=table.take("player_tls_cert", file, None),
        player_tls_key=table.take("player_tls_key", file, None),
    )
    table.finish()
    if settings.address == "none":
        return None
    if sum(given is not None for given in (settings.token, settings.token_env, settings.token_file)) > 1:
        table.fail("token", "give only one of token, token_env and token_file")
    if (settings.tls_cert is None) != (settings.tls_key is None):
        table.fail("tls_cert", "tls_cert and tls_key go together")
    if (settings.player_tls_cert is None) != (settings.player_tls_key is None):
        table.fail("player_tls_cert", "player_tls_cert and player_tls_key go together")
    if not settings.embedded and not settings.address.startswith("unix:") and ":" not in settings.address:
        table.fail(
            "address", f"must be 'host:port', 'unix:PATH', 'embedded' or 'none', not {settings.address!r}"
        )
    return settings
