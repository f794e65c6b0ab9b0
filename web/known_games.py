"""Games in words: their boards and their seats."""

from academy.knowledge.boards import Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec

__all__ = ["describe_board", "player_names"]


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
