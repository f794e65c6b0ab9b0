"""The words of a control file, Player(...), Matchup(...) and so on, and its values as JSON.

No pickles pass between the process that executes a file and ours. Plain values and the words come over as
they are, functions as numbers to call them by, and all else as its description, which no setting accepts.
"""

import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from arena.control.parameters import Explicit, Linear, Logarithmic


@dataclass(frozen=True)
class Definition:
    """A call that only records its arguments: they are looked at when the file has been read."""

    word: str
    arguments: Mapping[str, Any]

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


def _make_word(word: str) -> Callable[..., Definition]:
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
    names: dict[str, Any] = {word: _make_word(word) for word in ("Player", *words)}
    if competition_type == "mc_tuner":
        names |= {"LINEAR": Linear, "LOG": Logarithmic, "EXPLICIT": explicit}
    return names


MAX_DEPTH: Final = 50
MAX_ITEMS: Final = 1_000_000
_SCALES: Final = {"Linear": Linear, "Logarithmic": Logarithmic, "Explicit": Explicit}
# Lists in Python 2, where control files come from.
_LISTS: Final = (list, set, frozenset, range, map, filter, zip, reversed, types.GeneratorType)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_VIEWS: Final[tuple[type, ...]] = (type({}.keys()), type({}.values()), type({}.items()))


class UnencodableError(ValueError):
    """Values that are nested too deeply, too many, or no text."""


@dataclass(frozen=True)
class Opaque:
    """Something that only the control file's own process has."""

    text: str

    def __repr__(self) -> str:
        return self.text


class Encoder:
    """Encodes values; `functions` are those among them, by the numbers that they are encoded as."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []
        self._items = 0

    def encode(self, value: Any) -> str:
        """The value as one line of JSON. Raises UnencodableError."""
        self._items = 0
        return json.dumps(self._encode(value, 0))

    def _encode(self, value: Any, depth: int) -> Any:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise UnencodableError(
                f"its values are nested more than {MAX_DEPTH} deep, or more than {MAX_ITEMS:,} in all"
            )
        if isinstance(value, str) and _SURROGATE.search(value):
            raise UnencodableError(
                f"{value[:40]!r} is not text: it holds a half of a character; leave that out"
            )
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Definition):
            return ["definition", value.word, self._encode(dict(value.arguments), depth + 1)]
        if type(value) in _SCALES.values():
            # Their fields are their arguments.
            return ["scale", type(value).__name__, self._encode_items(vars(value).values(), depth)]
        if isinstance(value, dict):
            return ["dict", [self._encode_items(pair, depth) for pair in value.items()]]
        if isinstance(value, tuple):
            return ["tuple", self._encode_items(value, depth)]
        if isinstance(value, (*_LISTS, *_VIEWS)):
            return ["list", self._encode_items(value, depth)]
        if callable(value):
            self.functions.append(value)
            return ["function", len(self.functions) - 1]
        return ["opaque", value.text if isinstance(value, Opaque) else f"a {type(value).__name__}"]

    def _encode_items(self, values: Any, depth: int) -> list[Any]:
        return [self._encode(value, depth + 1) for value in values]


def decode(text: str | bytes, function: Callable[[int], Any] | None = None) -> Any:
    """The value of a line of JSON; `function` makes functions of their numbers. Raises ValueError."""
    try:
        return _decode(json.loads(text), function)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _decode(value: Any, function: Callable[[int], Any] | None) -> Any:
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError(f"{value[:40]!r} is not text")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    match value:
        case ["definition", str(word), arguments]:
            return Definition(word, _decode(arguments, function))
        case ["scale", str(name), list(arguments)] if name in _SCALES:
            return _SCALES[name](*(_decode(argument, function) for argument in arguments))
        case ["dict", list(pairs)]:
            return _decode_dictionary(pairs, function)
        case [("tuple" | "list") as kind, list(items)]:
            return (tuple if kind == "tuple" else list)(_decode(item, function) for item in items)
        case ["function", int(number)] if function is not None:
            return function(number)
        case ["opaque", str(text)]:
            return Opaque(text)
    raise ValueError(f"{str(value)[:100]} is not a value of a control file")


def _decode_dictionary(pairs: list[Any], function: Callable[[int], Any] | None) -> dict[Any, Any]:
    try:
        return {_decode(key, function): _decode(value, function) for key, value in pairs}
    except TypeError:
        raise ValueError("a key of a dictionary must be text or a number, not a list or a range") from None
