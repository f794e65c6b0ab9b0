"""Proposals as protobuf messages, and back, with every rule checked."""

import hashlib
from collections.abc import Sequence
from typing import Final

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.contests import Judgement, Proposal
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.text import MOVED_TO, pattern_after, read_tesuji_cells
from academy.knowledge.text import read_cells
from academy.store.codec.field_rules import check_value, naming
from academy.store.codec.games import pattern_library_from_proto
from academy.store.errors import InvalidRecordError
from academy.v1 import proposals_pb2

PROPOSAL_ID_LENGTH: Final = 24


def proposal_from_proto(proposal: proposals_pb2.Proposal, spec: GameSpec, field: str = "content") -> Proposal:
    """Read a proposal as the judges see it. Raises InvalidRecordError naming the field."""
    content = proposal.content
    if content.ply < 1:
        raise InvalidRecordError(f"{field}.ply", "must be at least 1, the ply after which the pattern stood")
    before = None
    if content.HasField("value_before"):
        before = check_value(f"{field}.value_before", content.value_before)
    library = pattern_library_from_proto(content.library, f"{field}.library")
    if library is Library.MIDDLE_GAME and before is None:
        raise InvalidRecordError(f"{field}.value_before", "must be stated for a middle-game proposal")
    marked = None
    with naming(f"{field}.cells"):
        # Names of nodes may have the letter.
        if MOVED_TO in content.cells and not isinstance(spec.geometry, GraphGeometry):
            if library is not Library.MIDDLE_GAME:
                raise InvalidPatternError(f"{MOVED_TO!r} marks a move, for the middle game only")
            marked = read_tesuji_cells(content.cells, proposal.seat, spec.geometry)
            pattern = spec.check_pattern(pattern_after(content.cells, proposal.seat, spec.geometry))
        else:
            pattern = spec.check_pattern(read_cells(content.cells, spec.geometry))
    return Proposal(
        seat=proposal.seat,
        library=library,
        pattern=pattern,
        ply=content.ply,
        value=check_value(f"{field}.value", content.value),
        value_before=before,
        marked=marked,
    )


def set_judgement(proposal: proposals_pb2.Proposal, judgement: Judgement) -> None:
    """Write a verdict into a proposal."""
    proposal.verdict = proposals_pb2.Verdict.Value(f"VERDICT_{judgement.verdict.name}")
    proposal.reason = judgement.reason
    proposal.pattern_id = judgement.pattern_id


def count_above(contents: Sequence[proposals_pb2.NewProposal], allowed: int) -> int:
    """Return how many proposals these are, each counted once, if they are more than `allowed`, else 0.

    They are not read: more with different texts could still be the same; fewer could not be
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
    """Return a proposal for a contest of a game, to be submitted, with its unique id.

    Raises InvalidRecordError naming what is wrong within `field`.
    """
    proposal = proposals_pb2.Proposal(
        contest_id=contest_id,
        game_id=spec.game_id,
        seat=seat,
        content=content,
        verdict=proposals_pb2.VERDICT_HELD,
    )
    read = proposal_from_proto(proposal, spec, field)
    # By the pattern, not its text: blanks between cells make no other proposal.
    cells = repr((read.pattern.cells, read.pattern.codes))
    if read.marked is not None:
        cells += repr(sorted(read.marked.items()))
    identity = repr((contest_id, seat, content.library, content.ply, cells))
    proposal.proposal_id = hashlib.blake2b(identity.encode(), digest_size=PROPOSAL_ID_LENGTH // 2).hexdigest()
    return proposal
