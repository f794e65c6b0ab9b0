"""A game's description as the message that registers it at ACADEMY, and read from that message."""

from dataclasses import asdict, fields
from typing import Final

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.settings import LibrarySettings
from academy.knowledge.spec import Description, GameSpec, InvalidGameError, Placement
from academy.knowledge.symmetries import NodeSymmetry
from academy.v1 import events_pb2, game_pb2

_PLACEMENTS: Final = {
    Placement.ANYWHERE: game_pb2.PLACEMENT_UNSPECIFIED,
    Placement.DROPPED: game_pb2.PLACEMENT_DROPPED,
    Placement.OUTFLANKING: game_pb2.PLACEMENT_OUTFLANKING,
    Placement.CAPTURING: game_pb2.PLACEMENT_CAPTURING,
}
# The id is what the two were compared by, or a fork's own.
_MAY_DIFFER: Final = frozenset(("game_id", "settings", *(field.name for field in fields(Description))))


def game_message(spec: GameSpec) -> game_pb2.Game:
    """The message of a game. Its `settings` are left out: they are ACADEMY's to choose."""
    return game_pb2.Game(
        game_id=spec.game_id,
        players=spec.players,
        geometry=_geometry_message(spec.geometry),
        symmetric=spec.symmetric,
        symmetries=spec.symmetries,
        reversal=spec.reversal,
        node_symmetries=[
            game_pb2.NodeSymmetry(name=symmetry.name, image=symmetry.image)
            for symmetry in spec.node_symmetries
        ],
        cell_names=spec.cell_names,
        expected_length=spec.expected_length,
        simultaneous=spec.simultaneous,
        move_forms=spec.move_forms,
        placement=_PLACEMENTS[spec.placement],
        winning_row=spec.winning_row,
    )


def differing_field(spec: GameSpec, known: game_pb2.Game) -> str | None:
    """Name the first field of a registered game that differs from a description; None where none does.

    The id, the settings and what may become known later are not compared.
    """
    given = game_message(spec)
    names = (field.name for field in given.DESCRIPTOR.fields if field.name not in _MAY_DIFFER)
    return next((name for name in names if getattr(given, name) != getattr(known, name)), None)


def unusual_settings(settings: game_pb2.LibrarySettings) -> str:
    """The settings that are not LUDAE's or the usual ones, as `academy settings` takes them: `name=value`."""
    usual = LibrarySettings()
    unusual = [
        f"{field.name}={format(value, 'g') if isinstance(value, float) else str(value).lower()}"
        for field, value in settings.ListFields()
        if value != getattr(usual, field.name)
    ]
    return " ".join(unusual) or "all are the usual ones"


def read_spec(game: game_pb2.Game) -> GameSpec:
    """Read a game's description. Raises InvalidGameError or InvalidBoardError."""
    description = read_description(game)
    return GameSpec(
        game_id=game.game_id,
        geometry=_read_geometry(game.geometry),
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
        **asdict(description),
    )


def read_description(described: game_pb2.Game | events_pb2.GameDescribed) -> Description:
    """Read what may become known of a game after it was registered. Raises InvalidGameError."""
    placements = {number: placement for placement, number in _PLACEMENTS.items()}
    if described.placement not in placements:
        raise InvalidGameError(f"placement {described.placement}: the numbers are {sorted(placements)}")
    return Description(tuple(described.move_forms), placements[described.placement], described.winning_row)


def description_message(description: Description) -> events_pb2.GameDescribed:
    """The message of what became known of a game after it was registered."""
    return events_pb2.GameDescribed(
        move_forms=description.move_forms,
        placement=_PLACEMENTS[description.placement],
        winning_row=description.winning_row,
    )


def _read_geometry(geometry: game_pb2.Geometry) -> Geometry:
    match geometry.WhichOneof("shape"):
        case "square":
            return SquareGeometry(geometry.square.rows, geometry.square.columns)
        case "hex":
            return HexGeometry(geometry.hex.rows, geometry.hex.columns)
        case "graph":
            edges = tuple((edge.first, edge.second) for edge in geometry.graph.edges)
            return GraphGeometry(tuple(geometry.graph.nodes), edges)
        case _:
            raise InvalidGameError("a game without geometry: give it a square, hex or graph board")


def _geometry_message(geometry: Geometry) -> game_pb2.Geometry:
    match geometry:
        case SquareGeometry(rows, columns):
            return game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=rows, columns=columns))
        case HexGeometry(rows, columns):
            return game_pb2.Geometry(hex=game_pb2.HexGeometry(rows=rows, columns=columns))
        case GraphGeometry(nodes, edges):
            pairs = [game_pb2.GraphEdge(first=first, second=second) for first, second in edges]
            return game_pb2.Geometry(graph=game_pb2.GraphGeometry(nodes=nodes, edges=pairs))
