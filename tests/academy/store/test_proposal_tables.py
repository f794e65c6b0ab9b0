"""Proposals: held until the report, judged with it or at once after it, each only once."""

from collections.abc import Callable

import pytest

from academy.store import arenas, event_log, proposal_tables
from academy.store.consultation_notes import CountConsultation
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import InvalidRecordError, TooManyProposalsError, UnknownContestError
from academy.store.library_commands import ChangeSettings
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.proposal_tables import ProposalFilter
from academy.v1 import game_pb2, proposals_pb2
from tests.academy.store.examples import contest, endgame_proposal, report, submission

HELD = proposals_pb2.VERDICT_HELD
INSERTED = proposals_pb2.VERDICT_INSERTED


def test_a_proposal_is_held_then_judged(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    (held,) = store.run(submission("c1", 2, [endgame_proposal(request, seat=2)], "seki"))
    assert (held.verdict, held.player, held.seat, held.game_id) == (HELD, "seki", 2, "go-9x9")
    assert store.read(proposal_tables.count_held_proposals, "go-9x9") == 1
    ended = store.run(ReportContest(request, "arena"))
    assert (ended.accepted, ended.dropped) == (1, 0)
    (judged,), _ = store.read(arenas.list_proposals, ProposalFilter("seki"))
    assert (judged.verdict, judged.pattern_id) == (INSERTED, 1)
    assert judged.reason
    assert judged.proposal_id == held.proposal_id
    assert store.read(proposal_tables.count_held_proposals, "go-9x9") == 0
    (entry,) = [
        entry for library in store.follow().refresh("go-9x9").libraries.values() for entry in library.values()
    ]
    assert [vote.player for vote in entry.votes.counted] == ["seki"]


def test_a_proposal_that_breaks_a_rule_is_dropped_with_the_reason(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    store.run(submission("c1", 1, [endgame_proposal(request, back=20)], "gnugo 1"))
    ended = store.run(ReportContest(request, "arena"))
    assert (ended.accepted, ended.dropped) == (0, 1)
    (judged,), _ = store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))
    assert judged.verdict == proposals_pb2.VERDICT_DROPPED
    assert "20 %" in judged.reason


@pytest.mark.parametrize("reported_first", [False, True])
def test_the_same_proposal_again_changes_nothing(store: Store, reported_first: bool) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    if reported_first:
        store.run(ReportContest(request, "arena"))
    proposal = endgame_proposal(request)
    first = store.run(submission("c1", 1, [proposal], "gnugo 1"))
    events = store.read(event_log.last_sequence)
    # Blanks between the cells make no other proposal.
    proposal.cells = "\n".join(" ".join(line) for line in proposal.cells.split("\n")) + "\n"
    again = store.run(submission("c1", 1, [proposal, proposal], "gnugo 1"))
    assert again == first * 2
    assert store.read(event_log.last_sequence) == events
    # Another seat's is another proposal.
    (other,) = store.run(submission("c1", 2, [proposal], "seki"))
    assert other.proposal_id != first[0].proposal_id


def test_after_the_report_a_proposal_is_judged_at_once(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    store.run(ReportContest(request, "arena"))
    good, early = endgame_proposal(request), endgame_proposal(request, back=20)
    proposals = store.run(submission("c1", 1, [good, early], "gnugo 1"))
    assert [proposal.verdict for proposal in proposals] == [INSERTED, proposals_pb2.VERDICT_DROPPED]
    again = store.run(ReportContest(request, "arena"))
    assert (again.counted, again.accepted, again.dropped) == (False, 1, 1)
    assert store.read(proposal_tables.count_held_proposals, "go-9x9") == 0
    assert not list(check(store.environment))


def test_proposals_beyond_the_settings_limit_are_refused_with_their_whole_call(store: Store) -> None:
    store.run(ChangeSettings("go-9x9", game_pb2.LibrarySettings(max_submissions_per_contest=3), "admin"))
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    proposals = [endgame_proposal(request, back=back) for back in range(5)]
    store.run(submission("c1", 1, proposals[:2], "gnugo 1"))
    with pytest.raises(TooManyProposalsError) as refused:
        store.run(submission("c1", 1, proposals[2:4], "gnugo 1"))
    assert refused.value.details() == {"held": "2", "more": "2", "allowed": "3"}
    assert len(store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))[0]) == 2
    # What is known already does not count again, and every seat has its own share.
    store.run(submission("c1", 1, proposals[:3], "gnugo 1"))
    store.run(submission("c1", 2, proposals[:3], "seki"))


def test_a_wrong_proposal_refuses_the_call_by_its_place(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    good, bad = endgame_proposal(request), endgame_proposal(request)
    bad.value = 2.0
    with pytest.raises(InvalidRecordError, match=r"proposals\[1\]\.value: 2\.0"):
        store.run(submission("c1", 1, [good, bad], "gnugo 1"))
    assert store.read(arenas.list_proposals, ProposalFilter("gnugo 1")) == ([], b"")


def test_proposals_need_a_contest_and_a_seat(store: Store) -> None:
    with pytest.raises(UnknownContestError):
        store.run(submission("c1", 1, [], "gnugo 1"))
    store.run(OpenContest(contest("c1")))
    with pytest.raises(InvalidRecordError, match="must be from 1 to 2"):
        store.run(submission("c1", 3, [], "gnugo 1"))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda moves: moves[:8], ""),
        (lambda moves: [], ""),
        (
            lambda moves: [*moves[:5], "pass", *moves[6:8]],
            "move 6 was declared to be 'pass', but '{}' was",
        ),
        # Longer than the contest was: more consultations than were due.
        (lambda moves: [*moves, "pass"], "move 31 was declared to be 'pass', but the contest had ended"),
    ],
)
def test_proposals_of_a_player_that_consulted_about_another_game_are_dropped(
    store: Store, change: Callable[[list[str]], list[str]], reason: str, late: bool
) -> None:
    request = report("c1")
    moves = [ply.move for ply in request.plies]
    store.run(OpenContest(contest("c1")))
    store.note(CountConsultation("c1", 1, change(moves), own_move=31))
    if late:
        store.run(ReportContest(request, "arena"))
    store.run(submission("c1", 1, [endgame_proposal(request), endgame_proposal(request, back=2)], "gnugo 1"))
    store.run(submission("c1", 2, [endgame_proposal(request, seat=2, back=1)], "seki"))
    store.run(ReportContest(request, "arena"))
    judged, _ = store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))
    assert {proposal.verdict == proposals_pb2.VERDICT_DROPPED for proposal in judged} == {bool(reason)}
    assert all(reason.format(moves[5]) in proposal.reason for proposal in judged)
    # The other player is not to blame, and the log tells the same story again.
    assert (
        store.read(arenas.list_proposals, ProposalFilter("seki"))[0][0].verdict
        != proposals_pb2.VERDICT_DROPPED
    )
    assert not list(check(store.environment))


@pytest.mark.parametrize("contest_id", ["", "c1"])
@pytest.mark.parametrize("most", [1, 3, 4, 100])
def test_pages_put_together_are_a_players_proposals_newest_first(
    store: Store, most: int, contest_id: str
) -> None:
    expected: list[proposals_pb2.Proposal] = []
    for number in range(3):
        request = report(f"c{number}")
        store.run(OpenContest(contest(f"c{number}")))
        for back in range(4):
            for seat, name in ((1, "gnugo 1"), (2, "seki")):
                (proposal,) = store.run(
                    submission(f"c{number}", seat, [endgame_proposal(request, back=back)], name)
                )
                if name == "seki" and contest_id in ("", proposal.contest_id):
                    expected.insert(0, proposal)
    listed: list[proposals_pb2.Proposal] = []
    place = b""
    while True:
        page, place = store.read(arenas.list_proposals, ProposalFilter("seki", contest_id), place, most)
        assert len(page) <= most
        listed += page
        if not place:
            break
    assert listed == expected


def test_one_listing_looks_through_a_few_proposals_and_the_next_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposal_tables, "MOST_LOOKED_AT", 2)
    for number in range(5):
        request = report(f"c{number}")
        store.run(OpenContest(contest(f"c{number}")))
        store.run(submission(f"c{number}", 1, [endgame_proposal(request)], "gnugo 1"))
    store.run(ReportContest(report("c0"), "arena"))
    wanted = ProposalFilter("gnugo 1", verdicts=frozenset({INSERTED}))
    pages, start = [], b""
    while True:
        listed, start = store.read(arenas.list_proposals, wanted, start, 2)
        pages.append([proposal.contest_id for proposal in listed])
        if not start:
            break
    assert pages == [[], [], ["c0"]]
