"""Games and their settings as protobuf messages, and back."""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.measures import Measures
from academy.knowledge.settings import Library, LibrarySettings
from academy.knowledge.spec import GameSpec, InvalidGame
from academy.knowledge.symmetries import NodeSymmetry
from academy.store.errors import InvalidRecord
from academy.v1 import game_pb2, pattern_pb2
from academy.wire.games import game_message

_TO_LIBRARY: Final = {
    pattern_pb2.LIBRARY_OPENING: Library.OPENING,
    pattern_pb2.LIBRARY_MIDDLE_GAME: Library.MIDDLE_GAME,
    pattern_pb2.LIBRARY_ENDGAME: Library.ENDGAME,
}
_FROM_LIBRARY: Final = {library: value for value, library in _TO_LIBRARY.items()}


def library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return the library an enum value stands for. Raises InvalidRecord for none and unknown ones."""
    if value not in _TO_LIBRARY:
        raise InvalidRecord(field, f"{value} names no library")
    return _TO_LIBRARY[value]


def pattern_library_from_proto(value: pattern_pb2.Library.ValueType, field: str = "library") -> Library:
    """Return a library that holds patterns. Raises InvalidRecord for others, the opening tree included."""
    library = library_from_proto(value, field)
    if library is Library.OPENING:
        raise InvalidRecord(field, "the opening library holds lines of moves; patterns have the other two")
    return library


def library_to_proto(library: Library) -> pattern_pb2.Library.ValueType:
    """Return the enum value of a library."""
    return _FROM_LIBRARY[library]


def settings_from_proto(
    message: game_pb2.LibrarySettings, base: LibrarySettings | None = None
) -> LibrarySettings:
    """Read settings; those not given are `base`'s, or the defaults. Raises InvalidSettings."""
    given = {field.name: getattr(base or LibrarySettings(), field.name) for field in fields(LibrarySettings)}
    given.update((field.name, value) for field, value in message.ListFields())
    return LibrarySettings(**given)


def settings_to_proto(settings: LibrarySettings) -> game_pb2.LibrarySettings:
    """Write all settings."""
    return game_pb2.LibrarySettings(
        **{field.name: getattr(settings, field.name) for field in fields(LibrarySettings)}
    )


def measures_from_text(text: str) -> Measures:
    """Read the sums behind a game's measures from JSON. Raises InvalidRecord."""
    try:
        stored = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(stored, dict) or any(not isinstance(name, str) for name in stored):
            raise ValueError("an object of names and numbers is needed")
        measures = Measures.from_json(stored)
        measures.measures()
        if not isinstance(measures.contests, int) or measures.contests < 0:
            raise ValueError(f"contests {measures.contests!r} must be a whole number from 0")
        if any(not isinstance(each, int | float | None) for each in _plain_values(measures.as_json())):
            raise ValueError("only numbers may stand in it")
    except (ValueError, TypeError, ArithmeticError, AttributeError) as fault:
        raise InvalidRecord("history.measures", f"cannot be read: {fault}") from fault
    return measures


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _plain_values(stored: dict[str, Any]) -> Iterator[Any]:
    for value in stored.values():
        yield from value.values() if isinstance(value, dict) else (value,)


def spec_from_proto(game: game_pb2.Game) -> GameSpec:
    """Read a game's description. Raises InvalidGame or InvalidBoard."""
    return GameSpec(
        game_id=game.game_id,
        geometry=_geometry_from_proto(game.geometry),
        players=game.players,
        symmetric=game.symmetric,
        symmetries=tuple(game.symmetries),
        reversal=game.reversal,
        node_symmetries=tuple(
            NodeSymmetry(symmetry.name, tuple(symmetry.image)) for symmetry in game.node_symmetries
        ),
        cell_names=tuple(game.cell_names),
        expected_length=game.expected_length,
        simultaneous=game.simultaneous,
        move_forms=tuple(game.move_forms),
    )


def spec_to_proto(spec: GameSpec, settings: LibrarySettings | None = None) -> game_pb2.Game:
    """Write a game's description, with settings where given."""
    message = game_message(spec)
    if settings is not None:
        message.settings.CopyFrom(settings_to_proto(settings))
    return message


def _geometry_from_proto(geometry: game_pb2.Geometry) -> Geometry:
    match geometry.WhichOneof("shape"):
        case "square":
            return SquareGeometry(geometry.square.rows, geometry.square.columns)
        case "hex":
            return HexGeometry(geometry.hex.rows, geometry.hex.columns)
        case "graph":
            edges = tuple((edge.first, edge.second) for edge in geometry.graph.edges)
            return GraphGeometry(tuple(geometry.graph.nodes), edges)
        case _:
            raise InvalidGame("a game without geometry: give it a square, hex or graph board")
