"""Contests are opened and reported once each, whatever is repeated."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from academy.knowledge.boards import GraphGeometry
from academy.knowledge.claims import Claim
from academy.knowledge.spec import GameSpec
from academy.store import arenas, contest_tables, event_log
from academy.store.codec.games import spec_to_proto
from academy.store.consultation_notes import CountConsultation, NoteClaim
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import (
    ContestConflictError,
    ContestOverError,
    InvalidRecordError,
    UnknownContestError,
    UnknownGameError,
)
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.proposal_tables import ProposalFilter
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, proposals_pb2
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission

# Opening


def test_an_open_contest_is_known_with_its_players(store: Store) -> None:
    opened, tickets = store.run(OpenContest(contest("c1")))
    assert opened.state == contests_pb2.CONTEST_STATE_OPEN
    assert [player.name for player in opened.players] == ["gnugo 1", "seki"]
    assert store.read(contest_tables.contest_record, "c1").contest == opened
    assert len(set(tickets)) == 2
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9") == "c1"
    assert store.read(contest_tables.open_contest_of_player, "sek", "go-9x9") is None
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x") is None


def test_opening_again_gives_new_tickets_and_keeps_the_counts(store: Store) -> None:
    _, first = store.run(OpenContest(contest("c1")))
    store.note(CountConsultation("c1", 1, ["E5"], own_move=1))
    again = contest("c1")
    again.players[0].elo = 9
    opened, second = store.run(OpenContest(again))
    assert set(first).isdisjoint(second)
    assert opened.players[0].elo == 1500
    assert store.note(CountConsultation("c1", 1, ["E5"], own_move=1)) == 1


@dataclass(frozen=True, slots=True)
class EarlierReport:
    """A report as a version took it that refused fewer names."""

    report: contests_pb2.ReportContestRequest

    def execute(self, work: WriteContext) -> None:
        reported = events_pb2.ContestReported(report=self.report)
        event = events_pb2.Event(
            game_id=self.report.contest.game_id, actor="arena", contest_reported=reported
        )
        work.record(event)


NO_LONGER_TAKEN = [
    ("\u265f\ufe0f bot", "character 2 of the name .* cannot be seen"),
    ("bot ", "begins or ends with a blank"),
    ("Andre\u0301", "is not in Unicode's normal form C"),
]


@pytest.mark.parametrize(("name", "refusal"), NO_LONGER_TAKEN)
def test_a_name_that_is_no_longer_taken_plays_on_where_it_has_a_rating(
    store: Store, name: str, refusal: str
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    with pytest.raises(InvalidRecordError, match=rf"players\[1\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c1", names=("seki", name))))
    store.run(EarlierReport(report("c1", names=("seki", name))))
    # Another game of its competition has no rating of it yet.
    for game_id in ("go-9x9", "other"):
        names = [
            player.name
            for player in store.run(OpenContest(contest(game_id, game_id, (name, "seki"))))[0].players
        ]
        assert names == [name, "seki"]
    assert store.run(ReportContest(report("c2", names=(name, "seki")), "arena")).counted
    with pytest.raises(InvalidRecordError, match=rf"players\[0\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c3", names=(name * 2, name))))
    # The names of another arena's players are its own.
    store.run(OpenContest(contest("c4"), "arena"))
    with pytest.raises(InvalidRecordError, match=rf"players\[1\]\.name: .*{refusal}"):
        store.run(OpenContest(contest("c4", names=("seki", name)), "another"))


@pytest.mark.parametrize(
    ("game_id", "names", "field"),
    [("other", ("gnugo 1", "seki"), "game_id"), ("go-9x9", ("seki", "gnugo 1"), "players")],
)
def test_another_contest_of_the_same_id_is_refused(
    store: Store, game_id: str, names: tuple[str, str], field: str
) -> None:
    store.run(RegisterGame(go_game("other"), "arena"))
    store.run(OpenContest(contest("c1")))
    with pytest.raises(ContestConflictError) as refused:
        store.run(OpenContest(contest("c1", game_id, names)))
    assert refused.value.field == field
    with pytest.raises(ContestConflictError):
        store.run(ReportContest(report("c1", game_id, names=names), "arena"))


def test_a_contest_needs_a_registered_game(store: Store) -> None:
    for game_id in ("chess", "no game", ""):
        with pytest.raises(UnknownGameError):
            store.run(OpenContest(contest("c1", game_id)))
    with pytest.raises(UnknownContestError):
        store.read(contest_tables.contest_record, "c1")


# Reporting


def test_a_report_counts_once(store: Store) -> None:
    request = report("c1")
    store.run(OpenContest(contest("c1")))
    first = store.run(ReportContest(request, "arena"))
    again = store.run(ReportContest(request, "arena"))
    assert (first.counted, again.counted) == (True, False)
    assert again.contest == first.contest
    view = store.follow().refresh("go-9x9")
    assert view.measures.contests == 1
    assert view.openings.root.visits == 1
    assert view.openings.root.wins == (1, 0)
    assert store.read(event_log.last_sequence) == 2
    assert store.read(contest_tables.open_contest_of_player, "seki", "go-9x9") is None


def test_opening_first_is_not_needed_but_not_possible_after(store: Store) -> None:
    assert store.run(ReportContest(report("c1"), "arena")).counted
    with pytest.raises(ContestOverError):
        store.run(OpenContest(contest("c1")))


def test_only_an_opened_contest_has_a_time_when_it_was_opened(store: Store) -> None:
    store.run(OpenContest(contest("opened")))
    for contest_id, was_opened in (("opened", True), ("reported", False)):
        reported = store.run(ReportContest(report(contest_id), actor="arena")).contest
        assert reported.HasField("report_time")
        assert reported.HasField("open_time") is was_opened
        assert store.read(contest_tables.contest_record, contest_id).contest == reported


def test_report_may_leave_out_what_the_opening_gave(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    request.contest.CopyFrom(contests_pb2.Contest(contest_id="c1"))
    assert store.run(ReportContest(request, "arena")).contest.players[1].name == "seki"


def test_a_wrong_report_leaves_the_contest_open(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    request.plies[29].player = 7
    with pytest.raises(InvalidRecordError, match=r"plies\[29\]"):
        store.run(ReportContest(request, "arena"))
    assert store.read(contest_tables.contest_record, "c1").contest.state == contests_pb2.CONTEST_STATE_OPEN
    assert store.read(event_log.last_sequence) == 1
    assert store.run(ReportContest(report("c1"), "arena")).counted


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (
            lambda request: request.results.__setitem__(1, contests_pb2.RESULT_WIN),
            "results: win and win given",
        ),
        (
            lambda request: request.results.__setitem__(0, contests_pb2.RESULT_LOSS),
            "results: loss and loss given",
        ),
        (
            lambda request: request.results.__setitem__(1, contests_pb2.RESULT_DRAW),
            "results: win and draw given",
        ),
        (
            lambda request: request.results.__setitem__(0, contests_pb2.RESULT_DRAW),
            "one wins and the other loses",
        ),
        (
            lambda request: setattr(request.plies[3], "move", "E5\x1b[2J"),
            r"plies\[3\]\.move: character 3, '\\x1b'",
        ),
        (lambda request: setattr(request.plies[3], "move", "\u2028"), r"plies\[3\]\.move: character 1"),
        (lambda request: setattr(request, "termination", "a\nb"), "termination: character 2"),
        (
            lambda request: setattr(request.plies[3], "legal_moves", 2**32 - 1),
            r"plies\[3\]\.legal_moves: 4,294,967,295 given; at most 100,000 are allowed",
        ),
    ],
)
def test_what_no_contest_can_end_with_is_refused(
    store: Store, spoil: Callable[[contests_pb2.ReportContestRequest], None], complaint: str
) -> None:
    request = report("c1")
    spoil(request)
    with pytest.raises(InvalidRecordError, match=complaint):
        store.run(ReportContest(request, "arena"))
    assert store.read(event_log.last_sequence) == 1


def test_a_report_without_results_is_refused_also_where_something_was_claimed(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    store.note(NoteClaim("c1", 2, Claim(0, bytes(8), 0.25)))
    request = report("c1")
    del request.results[:]
    with pytest.raises(InvalidRecordError, match="results: 0 given for 2 players"):
        store.run(ReportContest(request, "arena"))
    assert store.run(ReportContest(report("c1"), "arena")).counted


@pytest.mark.parametrize("results", [("WIN", "LOSS"), ("LOSS", "WIN"), ("DRAW", "DRAW")])
def test_a_contest_of_two_ends_with_one_winner_or_a_draw(store: Store, results: tuple[str, str]) -> None:
    request = report("c1")
    request.results[:] = [contests_pb2.Result.Value(f"RESULT_{result}") for result in results]
    assert store.run(ReportContest(request, "arena")).counted


def test_a_void_contest_teaches_nothing_and_drops_its_proposals(store: Store) -> None:
    store.run(OpenContest(contest("c1")))
    request = report("c1")
    store.run(submission("c1", 1, [endgame_proposal(request)], "gnugo 1"))
    void = contests_pb2.ReportContestRequest(contest=contest("c1"), void=True, termination="crash")
    ended = store.run(ReportContest(void, "arena"))
    assert (ended.counted, ended.accepted, ended.dropped) == (True, 0, 1)
    assert ended.contest.state == contests_pb2.CONTEST_STATE_VOID
    (proposal,), _ = store.read(arenas.list_proposals, ProposalFilter("gnugo 1"))
    assert (proposal.verdict, proposal.reason) == (
        proposals_pb2.VERDICT_DROPPED,
        "the contest ended without a result",
    )
    view = store.follow().refresh("go-9x9")
    assert (view.measures.contests, view.openings.root.visits) == (0, 0)
    # It stays void, whatever is reported later.
    assert not store.run(ReportContest(request, "arena")).counted
    assert not list(check(store.environment))


# Simultaneous moves


def begin_war(store: Store) -> None:
    spec = GameSpec("war", GraphGeometry(("a", "b")), symmetric=False, simultaneous=True)
    store.run(RegisterGame(spec_to_proto(spec), "arena"))
    store.run(OpenContest(contest("c1", "war")))


def war(plies: str, termination: str = "score") -> contests_pb2.ReportContestRequest:
    """A contest in which both move at once: a player's number, then its move."""
    request = contests_pb2.ReportContestRequest(
        contest=contest("c1", "war"),
        termination=termination,
        results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
    )
    for ply in plies.split():
        request.plies.add(player=int(ply[0]), move=ply[1:])
    return request


def reported_event(store: Store) -> events_pb2.ContestReported:
    (event, *_), _ = store.read(event_log.read_page, 1, newest_first=True)
    return event.contest_reported


@pytest.mark.parametrize(
    ("moves", "false"),
    [(["a"], []), (["a", "b"], []), (["a", "y"], [(1, 2, "y", "b")]), (["x"], [(1, 1, "x", "a")])],
)
def test_where_moves_are_simultaneous_a_player_consults_with_its_own(
    store: Store, moves: list[str], false: list[tuple[int, int, str, str]]
) -> None:
    begin_war(store)
    store.note(CountConsultation("c1", 1, moves, own_move=3))
    store.run(ReportContest(war("1a 2x 1b 2y"), "arena"))
    assert [
        (mismatch.player, mismatch.number, mismatch.claimed, mismatch.played)
        for mismatch in reported_event(store).false_consultations
    ] == false


@pytest.mark.parametrize(("termination", "false"), [("score", 1), ("forfeit", 0), ("resignation", 0)])
def test_whose_adversary_leaves_while_both_think_has_no_move_to_state_a_value_with(
    store: Store, termination: str, false: int
) -> None:
    begin_war(store)
    store.note(NoteClaim("c1", 1, Claim(2, bytes(8), 0.25)))
    store.run(ReportContest(war("1a 2x", termination), "arena"))
    assert len(reported_event(store).false_claims) == false
