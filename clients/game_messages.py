"""A game's description as the message that tells ACADEMY of it, and back."""

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, InvalidBoard, SquareGeometry
from academy.knowledge.spec import GameSpec, InvalidGame
from academy.knowledge.symmetries import NodeSymmetry
from academy.v1 import game_pb2


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
    )


def spec_from_message(game: game_pb2.Game) -> GameSpec:
    """The game of a message. Raises InvalidGame for one that contradicts itself or a limit."""
    return GameSpec(
        game_id=game.game_id,
        geometry=_geometry(game),
        players=game.players,
        symmetric=game.symmetric,
        symmetries=tuple(game.symmetries) or ("identity",),
        reversal=game.reversal or "identity",
        node_symmetries=tuple(
            NodeSymmetry(symmetry.name, tuple(symmetry.image)) for symmetry in game.node_symmetries
        ),
        cell_names=tuple(game.cell_names),
        expected_length=game.expected_length or GameSpec.expected_length,
        simultaneous=game.simultaneous,
    )


def _geometry_message(geometry: Geometry) -> game_pb2.Geometry:
    match geometry:
        case SquareGeometry(rows, columns):
            return game_pb2.Geometry(square=game_pb2.SquareGeometry(rows=rows, columns=columns))
        case HexGeometry(rows, columns):
            return game_pb2.Geometry(hex=game_pb2.HexGeometry(rows=rows, columns=columns))
        case GraphGeometry(nodes, edges):
            pairs = [game_pb2.GraphEdge(first=first, second=second) for first, second in edges]
            return game_pb2.Geometry(graph=game_pb2.GraphGeometry(nodes=nodes, edges=pairs))


def _geometry(game: game_pb2.Game) -> Geometry:
    shape = game.geometry
    try:
        match shape.WhichOneof("shape"):
            case "square":
                return SquareGeometry(shape.square.rows, shape.square.columns)
            case "hex":
                return HexGeometry(shape.hex.rows, shape.hex.columns)
            case "graph":
                edges = tuple((edge.first, edge.second) for edge in shape.graph.edges)
                return GraphGeometry(tuple(shape.graph.nodes), edges)
    except InvalidBoard as error:
        raise InvalidGame(f"game {game.game_id!r}: {error}") from None
    raise InvalidGame(f"game {game.game_id!r}: its geometry is missing")
