"""Reads control files of Gomill's ringmaster (`.ctl`): programs in Python, which are executed."""

import io
import re
import tokenize
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena.control import values
from arena.control.game import GameSettings
from arena.control.parameters import InvalidParameterError
from arena.control.plans import CrossEntropyPlan, MonteCarloPlan, Plan, PlayoffPlan
from arena.control.ringmaster import go_settings, tournament_plans, tuner_plans
from arena.control.ringmaster.execution import ControlProgram
from arena.control.ringmaster.player_definitions import players
from arena.control.ringmaster.python2 import as_python_3
from arena.control.ringmaster.settings_table import SettingsTable, description
from arena.control.settings import Control
from arena.control.table import ControlError
from arena.jobs import PlayerSetup

KINDS: Final = {
    "playoff": "playoff",
    "allplayall": "all-play-all",
    "mc_tuner": "mc_tuner",
    "ce_tuner": "ce_tuner",
}
_TYPE_LINE: Final = re.compile(r"""competition_type\s*=\s*(['"])([_A-Za-z0-9]+)\1\s*""")


def is_ringmasters(text: str) -> bool:
    """Whether a control file is one of the ringmaster's: it begins with its competition type."""
    return _TYPE_LINE.fullmatch(_first_line(text)) is not None


def encoding(content: bytes) -> str:
    """What a program in Python says of its encoding (PEP 263). Raises SyntaxError for an unknown one."""
    return tokenize.detect_encoding(io.BytesIO(content).readline)[0].removesuffix("-sig")


def read(path: Path, text: str) -> Control:
    """Execute a ringmaster's control file, and read what it has set. Raises ControlError."""
    found = _TYPE_LINE.fullmatch(_first_line(text))
    if found is None:
        raise ControlError("can't find competition_type: the first line must be competition_type = '...'")
    kind = found[2]
    if kind not in KINDS:
        raise ControlError(f"unknown competition type: {kind}; there are {', '.join(KINDS)}")
    names = ControlProgram(path, as_python_3(path.name, text.removeprefix("\ufeff")), kind).execute()
    if names.get("competition_type") != kind:
        raise ControlError("competition_type improperly specified: it is set again in the file")
    return _control(path, kind, SettingsTable(names))


def _control(path: Path, kind: str, table: SettingsTable) -> Control:
    folder = path.parent
    setups = players(table.definition("players"), folder, lambda why: table.fail("players", why))
    plan, game = _plan(kind, table, setups, folder)
    return Control(
        path=path,
        kind=KINDS[kind],
        game=game,
        players=setups,
        competitors=plan.competitors,
        plan=plan,
        description=table.take("description", description, ""),
        record_games=table.take("record_games", values.flag, True),
        failures="void",
        disputes="believe",
        retries_from_first=False,
        errors_to_log=table.take("stderr_to_log", values.flag, True),
        check_players=not table.take("skip_player_checks", values.flag, False),
    )


def _plan(
    kind: str, table: SettingsTable, setups: Mapping[str, PlayerSetup], folder: Path
) -> tuple[Plan, GameSettings]:
    if kind == "playoff":
        playoff: PlayoffPlan = tournament_plans.playoff(table, setups)
        return playoff, playoff.matchups[0].game
    game = go_settings.game(table, go_settings.given(table, with_handicap=kind != "allplayall"))
    if kind == "allplayall":
        return tournament_plans.all_play_all(table, setups), game
    tuner: MonteCarloPlan | CrossEntropyPlan
    if kind == "mc_tuner":
        tuner = tuner_plans.monte_carlo(table, setups, game, folder)
        places = [parameter.value(0.5 / parameter.split) for parameter in tuner.parameters]
    else:
        tuner = tuner_plans.cross_entropy(table, setups, folder)
        places = [parameter.value(parameter.mean) for parameter in tuner.parameters]
    try:
        tuner.candidate.make("candidate", places)
    except InvalidParameterError as error:
        raise ControlError(str(error)) from None
    return tuner, game


def _first_line(text: str) -> str:
    lines = (line for line in text.removeprefix("\ufeff").splitlines())
    return next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
