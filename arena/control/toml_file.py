"""Reads a competition's control file in TOML; `docs/competitions.md` describes the format."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.control import game_table, player_table, protocol_tables, remote_table, values
from arena.control.academy_table import academy, ratings
from arena.control.draft import Draft
from arena.control.plan_tables import KINDS, plan
from arena.control.settings import ON_VOID, Control, OnVoid
from arena.control.table import ControlError, TomlTable
from arena.control.token_variables import variables_named
from referees.toml_text import InvalidTomlError, read_toml

MAX_BYTES: Final = 2**20
_ONE_MATCHUP: Final = ("sprt", "mc_tuner", "ce_tuner")


def read(path: Path) -> Control:
    """Read a control file. Raises ControlError, whose message names the faulty setting's path."""
    path = path.absolute()
    return parse(path, read_text(path))


def parse(path: Path, text: str) -> Control:
    """The control file of an absolute path, from its text. Raises ControlError."""
    try:
        tables = read_toml(text)
    except InvalidTomlError as error:
        raise ControlError(f"the control file {path} can't be read: {error}") from None
    variables = frozenset(variables_named(tables))
    return replace(_control(path, TomlTable(tables)), token_variables=variables)


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
    except (UnicodeDecodeError, SyntaxError) as error:
        what = "UTF-8" if isinstance(error, UnicodeDecodeError) and error.encoding == "utf-8" else "text"
        raise ControlError(f"the control file {path} is not valid {what}: {error}") from None


def _control(path: Path, file: TomlTable) -> Control:
    folder = path.parent
    competition = _heading(file, "competition")
    kind = competition.need("kind", values.choice(*KINDS))
    game = game_table.game(_heading(file, "game"), folder)
    clock = file.table("time_control")
    everybodys_clock = None if clock is None else player_table.time_control(clock)
    players, fixed, begin = player_table.players(_heading(file, "players"), folder, everybodys_clock)
    reached = academy(file.table("academy"), path)
    if reached is not None:
        players = {
            name: replace(player, environment=reached.player_environment | dict(player.environment))
            for name, player in players.items()
        }
    elo, begins_at_academy = ratings(file.table("ratings"), fixed, begin)
    found = plan(kind, Draft(file, competition, game, players, folder, everybodys_clock))
    control = Control(
        path=path,
        kind=kind,
        game=game,
        players=players,
        competitors=found.competitors,
        plan=found,
        description=competition.take("description", values.text, "").strip(),
        parallel=competition.take("parallel", values.whole(1, 1023), 1),
        pin_cores=competition.take("pin_cores", values.flag, False),
        seed=competition.take("seed", values.whole(0, 2**63 - 1), None),
        record_games=competition.take("record_games", values.flag, True),
        check_players=competition.take("check_players", values.flag, True),
        errors_to_log=competition.take("errors_to_log", values.flag, True),
        failures=competition.take("failures", values.choice("forfeit", "void"), "forfeit"),
        void_retries=competition.take("void_retries", values.whole(0, 1000), 1),
        on_void=_on_void(competition, kind),
        leave_out_after=competition.take("leave_out_after", values.whole(1, 1000), 3),
        openings=game_table.openings(file.table("openings"), folder),
        adjudication=game_table.adjudication(file.table("adjudication")),
        results=competition.take("results", values.results_url(folder), None),
        elo=elo,
        begins_at_academy=begins_at_academy,
        academy=reached,
        remote=remote_table.endpoint(file.table("remote"), folder),
        listeners=protocol_tables.listeners(file),
    )
    competition.finish()
    file.finish()
    return control


def _on_void(competition: TomlTable, kind: str) -> OnVoid:
    word = competition.take("on_void", values.choice(*ON_VOID), "halt")
    if word == "skip-matchup" and kind in _ONE_MATCHUP:
        competition.fail(
            "on_void", f"a competition of kind {kind!r} has one matchup: say 'halt' or 'forfeit'"
        )
    return next(known for known in ON_VOID if known == word)


def _heading(file: TomlTable, name: str) -> TomlTable:
    found = file.table(name)
    if found is None:
        file.fail(name, f"is missing: the file needs a table [{name}]")
    return found
