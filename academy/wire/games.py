"""A game's description as the message that registers it at ACADEMY."""

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
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
        move_forms=spec.move_forms,
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
