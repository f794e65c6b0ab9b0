"""What is known of an opening position, as the answer to a consultation."""

from collections.abc import Sequence

from academy.knowledge.fair_use import acceptable
from academy.knowledge.openings import ROOT, OpeningNode, OpeningTree
from academy.v1 import consultation_pb2 as messages


def opening_answer(
    tree: OpeningTree, moves: Sequence[str], player: int, player_elo: float | None
) -> messages.LookUpOpeningResponse:
    """Return a position's figures for a player and its continuations, best for their mover first.

    In a contest (`player_elo` given) nodes of players too weak for the asking one are left out.
    """

    def accepted(node: OpeningNode) -> bool:
        # Nobody moved to the first position: it has no Elo.
        return player_elo is None or node.node_id == ROOT or acceptable(node.elo, player_elo)

    node = tree.find(moves, player)
    if node is None or not accepted(node):
        return messages.LookUpOpeningResponse(known=False)
    answer = messages.LookUpOpeningResponse(known=True, position=_statistics(node, player))
    found = [each for each in tree.continuations(moves, player) if accepted(each.node)]
    found.sort(key=lambda each: (-each.node.value(each.node.mover), -each.node.visits, each.moves))
    for each in found:
        answer.moves.add(
            move=each.moves[0], equivalents=each.moves, statistics=_statistics(each.node, player)
        )
    return answer


def _statistics(node: OpeningNode, player: int) -> messages.OpeningStatistics:
    return messages.OpeningStatistics(
        visits=node.visits,
        wins=node.wins[player - 1],
        draws=node.draws[player - 1],
        losses=node.losses[player - 1],
        value=node.value(player),
        elo=node.elo,
    )
