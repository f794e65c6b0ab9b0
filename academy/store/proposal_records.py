"""Proposals as players tell them, read before they are handed to the writer.

Reading takes long beside writing, and whoever writes keeps all other processes from it.
"""

import hashlib
from collections.abc import Sequence

from academy.knowledge.spec import GameSpec
from academy.store import proposal_tables
from academy.store.contest_records import proposal_from_proto
from academy.v1 import proposals_pb2


def count_above(contents: Sequence[proposals_pb2.NewProposal], allowed: int) -> int:
    """Return how many proposals these are, each counted once, if they are more than `allowed`, else 0.

    They are not read: more than are told apart by their text could still be the same; fewer could not be
    allowed.
    """
    if len(contents) <= allowed:
        return 0
    count = len({content.SerializeToString(deterministic=True) for content in contents})
    return count if count > allowed else 0


def read_proposal(
    content: proposals_pb2.NewProposal,
    contest_id: str,
    seat: int,
    spec: GameSpec,
    field: str = "proposals[0]",
) -> proposals_pb2.Proposal:
    """Return a proposal for a contest of a game, to be submitted, with the id that tells it from others.

    Raises InvalidRecord naming what is wrong within `field`.
    """
    proposal = proposals_pb2.Proposal(
        contest_id=contest_id,
        game_id=spec.game_id,
        seat=seat,
        content=content,
        verdict=proposals_pb2.VERDICT_HELD,
    )
    pattern = proposal_from_proto(proposal, spec, field).pattern
    # By the pattern, not its text: blanks between cells make no other proposal.
    cells = repr((pattern.cells, pattern.codes))
    identity = repr((contest_id, seat, content.library, content.ply, cells))
    proposal.proposal_id = hashlib.blake2b(
        identity.encode(), digest_size=proposal_tables.ID_LENGTH // 2
    ).hexdigest()
    return proposal
