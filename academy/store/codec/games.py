"""Games, their settings and measures as protobuf messages, and back."""

import json
from dataclasses import asdict, replace
from typing import Any, Final

from academy.knowledge.fair_use import FairUse
from academy.knowledge.measures import Measures
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.store.codec.field_rules import check_elo
from academy.store.errors import InvalidRecordError
from academy.v1 import contests_pb2, game_pb2, pattern_pb2
from academy.wire.games import game_message

_FROM_LIBRARY: Final = {library: pattern_pb2.Library.Value(f"LIBRARY_{library.name}") for library in Library}
_TO_LIBRARY: Final = {value: library for library, value in _FROM_LIBRARY.items()}


def library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return the library an enum value stands for. Raises InvalidRecordError for none and unknown ones."""
    if value not in _TO_LIBRARY:
        raise InvalidRecordError(field, f"{value} names no library")
    return _TO_LIBRARY[value]


def pattern_library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return a library that holds patterns.

    Raises InvalidRecordError for others, the opening tree included.
    """
    library = library_from_proto(value, field)
    if library is Library.OPENING:
        raise InvalidRecordError(
            field, "the opening library holds lines of moves; patterns have the other two"
        )
    return library


def library_to_proto(library: Library) -> pattern_pb2.Library.ValueType:
    """Return the enum value of a library."""
    return _FROM_LIBRARY[library]


def settings_from_proto(
    message: game_pb2.LibrarySettings, base: LibrarySettings | None = None
) -> LibrarySettings:
    """Read settings; those not given are `base`'s, or the defaults. Raises InvalidSettingsError."""
    given: dict[str, Any] = {field.name: value for field, value in message.ListFields()}
    return replace(base or LibrarySettings(), **given)


def settings_to_proto(settings: LibrarySettings) -> game_pb2.LibrarySettings:
    """Write all settings."""
    return game_pb2.LibrarySettings(**asdict(settings))


def measures_from_text(text: str) -> Measures:
    """Read the sums behind a game's measures from JSON. Raises InvalidRecordError."""
    try:
        stored = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(stored, dict) or any(not isinstance(name, str) for name in stored):
            raise ValueError("an object of names and numbers is needed")
        measures = Measures.from_json(stored)
        measures.measures()
        if not isinstance(measures.contests, int) or measures.contests < 0:
            raise ValueError(f"contests {measures.contests!r} must be a whole number from 0")
        numbers = _plain_values(measures.as_json()).values()
        if any(not isinstance(number, int | float | None) for number in numbers):
            raise ValueError("only numbers may stand in it")
    except (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError) as error:
        raise InvalidRecordError("history.measures", f"cannot be read: {error}") from error
    return measures


# The bounds of imported measures: they leave room for what is added later.
_MOST_CONTESTS: Final = 10**9
_GREATEST_SUM: Final = 1e18
# Those of the sums that count something: a message holds them as whole numbers.
_COUNTS: Final = frozenset({"contests", "count", "players"})


def check_sums(text: str) -> None:
    """Check the sums behind measures from elsewhere; the log may hold others. Raises InvalidRecordError.

    Contests can be added to them.
    """
    sums = _plain_values(measures_from_text(text).as_json())
    if (best := sums.pop("best_elo")) is not None:
        check_elo("history.measures.best_elo", best)
    if sums["contests"] > _MOST_CONTESTS:
        raise InvalidRecordError(
            "history.measures.contests", f"{sums['contests']:,} must be from 0 to {_MOST_CONTESTS:,}"
        )
    for name, number in sums.items():
        is_count = name.rpartition(".")[2] in _COUNTS
        # A type of its own, so that True is none.
        if type(number) not in ((int,) if is_count else (int, float)) or not 0 <= number <= _GREATEST_SUM:
            kind = "a whole number" if is_count else "a number"
            raise InvalidRecordError(
                f"history.measures.{name}", f"{number!r} must be {kind} from 0 to {_GREATEST_SUM:.0e}"
            )


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _plain_values(sums: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers by name, those of a mean with its name and a point before theirs."""
    numbers: dict[str, Any] = {}
    for name, value in sums.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        numbers.update((f"{name}.{part}" if part else name, number) for part, number in parts)
    return numbers


def spec_to_proto(spec: GameSpec, settings: LibrarySettings | None = None) -> game_pb2.Game:
    """Write a game's description, with settings where given."""
    message = game_message(spec)
    if settings is not None:
        message.settings.CopyFrom(settings_to_proto(settings))
    return message


def fair_use_from_proto(message: contests_pb2.FairUseRules) -> dict[str, float]:
    """Return the rules that are given, by the names of the settings."""
    return {field.name: value for field, value in message.ListFields()}


def fair_use_in_force(contest: contests_pb2.Contest) -> FairUse | None:
    """Return the rules of a stored contest; None for one that was opened before contests had any."""
    rules: dict[str, Any] = fair_use_from_proto(contest.fair_use)
    return FairUse(**rules) if rules else None


def fair_use_to_proto(rules: FairUse) -> contests_pb2.FairUseRules:
    """Write all rules."""
    return contests_pb2.FairUseRules(**asdict(rules))
