"""The map as a graph board of ACADEMY.

Player 1's territories are `x`, or `b` with a stack of armies on them, player 2's `o` and `w`; neutral
ones are `-`. What a seat cannot see is off its board: no cell of a pattern but `#` and `+` accepts it.
"""

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import State
from academy.knowledge.symmetries import NodeSymmetry
from referees.warlight.maps import WarMap
from referees.warlight.position import NEUTRAL, UNSEEN, WarPosition

MIRROR = "mirror"
_FEW = {1: State.FIRST_SOLDIER, 2: State.SECOND_SOLDIER, NEUTRAL: State.EMPTY, UNSEEN: State.OFF_BOARD}
_STACK = _FEW | {1: State.FIRST_KING, 2: State.SECOND_KING}
_STATES = [bytes(states[owner] for owner in range(4)) for states in (_FEW, _STACK)]


def geometry(war_map: WarMap) -> GraphGeometry:
    """A node for each territory, `ID:NAME`, in the order of their ids."""
    return GraphGeometry(tuple(f"{each.id}:{each.name}" for each in war_map.territories), war_map.edges)


def mirror_symmetry(image: tuple[int, ...]) -> NodeSymmetry:
    """The exchange of the two halves."""
    return NodeSymmetry(MIRROR, image)


def board(graph: GraphGeometry, position: WarPosition, stack_armies: int) -> Board:
    """A position, or what a seat sees of it; from `stack_armies` armies on a territory is a king."""
    few, stack = _STATES
    return Board(
        graph,
        bytes(
            [
                stack[owner] if armies >= stack_armies else few[owner]
                for owner, armies in zip(position.owners, position.armies, strict=True)
            ]
        ),
    )
