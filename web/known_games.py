"""Games as ACADEMY describes them, read back into the words of `academy.knowledge`."""

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from academy.v1 import game_pb2

__all__ = ["describe_board", "player_names", "read_spec"]


def read_spec(game: game_pb2.Game) -> GameSpec:
    """Return a game's description.

    Args:
        game: The game as ACADEMY sends it.

    Raises:
        ValueError: It contradicts itself, which ACADEMY would not have taken in.
    """
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
        move_forms=tuple(game.move_forms),
    )


def _read_geometry(geometry: game_pb2.Geometry) -> Geometry:
    match geometry.WhichOneof("shape"):
        case "square":
            return SquareGeometry(geometry.square.rows, geometry.square.columns)
        case "hex":
            return HexGeometry(geometry.hex.rows, geometry.hex.columns)
        case _:
            edges = tuple((edge.first, edge.second) for edge in geometry.graph.edges)
            return GraphGeometry(tuple(geometry.graph.nodes), edges)


def describe_board(geometry: Geometry) -> str:
    """Return a board in a few words.

    Args:
        geometry: The board.
    """
    match geometry:
        case SquareGeometry():
            return f"{geometry.columns} × {geometry.rows} squares"
        case HexGeometry():
            return f"{geometry.columns} × {geometry.rows} hexagons"
        case GraphGeometry():
            return "no board" if geometry.size == 1 else f"a map of {geometry.size} places"


def player_names(spec: GameSpec) -> tuple[str, ...]:
    """Return what the seats are called where no referee has better names.

    Args:
        spec: The game.
    """
    return tuple(f"player {seat}" for seat in range(1, spec.players + 1))
