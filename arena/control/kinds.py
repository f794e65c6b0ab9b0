"""From the tables of each kind of competition to its plan."""

import difflib
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from arena.control import plans
from arena.control.candidates import CandidateTemplate
from arena.control.competition_tables import (
    FAMILY_SCALES,
    SCALES,
    ChangedGameTable,
    CrossEntropyTable,
    DrawnParameter,
    FamilyTable,
    GameTable,
    GauntletTable,
    GenerationsTable,
    ListedParameter,
    ListedValues,
    MatchupTable,
    MonteCarloTable,
    RangeParameter,
    ScaledRange,
    SeriesTable,
    SprtTestTable,
    TunerTable,
)
from arena.control.parameters import (
    Bounded,
    Explicit,
    GridParameter,
    InvalidParameterError,
    Linear,
    Logarithmic,
    NormalParameter,
)
from arena.control.player_tables import PlayerTable, StartedTable
from arena.control.players import read_player, setup_player
from arena.control.settings import ControlError
from arena.control.table import Table
from arena.control.validation import Place, choose, cut, read, toml_place
from arena.control.values import MAX_AT_ONCE, MAX_CHILDREN, MAX_LISTED, MAX_PLAYERS
from arena.jobs import PlayerSetup, TimeControl
from arena.ratings.pentanomial import Sprt
from referees.api import InvalidSettingError, UnknownRefereeError

Named = TypeVar("Named")
_TRANSFORMS: Final = {"none": None, "exp": math.e, "exp2": 2.0, "exp10": 10.0}


@dataclass(frozen=True)
class Contents:
    """A control file's tables, its game and its players; `clock` is everybody's, None without one."""

    file: Any
    game: plans.GameSettings
    players: Mapping[str, PlayerSetup]
    folder: Path
    clock: TimeControl | None

    @cached_property
    def seats(self) -> int:
        """How many players a game has."""
        return self.game.rules().seats

    def require_two_seats(self) -> None:
        """Raise ControlError if the game is not one of two players."""
        if self.seats != 2:
            kind = self.file.competition.kind
            _fail(
                "competition.kind", f"{kind} is for games of two players, {self.game.name} has {self.seats}"
            )

    def check_names(self, path: str, names: tuple[str, ...], least: int) -> tuple[str, ...]:
        """Names of different players, `least` of them or more."""
        for name, times in Counter(names).items():
            self.check_name(path, name)
            if times > 1:
                _fail(path, f"{name!r} stands there more than once")
        if len(names) < least:
            _fail(path, f"{len(names)} given, at least {least} {'is' if least == 1 else 'are'} needed")
        return names

    def check_name(self, path: str, name: str) -> None:
        """Raise ControlError if no player has this name."""
        if name not in self.players:
            _fail(path, f"{name!r} has no table [players.{name}]")

    def competitors(self, least: int, most: int = MAX_PLAYERS) -> tuple[str, ...]:
        """The `competitors` of [competition], or all players."""
        names = self.file.competition.competitors
        count = len(self.players if names is None else names)
        if count > most:
            _fail("competition.competitors", f"{count} given, at most {most} are allowed")
        if self.seats > 2 and count < least:
            _fail(
                "competition.competitors",
                f"{count} given, and a game of {self.game.name} has {self.seats} seats: give {least} or "
                'more, or write kind = "mars", which gives a player several seats',
            )
        return self.check_names(
            "competition.competitors", tuple(self.players) if names is None else names, least
        )

    def changed_game(self, table: ChangedGameTable | None, place: Place) -> plans.GameSettings:
        """The game of the file, with the changes of a table."""
        return self.game if table is None else read_game(table, self.folder, place, self.game)


def read_plan(contents: Contents) -> plans.Plan:
    """The plan of the games, by the kind of the competition. Raises ControlError."""
    return _PLANS[contents.file.competition.kind](contents)


def read_game(
    table: GameTable | ChangedGameTable,
    folder: Path,
    place: Place,
    default: plans.GameSettings | None = None,
) -> plans.GameSettings:
    """The game, of a control file in that folder; what is left out is as in the default.

    Without a move limit every game can come to its end, by the referee's own figures. Raises ControlError.
    """
    plain = default or plans.GameSettings(table.name or "")
    if table.name not in (None, plain.name):
        _fail(place(["name"]), f"must be {plain.name!r}, the name in [game], not {table.name!r}")
    settings = {**plain.settings, **(table.model_extra or {})}
    game = plans.GameSettings(plain.name, settings, scorer=table.scorer or plain.scorer, folder=folder)
    try:
        longest = game.rules().longest_game()
    except UnknownRefereeError as error:
        _fail(place(["name"]), str(error))
    except InvalidSettingError as error:
        # The referee does not know the settings that all games have.
        near = difflib.get_close_matches(error.setting, GameTable.model_fields, n=1)
        hint = f"; all games have a setting {near[0]!r}" if near else ""
        why = cut(str(error).removeprefix(f"{error.setting!r}: "), settings.get(error.setting))
        _fail(place([error.setting]), why + hint)
    if table.move_limit is not None:
        return replace(game, move_limit=table.move_limit, move_limit_given=True)
    given = plain.move_limit_given
    limit = plain.move_limit if given else max(plain.move_limit, longest or 0)
    return replace(game, move_limit=limit, move_limit_given=given)


def _all_play_all(contents: Contents) -> plans.AllPlayAllPlan:
    competitors = contents.competitors(contents.seats)
    line_ups = math.comb(len(competitors), contents.seats)
    if line_ups > MAX_AT_ONCE:
        _fail(
            "competition.competitors",
            f"{len(competitors)} players have {line_ups} line-ups in a game of {contents.seats}, at most "
            f"{MAX_AT_ONCE} are allowed: list fewer",
        )
    return plans.AllPlayAllPlan(competitors, contents.file.competition.rounds)


def _playoff(contents: Contents) -> plans.PlayoffPlan:
    matchups: dict[str, plans.Matchup] = {}
    for index, table in enumerate(contents.file.matchups):
        matchup = _matchup(contents, table, index)
        _add(matchups, matchup.matchup_id, matchup, f"matchups[{index}].id", "another matchup has the id")
    return plans.PlayoffPlan(tuple(matchups.values()))


def _matchup(contents: Contents, table: MatchupTable, index: int) -> plans.Matchup:
    place, competition = toml_place("matchups", index), contents.file.competition
    for name in table.players:
        contents.check_name(place(["players"]), name)
    if len(table.players) != contents.seats:
        seats = f"{contents.game.name} has {contents.seats} seats"
        _fail(place(["players"]), f"{len(table.players)} given, {seats}")
    return plans.Matchup(
        matchup_id=table.id or str(index),
        players=table.players,
        game=contents.changed_game(table.game, toml_place("matchups", index, "game")),
        name=table.name.strip(),
        alternating=competition.alternating if table.alternating is None else table.alternating,
        games=competition.games if table.games is None else table.games,
    )


def _gauntlet(contents: Contents) -> plans.GauntletPlan:
    contents.require_two_seats()
    competition: GauntletTable = contents.file.competition
    challengers = contents.check_names("competition.challengers", competition.challengers, least=1)
    opponents = competition.opponents
    if opponents is None:
        opponents = tuple(name for name in contents.players if name not in challengers)
    contents.check_names("competition.opponents", opponents, least=1)
    for name in opponents:
        if name in challengers:
            _fail("competition.opponents", f"{name!r} is a challenger")
    if (together := len(challengers) + len(opponents)) > MAX_PLAYERS:
        _fail(
            "competition.opponents",
            f"{len(opponents)} given, {together} players with the challengers: at most "
            f"{MAX_PLAYERS} are allowed",
        )
    return plans.GauntletPlan(challengers, opponents, competition.rounds)


def _swiss(contents: Contents) -> plans.SwissPlan:
    contents.require_two_seats()
    competition = contents.file.competition
    competitors = contents.competitors(least=2)
    _check_games("competition.games", len(competitors) // 2, "pairings", competition.games)
    return plans.SwissPlan(competitors, competition.rounds, competition.games)


def _standing(contents: Contents) -> plans.StandingPlan:
    seats = contents.seats
    competitors = contents.competitors(least=max(2, seats), most=MAX_LISTED)
    return plans.StandingPlan(competitors, contents.file.competition.rounds, seats)


def _sprt(contents: Contents) -> plans.SprtPlan:
    contents.require_two_seats()
    table: SprtTestTable = contents.file.competition
    names = contents.competitors(least=2)
    if len(names) > 2:
        _fail(
            "competition.competitors", f"{len(names)} given, a test is of 2: the new player and the old one"
        )
    try:
        test = Sprt(table.elo0, table.elo1, table.alpha, table.beta, table.model)
    except ValueError as error:
        _fail("competition.elo1", str(error))
    return plans.SprtPlan((names[0], names[1]), test, table.games)


def _mars(contents: Contents) -> plans.MarsPlan:
    series: dict[str, plans.MarsSeries] = {}
    for index, table in enumerate(contents.file.series):
        one_series = _series(contents, table, index)
        _add(series, table.name, one_series, f"series[{index}].name", "another series is called")
    left = [one_series for one_series in series.values() if not one_series.complete]
    if left and not any(one_series.weight for one_series in left):
        _fail(
            "series",
            'no open one has a weight above 0: give one of them a weight, or say state = "complete"',
        )
    return plans.MarsPlan(tuple(series.values()))


def _series(contents: Contents, table: SeriesTable, index: int) -> plans.MarsSeries:
    place = toml_place("series", index)
    if table.kinds and sum(table.kinds) != contents.seats:
        seats = f"{' + '.join(map(str, table.kinds))} is not {contents.seats}, the seats of a game"
        _fail(place(["kinds"]), seats)
    own = {
        "contestants": _contestants(contents, table, place(["contestants"])),
        "settings": _settings(contents, table, index),
        "complete": table.state == "complete",
    }
    return plans.MarsSeries(**_same(plans.MarsSeries, table) | own)


def _contestants(contents: Contents, table: SeriesTable, path: str) -> dict[str, float]:
    contestants = table.contestants
    if contestants is None:
        contestants = dict.fromkeys(contents.players, 1.0)
    for name in contestants:
        contents.check_name(path, name)
    needed = len(table.kinds) or (1 if table.clones else contents.seats)
    able = sum(weight > 0 for weight in contestants.values())
    if able < needed:
        _fail(path, f"{able} have a weight above 0, its games need {needed} different ones")
    return contestants


def _settings(contents: Contents, table: SeriesTable, series: int) -> tuple[plans.MarsSetting, ...]:
    settings: dict[str, plans.MarsSetting] = {}
    for index, setting in enumerate(table.settings):
        name = setting.name or str(index)
        heading = ("series", series, "settings", index)
        game = contents.changed_game(setting.game, toml_place(*heading, "game"))
        changed = plans.MarsSetting(name, game, setting.weight)
        _add(settings, name, changed, toml_place(*heading)(["name"]), "another setting is called")
    if not settings:
        return (plans.MarsSetting("0", contents.game),)
    if not any(setting.weight for setting in settings.values()):
        _fail(f"series[{series}].settings", "none has a weight above 0")
    return tuple(settings.values())


def _monte_carlo(contents: Contents) -> plans.MonteCarloPlan:
    contents.require_two_seats()
    tables: dict[str, dict[str, Any]] = contents.file.parameters
    parameters = tuple(
        _grid_parameter(given, contents.folder, ("parameters", code), SCALES)
        for code, given in tables.items()
    )
    return monte_carlo_plan(contents.file.competition, _candidate(contents), parameters, toml_place())


def monte_carlo_plan(
    table: MonteCarloTable,
    candidate: plans.CandidatePlan,
    parameters: tuple[GridParameter, ...],
    place: Place,
) -> plans.MonteCarloPlan:
    """The plan of a Monte Carlo tuner. Raises ControlError."""
    children = math.prod(parameter.split for parameter in parameters)
    if not 2 <= children <= MAX_CHILDREN:
        why = f"their splits multiply to {children}, from 2 to {MAX_CHILDREN} are allowed"
        _fail(place(["parameters"]), why)
    return plans.MonteCarloPlan(candidate, parameters, **_same(plans.MonteCarloPlan, table))


def _cross_entropy(contents: Contents) -> plans.CrossEntropyPlan:
    contents.require_two_seats()
    tables: dict[str, DrawnParameter] = contents.file.parameters
    parameters = tuple(
        NormalParameter(
            code=code,
            mean=given.initial_mean,
            variance=given.initial_variance,
            transform=Bounded(_TRANSFORMS[given.transform], given.least, given.most, given.integer),
            format=given.format or f"{code}:%s",
        )
        for code, given in tables.items()
    )
    return cross_entropy_plan(contents.file.competition, _candidate(contents), parameters)


def cross_entropy_plan(
    table: CrossEntropyTable,
    candidate: plans.CandidatePlan,
    parameters: tuple[NormalParameter, ...],
) -> plans.CrossEntropyPlan:
    """The plan of a cross-entropy tuner. Raises ControlError."""
    _check_games("competition.batch", table.samples, "samples", table.batch)
    return plans.CrossEntropyPlan(candidate, parameters, **_same(plans.CrossEntropyPlan, table))


def _generations(contents: Contents) -> plans.GenerationsPlan:
    contents.require_two_seats()
    table: GenerationsTable = contents.file.competition
    panel = tuple(contents.players)
    families = tuple(_family(contents, *named) for named in contents.file.families.items())
    if table.meet == "panel" and not panel:
        _fail("competition.meet", '"panel" needs players that stay as they are: a table [players.NAME]')
    if sum(family.size for family in families) + len(panel) < 2:
        _fail("families", "there is one player alone: give a family more members, or add a [players.NAME]")
    for family in families:
        for name in panel:
            if name.startswith(f"{family.name}-g"):
                _fail(f"players.{name}", f"names of members of the family {family.name} begin like this one")
    return plans.GenerationsPlan(families, panel, table.generations, table.rounds, table.meet)


def _family(contents: Contents, name: str, table: FamilyTable) -> plans.Family:
    place = toml_place("families", name)
    heading = toml_place("families", name, "player")
    player = _read_started(table.player, heading, contents.folder, "a family's members")
    for setting in ("elo", "fixed_elo", "family"):
        if getattr(player, setting) is not None:
            _fail(place(["player", setting]), "unknown setting; members of a family have none of their own")
    codes = tuple(table.first or table.parameters)
    setup = replace(setup_player(name, player, contents.folder, contents.clock), family=name)
    make = CandidateTemplate(setup, codes)
    _check_codes(make, toml_place("families", name, "first" if table.first else "parameters"), "player")
    variants: plans.ParameterSpace | plans.ChildProgram
    if table.child is not None:
        variants = plans.ChildProgram(table.child, table.child_seconds, table.first, contents.folder)
    else:
        parameters = tuple(
            _grid_parameter(given, contents.folder, ("families", name, "parameters", code))
            for code, given in table.parameters.items()
        )
        variants = plans.ParameterSpace(parameters, table.mutation, table.combine)
    return plans.Family(name, table.size, table.keep, make, variants)


def _read_started(table: Any, place: Place, folder: Path, who: str) -> PlayerTable:
    player = read_player(table, place, folder)
    if not isinstance(player, StartedTable):
        _fail(
            place(["protocol"]), f"the arena must start {who}; {player.protocol!r} is of players that dial in"
        )
    return player


def _same(plan: type, table: Table) -> dict[str, Any]:
    """The settings of a table that are in the plan as they are."""
    names = type(table).model_fields.keys() & {field.name for field in fields(plan)}
    return {name: getattr(table, name) for name in names}


def _grid_parameter(
    given: dict[str, Any],
    folder: Path,
    heading: tuple[str, ...],
    scales: Mapping[str, type[ScaledRange | ListedValues]] = FAMILY_SCALES,
) -> GridParameter:
    place, code = toml_place(*heading), heading[-1]
    table = read(scales[choose(scales, "scale", "linear", given, place)], given, place, folder)
    scale: Linear | Explicit
    if isinstance(table, ListedValues):
        scale = Explicit(table.values)
    else:
        kind = Linear if table.scale == "linear" else Logarithmic
        try:
            scale = kind(table.low, table.high, table.integer)
        except InvalidParameterError as error:
            _fail(place(["low"]), str(error))
    split = table.split if isinstance(table, RangeParameter | ListedParameter) else 1
    return GridParameter(code, scale, split, table.format or f"{code}:%s")


def _candidate(contents: Contents) -> plans.CandidatePlan:
    competition: TunerTable = contents.file.competition
    contents.check_name("competition.opponent", competition.opponent)
    rules = contents.game.rules()
    seats = {rules.seat_name(seat).lower(): seat for seat in range(1, rules.seats + 1)}
    seat = competition.candidate_seat
    if seat not in (*seats, "random"):
        words = ", ".join(map(repr, (*seats, "random")))
        _fail("competition.candidate_seat", f"must be one of {words}, not {seat!r}")
    player = _read_started(contents.file.candidate, toml_place("candidate"), contents.folder, "candidates")
    for setting in ("elo", "fixed_elo"):
        if getattr(player, setting) is not None:
            _fail(f"candidate.{setting}", "unknown setting; candidates have no Elo of their own")
    make = CandidateTemplate(
        setup_player("candidate", player, contents.folder, contents.clock), tuple(contents.file.parameters)
    )
    _check_codes(make, toml_place("parameters"), "candidate")
    return plans.CandidatePlan(competition.opponent, seats.get(seat), make, seat)


def _check_codes(make: CandidateTemplate, place: Place, whose: str) -> None:
    """Raise ControlError for a parameter that stands nowhere, or that would take the seed's place."""
    if "seed" in make.codes:
        _fail(place(["seed"]), "{seed} stands for the seat's own seed: give the parameter another name")
    for code in make.unused():
        _fail(
            place([code]),
            f"{{{code}}} stands nowhere in the {whose}'s command, startup_commands and environment",
        )


def _check_games(path: str, groups: int, noun: str, games: int) -> None:
    """Raise ControlError if the games that are held at a time are too many."""
    if groups * games > MAX_AT_ONCE:
        _fail(
            path,
            f"{games} games of {groups} {noun} are {groups * games} at a time, at most {MAX_AT_ONCE} are "
            "allowed",
        )


def _add(named: dict[str, Named], name: str, value: Named, path: str, clash: str) -> None:
    if name in named:
        _fail(path, f"{clash} {name!r}")
    named[name] = value


def _fail(path: str, why: str) -> NoReturn:
    raise ControlError(f"{path}: {why}")


_PLANS: Final[Mapping[str, Callable[[Contents], plans.Plan]]] = {
    "playoff": _playoff,
    "all-play-all": _all_play_all,
    "round-robin": _all_play_all,
    "gauntlet": _gauntlet,
    "swiss": _swiss,
    "standing": _standing,
    "sprt": _sprt,
    "mars": _mars,
    "generations": _generations,
    "mc_tuner": _monte_carlo,
    "ce_tuner": _cross_entropy,
}
