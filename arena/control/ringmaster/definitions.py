"""What Player(...), Matchup(...), Competitor(...) and Parameter(...) stand for until they are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.control.parameters import Explicit, Linear, Logarithmic


@dataclass(frozen=True)
class Definition:
    """A call that only records its arguments: they are looked at when the file has been read."""

    word: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.word}(...)"


# The names at the top of a file that mean something; a file may have others for itself.
SETTINGS: Final = frozenset(
    {
        *(
            "competition_type",
            "description",
            "players",
            "record_games",
            "stderr_to_log",
            "skip_player_checks",
        ),
        *("board_size", "komi", "handicap", "handicap_style", "move_limit", "scorer"),
        *("internal_scorer_handicap_compensation", "alternating", "number_of_games", "matchups"),
        *("competitors", "rounds", "opponent", "candidate_colour", "parameters", "make_candidate"),
        *("exploration_coefficient", "initial_visits", "initial_wins", "max_depth", "summary_spec"),
        *("log_tree_to_history_period", "number_of_running_simulations_to_show"),
        *("number_of_generations", "samples_per_generation", "batch_size", "elite_proportion", "step_size"),
    }
)
# The arguments that may be given by place.
_PLACES: Final = {
    "Player": ("command",),
    "Matchup": ("player_1", "player_2"),
    "Competitor": ("player",),
    "Parameter": ("code",),
}


def _definer(word: str) -> Callable[..., Definition]:
    places = _PLACES[word]

    def define(*arguments: Any, **named: Any) -> Definition:
        if len(arguments) > len(places):
            raise TypeError(f"{word}() takes {len(places)} arguments without a name, {len(arguments)} given")
        given = dict(zip(places, arguments, strict=False))
        for name in given:
            if name in named:
                raise TypeError(f"{word}() is given {name!r} twice")
        return Definition(word, {**given, **named})

    return define


def explicit(values: list[Any] | tuple[Any, ...]) -> Explicit:
    """The scale EXPLICIT([...])."""
    if not isinstance(values, list | tuple) or not values:
        raise ValueError("EXPLICIT needs a list of values")
    return Explicit(tuple(values))


def namespace(competition_type: str) -> dict[str, Any]:
    """The words that a control file of a type may use."""
    words = {"playoff": ["Matchup"], "allplayall": ["Competitor"]}.get(competition_type, ["Parameter"])
    names: dict[str, Any] = {word: _definer(word) for word in ("Player", *words)}
    if competition_type == "mc_tuner":
        names |= {"LINEAR": Linear, "LOG": Logarithmic, "EXPLICIT": explicit}
    return names
