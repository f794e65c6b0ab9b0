"""What the crash loop takes for a fault."""

from collections import Counter

import pytest

from academy.v1.pattern_pb2 import LIBRARY_ENDGAME, LIBRARY_MIDDLE_GAME, Library
from academy.v1.proposals_pb2 import NewProposal, Proposal
from research.crash_loop import Outcome, repeated
from research.mixed_load import Acknowledged


def proposal(
    number: int,
    *,
    contest: str = "c",
    seat: int = 1,
    library: Library.ValueType = LIBRARY_ENDGAME,
    ply: int = 5,
    cells: str = "X",
) -> Proposal:
    content = NewProposal(library=library, ply=ply, cells=cells)
    return Proposal(proposal_id=str(number), contest_id=contest, seat=seat, content=content)


def test_a_proposal_kept_twice_under_two_ids_is_a_fault() -> None:
    twice = [proposal(1), proposal(2, ply=7), proposal(3)]
    assert list(repeated(twice)) == ["a proposal of seat 1 in contest c, ply 5, is there 2 times"]


@pytest.mark.parametrize(
    "other",
    [
        proposal(2, contest="d"),
        proposal(2, seat=2),
        proposal(2, library=LIBRARY_MIDDLE_GAME),
        proposal(2, ply=6),
        proposal(2, cells="O"),
    ],
)
def test_proposals_that_differ_are_not(other: Proposal) -> None:
    assert list(repeated([proposal(1), other])) == []


def test_what_was_never_tried_is_named() -> None:
    assert Outcome().untried(shared_port=False, compact=False) == [
        *("report acknowledged", "proposal acknowledged", "admin change acknowledged", "call cut off"),
        "server killed",
    ]
    taken = Acknowledged({"a report"}, {"a proposal"}, admin_changes=1, interrupted=1)
    tried = Outcome(acknowledged=taken, killed=Counter({"child": 1}))
    assert tried.untried(shared_port=True, compact=True) == ["parent killed", "compaction ended"]
