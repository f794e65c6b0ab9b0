"""The ringmaster's tuning events."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from arena.control import values
from arena.control.game import GameSettings
from arena.control.parameters import GridParameter, InvalidParameterError, NormalParameter
from arena.control.plans import CandidatePlan, CrossEntropyPlan, MonteCarloPlan
from arena.control.ringmaster.player_definitions import player
from arena.control.ringmaster.settings_table import SettingsTable, arguments, or_none
from arena.control.table import ControlError
from arena.control.tuner_tables import MAX_CHILDREN, MAX_PARAMETERS, format_text
from arena.jobs import PlayerSetup

Parameter = TypeVar("Parameter", GridParameter, NormalParameter)
_COUNT: Final = values.whole(1, 10_000_000)
_SHARE: Final = values.number(1e-9, 1 - 1e-9)
_SEATS: Final = {"b": 1, "black": 1, "w": 2, "white": 2, "r": None, "random": None}


def monte_carlo(
    table: SettingsTable, players: Mapping[str, PlayerSetup], game: GameSettings, folder: Path
) -> MonteCarloPlan:
    """The plan of a Monte Carlo tuner. Raises ControlError."""
    if float(game.settings["komi"]).is_integer():
        table.fail("komi", "must be fractional, so that no game is drawn")
    parameters = _parameters(table, _grid_parameter)
    if not 2 <= (children := math.prod(each.split for each in parameters)) <= MAX_CHILDREN:
        table.fail("parameters", f"their splits multiply to {children}, from 2 to {MAX_CHILDREN} are allowed")
    return MonteCarloPlan(
        candidate=_candidate(table, players, folder),
        parameters=parameters,
        exploration=table.need("exploration_coefficient", values.number(0, 1e6)),
        initial_visits=table.need("initial_visits", _COUNT),
        initial_wins=table.need("initial_wins", _COUNT),
        max_depth=table.take("max_depth", values.whole(1, 20), 1),
        games=table.take("number_of_games", or_none(_COUNT), None),
        summary=table.take("summary_spec", values.several(values.whole(0, 10_000), 20), (30,)),
        log_period=table.take("log_tree_to_history_period", or_none(_COUNT), None),
        shown_running=table.take("number_of_running_simulations_to_show", values.whole(0, 1023), 12),
    )


def cross_entropy(table: SettingsTable, players: Mapping[str, PlayerSetup], folder: Path) -> CrossEntropyPlan:
    """The plan of a cross-entropy tuner. Raises ControlError."""
    return CrossEntropyPlan(
        candidate=_candidate(table, players, folder),
        parameters=_parameters(table, _normal_parameter),
        generations=table.need("number_of_generations", values.whole(1, 100_000)),
        samples=table.need("samples_per_generation", values.whole(1, 100_000)),
        batch=table.need("batch_size", values.whole(1, 100_000)),
        elite=table.need("elite_proportion", _SHARE),
        step=table.need("step_size", _SHARE),
    )


@dataclass(frozen=True)
class CandidateFunction:
    """A control file's `make_candidate`."""

    function: Callable[..., Any]
    folder: Path

    def __call__(self, name: str, values: Sequence[Any]) -> PlayerSetup:
        """The candidate with these values. Raises InvalidParameterError."""
        try:
            return player(name, self.function(*values), self.folder)
        except Exception as error:  # The function is the user's: it may raise whatever there is.
            told = ", ".join(map(repr, values))
            raise InvalidParameterError(f"make_candidate({told}): {error}") from error


def _candidate(table: SettingsTable, players: Mapping[str, PlayerSetup], folder: Path) -> CandidatePlan:
    opponent = table.need("opponent", values.text)
    if opponent not in players:
        table.fail("opponent", f"unknown player {opponent}")
    colour = table.need("candidate_colour", values.text).lower()
    if colour not in _SEATS:
        table.fail("candidate_colour", f"must be one of {', '.join(map(repr, _SEATS))}, not {colour!r}")
    function = table.definition("make_candidate")
    if not callable(function):
        table.fail("make_candidate", "must be a function")
    return CandidatePlan(opponent, _SEATS[colour], CandidateFunction(function, folder), colour)


def _parameters(
    table: SettingsTable, reader: Callable[[str, SettingsTable], Parameter]
) -> tuple[Parameter, ...]:
    definitions = table.definition("parameters")
    if not isinstance(definitions, list) or not 1 <= len(definitions) <= MAX_PARAMETERS:
        table.fail("parameters", f"must be a list of 1 to {MAX_PARAMETERS} Parameters")
    found: dict[str, Parameter] = {}
    for place, definition in enumerate(definitions):
        code = arguments(definition, "Parameter", f"parameter {place}").need("code", values.identifier)
        given = arguments(definition, "Parameter", f"parameter {code}")
        given.need("code", values.identifier)
        if code in found:
            table.fail("parameters", f"duplicate parameter code: {code}")
        found[code] = reader(code, given)
        given.finish()
    return tuple(found.values())


def _grid_parameter(code: str, table: SettingsTable) -> GridParameter:
    parameter = GridParameter(
        code,
        table.need("scale", _function),
        table.need("split", values.whole(1, MAX_CHILDREN)),
        table.take("format", format_text, f"{code}:%s"),
    )
    for place in (0.5 / parameter.split, 1 - 0.5 / parameter.split):
        _try(parameter, place)
    return parameter


def _normal_parameter(code: str, table: SettingsTable) -> NormalParameter:
    parameter = NormalParameter(
        code,
        table.need("initial_mean", values.number(-1e6, 1e6)),
        table.need("initial_variance", values.number(0, 1e12)),
        table.take("transform", _function, float),
        table.take("format", format_text, f"{code}:%s"),
    )
    _try(parameter, parameter.mean)
    return parameter


def _try(parameter: GridParameter | NormalParameter, place: float) -> None:
    try:
        parameter.value(place)
    except InvalidParameterError as error:
        raise ControlError(str(error)) from None


def _function(value: object) -> Callable[[float], Any]:
    if not callable(value):
        raise ValueError(f"must be a function, not {value!r}")
    found: Callable[[float], Any] = value
    return found
