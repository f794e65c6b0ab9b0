"""Names of openings, as installed packages know them."""

from collections.abc import Callable, Sequence
from typing import Final

from academy.v1 import pattern_pb2

ENTRY_POINT_GROUP: Final = "academy.opening_names"

Namer = Callable[[tuple[str, ...]], str]


def namer_of(game_id: str) -> Namer | None:
    """The function that knows a game's openings; None where none is installed, or it cannot be loaded."""
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINT_GROUP, name=game_id):
        try:
            namer: Namer = point.load()
        except (ImportError, AttributeError):
            continue
        return namer
    return None


def names_of(
    game_id: str, beginning: Sequence[str], nodes: Sequence[pattern_pb2.OpeningNodeRecord]
) -> dict[int, str]:
    """The names of listed nodes that have one, by node; `beginning` are the moves to the first of them.

    Parents stand before their children.
    """
    namer = namer_of(game_id)
    if namer is None or not nodes:
        return {}
    lines = {nodes[0].node_id: tuple(beginning)}
    for node in nodes[1:]:
        if node.parent_id in lines:
            lines[node.node_id] = (*lines[node.parent_id], node.move)
    names = {node_id: namer(line) for node_id, line in lines.items()}
    return {node_id: name for node_id, name in names.items() if name}
