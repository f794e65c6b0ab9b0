"""Reads control files of Gomill's ringmaster (`.ctl`): programs in Python, which are executed.

What they set is read by the models of `competition_tables` and `player_tables`, under the ringmaster's names.
"""

import io
import re
import tokenize
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from arena.control.competition_tables import (
    AllPlayAllTable,
    CompetitionTable,
    CrossEntropyTable,
    GameTable,
    MatchupTable,
    MonteCarloTable,
    PlayoffTable,
)
from arena.control.kinds import cross_entropy_plan, monte_carlo_plan, read_game
from arena.control.parameters import GridParameter, InvalidParameterError, NormalParameter
from arena.control.plans import AllPlayAllPlan, CandidatePlan, GameSettings, Matchup, Plan, PlayoffPlan
from arena.control.player_tables import GtpTable
from arena.control.players import setup_player
from arena.control.ringmaster.definitions import SETTINGS, Definition
from arena.control.ringmaster.execution import ControlProgram
from arena.control.settings import Control, ControlError
from arena.control.table import Table
from arena.control.validation import Key, Model, Place, explain_unknown, suggest_misspelt
from arena.control.validation import read as read_table
from arena.control.values import MAX_CHILDREN, MAX_MATCHUPS, MAX_PARAMETERS, MAX_PLAYERS, Format, Name
from arena.jobs import PlayerSetup

Competition = TypeVar("Competition", bound=CompetitionTable)
KINDS: Final = {
    "playoff": "playoff",
    "allplayall": "all-play-all",
    "mc_tuner": "mc_tuner",
    "ce_tuner": "ce_tuner",
}
# The ringmaster waits for ever; nothing here does. These are far above what its players need.
_SECONDS: Final = {"start_seconds": 600.0, "move_seconds": 3600.0, "exit_seconds": 60.0}
_TYPE_LINE: Final = re.compile(r"""competition_type\s*=\s*(['"])([_A-Za-z0-9]+)\1\s*""")
_SEATS: Final = {"b": 1, "black": 1, "w": 2, "white": 2, "r": None, "random": None}
_COMPENSATION: Final = "internal_scorer_handicap_compensation"
_GAME: Final = ("board_size", "komi", "handicap", "handicap_style", "move_limit", "scorer", _COMPENSATION)
_MATCHUP: Final = ("alternating", "number_of_games", *_GAME)
# The settings that have another name in the models.
_OURS: Final = {
    "stderr_to_log": "errors_to_log",
    "number_of_games": "games",
    _COMPENSATION: "handicap_compensation",
    "cwd": "working_directory",
    "environ": "environment",
    "startup_gtp_commands": "startup_commands",
    "gtp_aliases": "aliases",
    "is_reliable_scorer": "reliable_scorer",
    "sgf_player_name_from_gtp": "name_from_gtp",
    "exploration_coefficient": "exploration",
    "summary_spec": "summary",
    "log_tree_to_history_period": "log_period",
    "number_of_running_simulations_to_show": "shown_running",
    "number_of_generations": "generations",
    "samples_per_generation": "samples",
    "batch_size": "batch",
    "candidate_colour": "candidate_seat",
}
_RINGMASTERS: Final = {ours: name for name, ours in _OURS.items()}
_PLAYER: Final = (
    *("command", "cwd", "environ", "discard_stderr", "startup_gtp_commands", "gtp_aliases"),
    *("is_reliable_scorer", "allow_claim", "sgf_player_name_from_gtp"),
)


def is_ringmasters(text: str) -> bool:
    """Whether a control file is one of the ringmaster's: it begins with its competition type."""
    return _TYPE_LINE.fullmatch(_first_line(text)) is not None


def encoding(content: bytes) -> str:
    """What a program in Python says of its encoding (PEP 263). Raises SyntaxError for an unknown one."""
    return tokenize.detect_encoding(io.BytesIO(content).readline)[0].removesuffix("-sig")


def read(path: Path, text: str) -> Control:
    """Execute a ringmaster's control file, and read what it has set. Raises ControlError."""
    match = _TYPE_LINE.fullmatch(_first_line(text))
    if match is None:
        raise ControlError("can't find competition_type: the first line must be competition_type = '...'")
    kind = match[2]
    if kind not in KINDS:
        raise ControlError(f"unknown competition type: {kind}; there are {', '.join(KINDS)}")
    names = ControlProgram(path, text.removeprefix("\ufeff"), kind).execute()
    if names.get("competition_type") != kind:
        raise ControlError("competition_type improperly specified: it is set again in the file")
    return _Event(path, KINDS[kind], names).read()


def _first_line(text: str) -> str:
    lines = text.removeprefix("\ufeff").splitlines()
    return next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")


# Parameters have functions, which no other control file has.


def _check_function(value: object) -> object:
    if not callable(value):
        raise ValueError(f"must be a function, not {value!r}")
    return value


Function = Annotated[Any, AfterValidator(_check_function)]


class _GridArguments(Table):
    code: Name
    scale: Function
    split: int = Field(ge=1, le=MAX_CHILDREN)
    format: Format | None = None


class _NormalArguments(Table):
    code: Name
    initial_mean: float = Field(ge=-1e6, le=1e6)
    initial_variance: float = Field(ge=0, le=1e12)
    transform: Function = float
    format: Format | None = None


class _Code(Table):
    players: Name


class _Open(BaseModel):
    # A file has other names for itself.
    model_config = ConfigDict(extra="ignore")


def _place(whose: str = "") -> Place:
    """The ringmaster's paths: `'komi'`, or `matchup 1: 'komi'` of the definition called `whose`."""

    def quote(keys: Sequence[Key]) -> str:
        name = f"'{_RINGMASTERS.get(str(keys[0]), keys[0])}'"
        return f"{whose}: {name}" if whose else name

    return quote


def _fail(setting: str, why: str, whose: str = "") -> NoReturn:
    raise ControlError(f"{_place(whose)([setting])}: {why}")


def _arguments(definition: object, word: str, whose: str, known: Collection[str]) -> dict[str, Any]:
    """The arguments of a definition. Raises ControlError for anything else, or another kind of definition."""
    if not isinstance(definition, Definition) or definition.word != word:
        raise ControlError(f"{whose}: not a {word}")
    for name in definition.arguments:
        if name not in known:
            theirs = _RINGMASTERS.get(name)
            why = (
                f"unknown setting; did you mean {theirs!r}?"
                if theirs in known
                else explain_unknown(name, known)
            )
            # The file's own word, which may be what the setting is called in TOML.
            raise ControlError(f"{whose}: '{name}': {why}")
    return dict(definition.arguments)


def _ours(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under the models' names; None is how a setting is left out."""
    return {_OURS.get(name, name): value for name, value in given.items() if value is not None}


def _player(name: str, definition: object, folder: Path) -> PlayerSetup:
    whose = f"player {name}"
    given = _arguments(definition, "Player", whose, _PLAYER)
    player = read_table(GtpTable, {**_SECONDS, **_ours(given)}, _place(whose), folder)
    return replace(setup_player(name, player, folder, None), working_directory=player.working_directory)


@dataclass(frozen=True)
class _CandidateFunction:
    """A control file's `make_candidate`."""

    function: Callable[..., Any]
    folder: Path

    def __call__(self, name: str, values: Sequence[Any]) -> PlayerSetup:
        """The candidate with these values. Raises InvalidParameterError."""
        try:
            return _player(name, self.function(*values), self.folder)
        except Exception as error:  # The function is the user's: it may raise anything.
            arguments = ", ".join(map(repr, values))
            raise InvalidParameterError(f"make_candidate({arguments}): {error}") from error


class _Event:
    """What a control file has set, by name."""

    def __init__(self, path: Path, kind: str, names: Mapping[str, Any]) -> None:
        self._path = path
        self._folder = path.parent
        self._kind = kind
        self._names = names
        self._players = self._read_players()

    def read(self) -> Control:
        """The control file. Raises ControlError."""
        reads = {
            "playoff": self._playoff,
            "all-play-all": self._all_play_all,
            "mc_tuner": self._monte_carlo,
            "ce_tuner": self._cross_entropy,
        }
        try:
            plan, competition, game = reads[self._kind]()
        except InvalidParameterError as error:
            raise ControlError(str(error)) from None
        skips = self._names.get("skip_player_checks", False)
        if not isinstance(skips, bool):
            _fail("skip_player_checks", f"must be true or false, not {skips!r}")
        return Control(
            path=self._path,
            kind=self._kind,
            game=game,
            players=self._players,
            competitors=plan.competitors,
            plan=plan,
            description=competition.description.strip(),
            record_games=competition.record_games,
            failures="void",
            ringmaster_rules=True,
            retries_from_first=False,
            errors_to_log=competition.errors_to_log,
            check_players=not skips,
        )

    def _read_players(self) -> dict[str, PlayerSetup]:
        players = self._need("players")
        if not isinstance(players, dict):
            _fail("players", f"must be a dictionary of codes and Players, not {players!r}")
        for code in players:
            read_table(_Code, {"players": code}, _place(), self._folder)
        return {code: _player(code, player, self._folder) for code, player in players.items()}

    def _need(self, name: str, given: Mapping[str, Any] | None = None, whose: str = "") -> Any:
        value = (self._names if given is None else given).get(name)
        if value is None:
            _fail(name, f"is missing{suggest_misspelt(name, set(self._names) - SETTINGS)}", whose)
        return value

    def _listed(self, name: str, most: int) -> Sequence[Any]:
        value = self._need(name)
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= most:
            _fail(name, f"must be a list of 1 to {most} items, not {value!r:.200}")
        return value

    def _known(self, name: object, setting: str, whose: str = "") -> str:
        if not isinstance(name, str) or name not in self._players:
            known = f"unknown player {name}; players are {', '.join(self._players)}"
            _fail(setting, "is missing" if name is None else known, whose)
        return name

    def _competition(self, model: type[Competition], **given: Any) -> Competition:
        own = {
            name: value
            for name, value in self._names.items()
            if name in SETTINGS or name not in model.model_fields
        }
        table = {**_ours(own), "kind": self._kind, **given}
        open_model: Any = create_model(model.__name__, __base__=(model, _Open))
        read: Competition = read_table(open_model, table, _place(), self._folder)
        return read

    def _game(self, given: Mapping[str, Any], whose: str = "") -> GameSettings:
        """The game of these settings; `whose` is the matchup that has some of its own."""
        for name in ("board_size", "komi"):
            # What the file has is missing where the matchup sets it to None.
            self._need(name, given, whose if self._names.get(name) is not None else "")
        settings = _ours({name: given[name] for name in _GAME if name in given})
        # As earlier releases have stored it.
        if type(settings["komi"]) is int:
            settings["komi"] = float(settings["komi"])
        if "handicap" in settings:
            settings.setdefault("handicap_style", "fixed")
        else:
            settings.pop("handicap_style", None)
        table = {"name": "go", "move_limit": 1000, "scorer": "players", "handicap_compensation": "full"}
        place = _place(whose)
        game = read_table(GameTable, {**table, **settings}, place, self._folder)
        return read_game(game, self._folder, place)

    def _playoff(self) -> tuple[Plan, CompetitionTable, GameSettings]:
        competition = self._competition(PlayoffTable)
        matchups: dict[str, Matchup] = {}
        for index, definition in enumerate(self._listed("matchups", MAX_MATCHUPS)):
            matchup = self._matchup(definition, index)
            if matchup.matchup_id in matchups:
                _fail("matchups", f"duplicate matchup id '{matchup.matchup_id}'")
            matchups[matchup.matchup_id] = matchup
        plan = PlayoffPlan(tuple(matchups.values()))
        return plan, competition, plan.matchups[0].game

    def _matchup(self, definition: object, index: int) -> Matchup:
        identifier = definition.arguments.get("id") if isinstance(definition, Definition) else None
        whose = f"matchup {identifier if isinstance(identifier, str) else index}"
        known = ("player_1", "player_2", "id", "name", *_MATCHUP)
        own = _arguments(definition, "Matchup", whose, known)
        given = {name: self._names[name] for name in _MATCHUP if name in self._names} | own
        seats = ("player_1", "player_2")
        players = [self._known(own.get(seat), seat, whose) for seat in seats]
        rest = {name: given[name] for name in given if name not in (*seats, *_GAME)}
        table = read_table(MatchupTable, {**_ours(rest), "players": players}, _place(whose), self._folder)
        return Matchup(
            matchup_id=table.id or str(index),
            players=table.players,
            game=self._game(given, whose if own.keys() & set(_GAME) else ""),
            name=table.name,
            alternating=bool(table.alternating),
            games=table.games,
        )

    def _all_play_all(self) -> tuple[Plan, CompetitionTable, GameSettings]:
        names: list[str] = []
        for index, competitor in enumerate(self._listed("competitors", MAX_PLAYERS)):
            whose, name = f"competitor {index}", competitor
            if isinstance(competitor, Definition):
                name = _arguments(competitor, "Competitor", whose, ("player",)).get("player")
            names.append(self._known(name, "player", whose))
            if name in names[:-1]:
                _fail("competitors", f"duplicate competitor: {name}")
        if len(names) < 2:
            _fail("competitors", "has 1 item; it needs at least 2")
        competition = self._competition(AllPlayAllTable, competitors=names)
        even = {name: self._names[name] for name in self._names if not name.startswith("handicap")}
        return AllPlayAllPlan(tuple(names), competition.rounds), competition, self._game(even)

    def _monte_carlo(self) -> tuple[Plan, CompetitionTable, GameSettings]:
        competition, game = self._competition(MonteCarloTable), self._game(self._names)
        if float(game.settings["komi"]).is_integer():
            _fail("komi", "must be fractional, so that no game is drawn")
        parameters = tuple(
            GridParameter(given.code, given.scale, given.split, given.format or f"{given.code}:%s")
            for given in self._parameters(_GridArguments)
        )
        plan = monte_carlo_plan(competition, self._candidate(), parameters, _place())
        for parameter in parameters:
            parameter.value(1 - 0.5 / parameter.split)
        plan.candidate.make("candidate", [parameter.value(0.5 / parameter.split) for parameter in parameters])
        return plan, competition, game

    def _cross_entropy(self) -> tuple[Plan, CompetitionTable, GameSettings]:
        competition, game = self._competition(CrossEntropyTable), self._game(self._names)
        parameters = tuple(
            NormalParameter(
                given.code,
                given.initial_mean,
                given.initial_variance,
                given.transform,
                given.format or f"{given.code}:%s",
            )
            for given in self._parameters(_NormalArguments)
        )
        plan = cross_entropy_plan(competition, self._candidate(), parameters)
        plan.candidate.make("candidate", [parameter.value(parameter.mean) for parameter in parameters])
        return plan, competition, game

    def _parameters(self, model: type[Model]) -> list[Model]:
        parameters: dict[str, Model] = {}
        for index, definition in enumerate(self._listed("parameters", MAX_PARAMETERS)):
            code = definition.arguments.get("code") if isinstance(definition, Definition) else None
            whose = f"parameter {code if isinstance(code, str) else index}"
            given = _arguments(definition, "Parameter", whose, model.model_fields)
            parameter: Any = read_table(model, given, _place(whose), self._folder)
            if parameter.code in parameters:
                _fail("parameters", f"duplicate parameter code: {parameter.code}")
            parameters[parameter.code] = parameter
        return list(parameters.values())

    def _candidate(self) -> CandidatePlan:
        opponent = self._known(self._need("opponent"), "opponent")
        colour = str(self._need("candidate_colour")).lower()
        if colour not in _SEATS:
            _fail("candidate_colour", f"must be one of {', '.join(map(repr, _SEATS))}, not {colour!r}")
        function = self._need("make_candidate")
        if not callable(function):
            _fail("make_candidate", f"must be a function, not {function!r}")
        return CandidatePlan(opponent, _SEATS[colour], _CandidateFunction(function, self._folder), colour)
