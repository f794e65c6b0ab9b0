"""Reads control files of Gomill's ringmaster (`.ctl`): programs in Python, which are executed."""

import io
import math
import re
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from arena.control.parameters import GridParameter, InvalidParameterError, NormalParameter
from arena.control.plans import (
    AllPlayAllPlan,
    CandidatePlan,
    CrossEntropyPlan,
    GameSettings,
    Matchup,
    MonteCarloPlan,
    Plan,
    PlayoffPlan,
)
from arena.control.ringmaster.definitions import Definition
from arena.control.ringmaster.execution import ControlProgram
from arena.control.ringmaster.python2 import as_python_3
from arena.control.schema import Table
from arena.control.settings import Control, ControlError
from arena.control.validation import Form, Key, Model, Place, suggest_misspelt
from arena.control.validation import read as read_table
from arena.control.values import (
    MAX_CHILDREN,
    MAX_MATCHUPS,
    MAX_PARAMETERS,
    MAX_PLAYERS,
    Command,
    Count,
    CountFromZero,
    Format,
    GtpCommand,
    Name,
    Share,
    Text,
)
from arena.jobs import PlayerSetup
from referees.api import InvalidSettingError, referee

KINDS: Final = {
    "playoff": "playoff",
    "allplayall": "all-play-all",
    "mc_tuner": "mc_tuner",
    "ce_tuner": "ce_tuner",
}
MAX_DESCRIPTION: Final = 100_000
# The ringmaster waits for ever; nothing here does. These are far above what its players need.
START_SECONDS: Final = 600.0
MOVE_SECONDS: Final = 3600.0
EXIT_SECONDS: Final = 60.0
_TYPE_LINE: Final = re.compile(r"""competition_type\s*=\s*(['"])([_A-Za-z0-9]+)\1\s*""")
_SEATS: Final = {"b": 1, "black": 1, "w": 2, "white": 2, "r": None, "random": None}
_COMPENSATION: Final = "internal_scorer_handicap_compensation"


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
    names = ControlProgram(path, as_python_3(path.name, text.removeprefix("\ufeff")), kind).execute()
    if names.get("competition_type") != kind:
        raise ControlError("competition_type improperly specified: it is set again in the file")
    return _control(path, kind, names)


def _first_line(text: str) -> str:
    lines = (line for line in text.removeprefix("\ufeff").splitlines())
    return next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")


# What a file sets, and the arguments of its definitions.


def _check_function(value: object) -> object:
    if not callable(value):
        raise ValueError(f"must be a function, not {value!r}")
    return value


def _check_description(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_DESCRIPTION or "\0" in value:
        raise ValueError(f"must be text of at most {MAX_DESCRIPTION} characters, without NUL")
    return value.strip()


def _check_given(name: str) -> str:
    if not name:
        raise ValueError("is empty: it must name a folder")
    return name


Function = Annotated[Any, AfterValidator(_check_function)]
Definitions = Annotated[tuple[Any, ...], Field(strict=False)]


class PlayerArguments(Table):
    """The arguments of `Player`."""

    command: Command
    cwd: Annotated[Text, AfterValidator(_check_given)] | None = None
    environ: dict[str, Text] | None = None
    discard_stderr: bool = False
    startup_gtp_commands: tuple[GtpCommand, ...] | None = Field(None, strict=False, max_length=10_000)
    gtp_aliases: dict[str, Text] | None = None
    is_reliable_scorer: bool = True
    allow_claim: bool = False
    sgf_player_name_from_gtp: bool = True


class EvenGame(Table):
    """The settings of a game without handicap."""

    board_size: int | None = Field(None, ge=2, le=25)
    komi: float | None = Field(None, ge=-1e9, le=1e9)
    move_limit: int = Field(1000, ge=1, le=1_000_000)
    scorer: Literal["players", "internal"] = "players"
    internal_scorer_handicap_compensation: Literal["no", "full", "short"] = "full"


class Game(EvenGame):
    """The settings of a game."""

    handicap: int | None = Field(None, ge=2, le=624)
    handicap_style: Literal["fixed", "free"] = "fixed"


class MatchupArguments(Game):
    """The arguments of `Matchup`."""

    player_1: Text
    player_2: Text
    id: Name | None = None
    name: Text | None = None
    alternating: bool = False
    number_of_games: CountFromZero | None = None


class CompetitorArguments(Table):
    """The argument of `Competitor`."""

    player: Text


class GridArguments(Table):
    """The arguments of `Parameter` for the Monte Carlo tuner."""

    code: Name
    scale: Function
    split: int = Field(ge=1, le=MAX_CHILDREN)
    format: Format | None = None


class NormalArguments(Table):
    """The arguments of `Parameter` for the cross-entropy tuner."""

    code: Name
    initial_mean: float = Field(ge=-1e6, le=1e6)
    initial_variance: float = Field(ge=0, le=1e12)
    transform: Function = float
    format: Format | None = None


class Event(Table):
    """What all files may set; other names are the file's own."""

    model_config = ConfigDict(extra="ignore")

    players: Annotated[dict[Any, Any], Form("a dictionary of codes and Players")]
    description: Annotated[Any, AfterValidator(_check_description)] = ""
    record_games: bool = True
    stderr_to_log: bool = True
    skip_player_checks: bool = False


class PlayoffEvent(Game, Event):
    """What a playoff sets."""

    matchups: Definitions = Field(min_length=1, max_length=MAX_MATCHUPS)
    alternating: bool = False
    number_of_games: CountFromZero | None = None


class AllPlayAllEvent(EvenGame, Event):
    """What an all-play-all sets."""

    competitors: Definitions = Field(min_length=2, max_length=MAX_PLAYERS)
    rounds: Count | None = None


class TunerEvent(Game, Event):
    """What both tuners set."""

    opponent: Text
    candidate_colour: Text
    parameters: Definitions = Field(min_length=1, max_length=MAX_PARAMETERS)
    make_candidate: Function


class MonteCarloEvent(TunerEvent):
    """What a Monte Carlo tuner sets."""

    exploration_coefficient: float = Field(ge=0, le=1e6)
    initial_visits: Count
    initial_wins: Count
    max_depth: int = Field(1, ge=1, le=20)
    number_of_games: Count | None = None
    summary_spec: tuple[Annotated[int, Field(ge=0, le=10_000)], ...] = Field(
        (30,), strict=False, max_length=20
    )
    log_tree_to_history_period: Count | None = None
    number_of_running_simulations_to_show: int = Field(12, ge=0, le=1023)


class CrossEntropyEvent(TunerEvent):
    """What a cross-entropy tuner sets."""

    number_of_generations: int = Field(ge=1, le=100_000)
    samples_per_generation: int = Field(ge=1, le=100_000)
    batch_size: int = Field(ge=1, le=100_000)
    elite_proportion: Share
    step_size: Share


_EVENTS: Final[Mapping[str, type[Event]]] = {
    "playoff": PlayoffEvent,
    "allplayall": AllPlayAllEvent,
    "mc_tuner": MonteCarloEvent,
    "ce_tuner": CrossEntropyEvent,
}


def _control(path: Path, kind: str, names: Mapping[str, Any]) -> Control:
    event = read_table(_EVENTS[kind], dict(names), _place(), path.parent)
    players = _players(event, path.parent)
    plan, game = _plan(event, names, players, path.parent)
    return Control(
        path=path,
        kind=KINDS[kind],
        game=game,
        players=players,
        competitors=plan.competitors,
        plan=plan,
        description=event.description,
        record_games=event.record_games,
        failures="void",
        disputes="believe",
        retries_from_first=False,
        errors_to_log=event.stderr_to_log,
        check_players=not event.skip_player_checks,
    )


def _plan(
    event: Event, names: Mapping[str, Any], players: Mapping[str, PlayerSetup], folder: Path
) -> tuple[Plan, GameSettings]:
    if isinstance(event, PlayoffEvent):
        playoff = _playoff(event, names, players, folder)
        return playoff, playoff.matchups[0].game
    assert isinstance(event, EvenGame)
    game = _game(event, names)
    if isinstance(event, AllPlayAllEvent):
        return _all_play_all(event, players, folder), game
    tuner: MonteCarloPlan | CrossEntropyPlan
    if isinstance(event, MonteCarloEvent):
        tuner = _monte_carlo(event, players, folder)
        sample = [parameter.value(0.5 / parameter.split) for parameter in tuner.parameters]
    else:
        assert isinstance(event, CrossEntropyEvent)
        tuner = _cross_entropy(event, players, folder)
        sample = [parameter.value(parameter.mean) for parameter in tuner.parameters]
    try:
        tuner.candidate.make("candidate", sample)
    except InvalidParameterError as error:
        raise ControlError(str(error)) from None
    return tuner, game


def _place(whose: str = "") -> Place:
    """The ringmaster's paths: `'komi'`, or `matchup 1: 'komi'` of the definition called `whose`."""

    def quote(keys: Sequence[Key]) -> str:
        return f"{whose}: '{keys[0]}'" if whose else f"'{keys[0]}'"

    return quote


def _fail(setting: str, why: str, whose: str = "") -> NoReturn:
    raise ControlError(f"{_place(whose)([setting])}: {why}")


def _arguments(model: type[Model], definition: object, whose: str, folder: Path) -> Model:
    """The arguments of a definition. Raises ControlError for anything else, or another kind of definition."""
    word = _WORDS[model]
    if not isinstance(definition, Definition) or definition.word != word:
        raise ControlError(f"{whose}: not a {word}")
    return read_table(model, dict(definition.arguments), _place(whose), folder)


_WORDS: Final[Mapping[type[BaseModel], str]] = {
    PlayerArguments: "Player",
    MatchupArguments: "Matchup",
    CompetitorArguments: "Competitor",
    GridArguments: "Parameter",
    NormalArguments: "Parameter",
}


def _players(event: Event, folder: Path) -> dict[str, PlayerSetup]:
    class Code(Table):
        players: Name

    codes = [read_table(Code, {"players": code}, _place(), folder).players for code in event.players]
    return {code: _player(code, event.players[code], folder) for code in codes}


def _player(name: str, definition: object, folder: Path) -> PlayerSetup:
    player = _arguments(PlayerArguments, definition, f"player {name}", folder)
    return PlayerSetup(
        name,
        command=player.command,
        working_directory=None if player.cwd is None else str(folder / Path(player.cwd).expanduser()),
        environment=player.environ or {},
        discard_stderr=player.discard_stderr,
        start_seconds=START_SECONDS,
        move_seconds=MOVE_SECONDS,
        exit_seconds=EXIT_SECONDS,
        parameters={
            "startup_commands": player.startup_gtp_commands or (),
            "aliases": player.gtp_aliases or {},
            "reliable_scorer": player.is_reliable_scorer,
            "allow_claim": player.allow_claim,
            "name_from_gtp": player.sgf_player_name_from_gtp,
        },
    )


def _game(event: EvenGame, names: Mapping[str, Any], whose: str = "") -> GameSettings:
    """The game of these settings; `whose` is the matchup that they come from, if it has any of its own."""
    for name in ("board_size", "komi"):
        if getattr(event, name) is None:
            _fail(name, f"is missing{suggest_misspelt(name, set(names))}")
    settings: dict[str, Any] = {
        "board_size": event.board_size,
        "komi": event.komi,
        "handicap_compensation": event.internal_scorer_handicap_compensation,
    }
    if isinstance(event, Game) and event.handicap is not None:
        settings |= {"handicap": event.handicap, "handicap_style": event.handicap_style}
    try:
        referee("go").from_settings(settings)
    except InvalidSettingError as error:
        name = _COMPENSATION if error.setting == "handicap_compensation" else error.setting
        _fail(name, str(error).removeprefix(f"{error.setting!r}: "), whose)
    return GameSettings("go", settings, event.move_limit, event.scorer)


def _playoff(
    event: PlayoffEvent, names: Mapping[str, Any], players: Mapping[str, PlayerSetup], folder: Path
) -> PlayoffPlan:
    matchups: dict[str, Matchup] = {}
    for index, definition in enumerate(event.matchups):
        given = _arguments(MatchupArguments, definition, _matchup_name(definition, index), folder)
        identifier = given.id or str(index)
        own = given.model_fields_set & Game.model_fields.keys()
        game = event.model_copy(update={name: getattr(given, name) for name in own})
        matchup = Matchup(
            matchup_id=identifier,
            players=tuple(
                _known(getattr(given, setting), setting, players, f"matchup {index}")
                for setting in ("player_1", "player_2")
            ),
            game=_game(game, names, f"matchup {identifier}" if own else ""),
            name=given.name or "",
            alternating=(given if "alternating" in given.model_fields_set else event).alternating,
            games=(given if "number_of_games" in given.model_fields_set else event).number_of_games,
        )
        if identifier in matchups:
            _fail("matchups", f"duplicate matchup id '{identifier}'")
        matchups[identifier] = matchup
    return PlayoffPlan(tuple(matchups.values()))


def _matchup_name(definition: object, index: int) -> str:
    given = definition.arguments.get("id") if isinstance(definition, Definition) else None
    return f"matchup {given if isinstance(given, str) else index}"


def _all_play_all(event: AllPlayAllEvent, players: Mapping[str, PlayerSetup], folder: Path) -> AllPlayAllPlan:
    names: list[str] = []
    for index, competitor in enumerate(event.competitors):
        whose = f"competitor {index}"
        if not isinstance(competitor, Definition):
            competitor = Definition("Competitor", {"player": competitor})
        name = _known(
            _arguments(CompetitorArguments, competitor, whose, folder).player, "player", players, whose
        )
        if name in names:
            _fail("competitors", f"duplicate competitor: {name}")
        names.append(name)
    return AllPlayAllPlan(tuple(names), event.rounds)


def _known(name: str, setting: str, players: Mapping[str, PlayerSetup], whose: str = "") -> str:
    if name not in players:
        _fail(setting, f"unknown player {name}", whose)
    return name


def _monte_carlo(event: MonteCarloEvent, players: Mapping[str, PlayerSetup], folder: Path) -> MonteCarloPlan:
    if event.komi is not None and event.komi.is_integer():
        _fail("komi", "must be fractional, so that no game is drawn")
    parameters = []
    for given in _parameters(GridArguments, event, folder):
        parameter = GridParameter(given.code, given.scale, given.split, given.format or f"{given.code}:%s")
        _try(parameter, 0.5 / parameter.split, 1 - 0.5 / parameter.split)
        parameters.append(parameter)
    children = math.prod(parameter.split for parameter in parameters)
    if not 2 <= children <= MAX_CHILDREN:
        _fail("parameters", f"their splits multiply to {children}, from 2 to {MAX_CHILDREN} are allowed")
    return MonteCarloPlan(
        candidate=_candidate(event, players, folder),
        parameters=tuple(parameters),
        exploration=event.exploration_coefficient,
        initial_visits=event.initial_visits,
        initial_wins=event.initial_wins,
        max_depth=event.max_depth,
        games=event.number_of_games,
        summary=event.summary_spec,
        log_period=event.log_tree_to_history_period,
        shown_running=event.number_of_running_simulations_to_show,
    )


def _cross_entropy(
    event: CrossEntropyEvent, players: Mapping[str, PlayerSetup], folder: Path
) -> CrossEntropyPlan:
    parameters = []
    for given in _parameters(NormalArguments, event, folder):
        parameter = NormalParameter(
            given.code,
            given.initial_mean,
            given.initial_variance,
            given.transform,
            given.format or f"{given.code}:%s",
        )
        _try(parameter, parameter.mean)
        parameters.append(parameter)
    return CrossEntropyPlan(
        candidate=_candidate(event, players, folder),
        parameters=tuple(parameters),
        generations=event.number_of_generations,
        samples=event.samples_per_generation,
        batch=event.batch_size,
        elite=event.elite_proportion,
        step=event.step_size,
    )


def _parameters(model: type[Model], event: TunerEvent, folder: Path) -> list[Model]:
    parameters: dict[str, Model] = {}
    for index, definition in enumerate(event.parameters):
        code = definition.arguments.get("code") if isinstance(definition, Definition) else None
        whose = f"parameter {code if isinstance(code, str) else index}"
        parameter: Any = _arguments(model, definition, whose, folder)
        if parameter.code in parameters:
            _fail("parameters", f"duplicate parameter code: {parameter.code}")
        parameters[parameter.code] = parameter
    return list(parameters.values())


def _try(parameter: GridParameter | NormalParameter, *numbers: float) -> None:
    try:
        for number in numbers:
            parameter.value(number)
    except InvalidParameterError as error:
        raise ControlError(str(error)) from None


@dataclass(frozen=True)
class CandidateFunction:
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


def _candidate(event: TunerEvent, players: Mapping[str, PlayerSetup], folder: Path) -> CandidatePlan:
    opponent = _known(event.opponent, "opponent", players)
    colour = event.candidate_colour.lower()
    if colour not in _SEATS:
        _fail("candidate_colour", f"must be one of {', '.join(map(repr, _SEATS))}, not {colour!r}")
    return CandidatePlan(opponent, _SEATS[colour], CandidateFunction(event.make_candidate, folder), colour)
