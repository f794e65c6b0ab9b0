"""The tuners, as a TOML control file says them: the candidate, its parameters, the algorithm's settings."""

import math
import re
from typing import Final

from arena.control import values
from arena.control.draft import Draft
from arena.control.parameters import (
    Bounded,
    CandidateTemplate,
    Explicit,
    GridParameter,
    InvalidParameterError,
    Linear,
    Logarithmic,
    NormalParameter,
    Scale,
)
from arena.control.plans import CandidatePlan, CrossEntropyPlan, MonteCarloPlan
from arena.control.player_table import player
from arena.control.table import TomlTable

MAX_PARAMETERS: Final = 100
# A node of the Monte Carlo tuner's tree has as many children as the splits' product.
MAX_CHILDREN: Final = 100_000
_NUMBER: Final = values.number(-1e300, 1e300)
_COUNT: Final = values.whole(1, 10_000_000)
_SHARE: Final = values.number(1e-9, 1 - 1e-9)


def monte_carlo(draft: Draft) -> MonteCarloPlan:
    """The plan of a Monte Carlo tuner. Raises ControlError."""
    competition = draft.competition
    draft.only_for_two("mc_tuner")
    parameters = tuple(_grid_parameter(code, table) for code, table in _parameter_tables(draft))
    children = 1
    for parameter in parameters:
        children *= parameter.split
    if not 2 <= children <= MAX_CHILDREN:
        draft.file.fail(
            "parameters", f"their splits multiply to {children}, from 2 to {MAX_CHILDREN} are allowed"
        )
    plan = MonteCarloPlan(
        candidate=_candidate(draft, tuple(parameter.code for parameter in parameters)),
        parameters=parameters,
        exploration=competition.need("exploration", values.number(0, 1e6)),
        initial_visits=competition.need("initial_visits", _COUNT),
        initial_wins=competition.need("initial_wins", values.number(0, 1e7)),
        max_depth=competition.take("max_depth", values.whole(1, 20), 1),
        games=competition.take("games", _COUNT, None),
        summary=competition.take("summary", values.several(values.whole(1, 10_000), 20), (30,)),
        log_period=competition.take("log_period", _COUNT, None),
        shown_running=competition.take("shown_running", values.whole(0, 1023), 12),
    )
    if plan.initial_wins > plan.initial_visits:
        competition.fail("initial_wins", f"must be at most initial_visits, which are {plan.initial_visits}")
    return plan


def cross_entropy(draft: Draft) -> CrossEntropyPlan:
    """The plan of a cross-entropy tuner. Raises ControlError."""
    competition = draft.competition
    draft.only_for_two("ce_tuner")
    parameters = tuple(_normal_parameter(code, table) for code, table in _parameter_tables(draft))
    return CrossEntropyPlan(
        candidate=_candidate(draft, tuple(parameter.code for parameter in parameters)),
        parameters=parameters,
        generations=competition.need("generations", values.whole(1, 100_000)),
        samples=competition.need("samples", values.whole(1, 100_000)),
        batch=competition.need("batch", values.whole(1, 100_000)),
        elite=competition.need("elite_proportion", _SHARE),
        step=competition.need("step_size", _SHARE),
    )


def _candidate(draft: Draft, codes: tuple[str, ...]) -> CandidatePlan:
    competition = draft.competition
    opponent = draft.player(competition, "opponent")
    rules = draft.game.rules()
    names = {rules.seat_name(seat).lower(): seat for seat in range(1, rules.seats + 1)}
    where = competition.take("candidate_seat", values.choice(*names, "random"), "random")
    table = draft.file.table("candidate")
    if table is None:
        draft.file.fail("candidate", "is missing: the file needs a table [candidate] that defines the player")
    setup = player("candidate", table, draft.folder, draft.clock)
    table.finish()
    make = CandidateTemplate(setup, codes)
    for code in make.unused():
        draft.file.fail(
            f"parameters.{code}",
            f"{{{code}}} stands nowhere in the candidate's command, startup_commands and environment",
        )
    return CandidatePlan(opponent, names.get(where), make, where)


def _parameter_tables(draft: Draft) -> list[tuple[str, TomlTable]]:
    table = draft.file.table("parameters")
    tables = [] if table is None else list(table.tables().items())
    if table is None or not 1 <= len(tables) <= MAX_PARAMETERS:
        draft.file.fail("parameters", f"needs from 1 to {MAX_PARAMETERS} tables [parameters.NAME]")
    for code, _ in tables:
        try:
            values.identifier(code)
        except ValueError as error:
            table.fail(code, str(error))
    return tables


def _grid_parameter(code: str, table: TomlTable) -> GridParameter:
    parameter = GridParameter(
        code=code,
        scale=_scale(table),
        split=table.need("split", values.whole(1, MAX_CHILDREN)),
        format=table.take("format", format_text, f"{code}:%s"),
    )
    table.finish()
    return parameter


def _scale(table: TomlTable) -> Scale:
    kind = table.take("scale", values.choice("linear", "log", "explicit"), "linear")
    if kind == "explicit":
        return Explicit(table.need("values", values.several(_plain_value, 10_000)))
    low, high = table.need("low", _NUMBER), table.need("high", _NUMBER)
    integer = table.take("integer", values.flag, False)
    try:
        return Linear(low, high, integer) if kind == "linear" else Logarithmic(low, high, integer)
    except InvalidParameterError as error:
        table.fail("low", str(error))


def _plain_value(value: object) -> str | int | float | bool:
    if not isinstance(value, str | int | float):
        raise ValueError(f"must be text, a number, true or false, not {value!r}")
    return value


def _normal_parameter(code: str, table: TomlTable) -> NormalParameter:
    transforms = {"none": None, "exp": math.e, "exp2": 2.0, "exp10": 10.0}
    transform = table.take("transform", values.choice(*transforms), "none")
    least, most = table.take("least", _NUMBER, None), table.take("most", _NUMBER, None)
    if least is not None and most is not None and least > most:
        table.fail("least", f"must be at most `most`, which is {most:g}")
    parameter = NormalParameter(
        code=code,
        mean=table.need("initial_mean", values.number(-1e6, 1e6)),
        variance=table.need("initial_variance", values.number(0, 1e12)),
        transform=Bounded(transforms[transform], least, most, table.take("integer", values.flag, False)),
        format=table.take("format", format_text, f"{code}:%s"),
    )
    table.finish()
    return parameter


def format_text(value: object) -> str:
    """A format of the `%` operator for one value. Raises ValueError."""
    text = values.text(value)
    if re.search(r"\d{4}", text):
        raise ValueError(f"may not ask for a thousand characters or more, as {text!r} does")
    for sample in (1.5, 1, "word"):
        try:
            _ = text % sample
        except (TypeError, ValueError):
            continue
        return text
    raise ValueError(f"must hold one value's place, such as '%s' or '%.2f', not {text!r}")
