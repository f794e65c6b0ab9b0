"""Reports and proposals from messages, and what is refused of them, by name."""

from collections.abc import Callable

import pytest

from academy.knowledge.contests import Result
from academy.knowledge.settings import Library
from academy.store.codec.contests import report_from_proto, uses_to_proto
from academy.store.errors import InvalidRecordError
from academy.v1 import contests_pb2, events_pb2, proposals_pb2
from tests.academy.store.examples import endgame_proposal, go, report

Spoil = Callable[[contests_pb2.ReportContestRequest], object]


def test_report_is_read_as_it_was_given() -> None:
    request = report("c1", plies=3)
    request.start_board = "-" * 80 + "x"
    proposal = proposals_pb2.Proposal(seat=1, content=endgame_proposal(request))
    uses = uses_to_proto([(2, Library.ENDGAME, 7), (1, Library.ENDGAME, 8), (2, Library.ENDGAME, 9)])
    read = report_from_proto(
        events_pb2.ContestReported(report=request, proposals=[proposal], uses=uses), go()
    )
    assert read.contest_id == "c1"
    assert [(player.name, player.elo) for player in read.contestants] == [("gnugo 1", 1500), ("seki", 1550)]
    assert read.results == (Result.WIN, Result.LOSS)
    assert [(ply.player, ply.move) for ply in read.plies] == [(ply.player, ply.move) for ply in request.plies]
    assert read.plies[2].values == {value.player: value.value for value in request.plies[2].values}
    assert [len(ply.states) for ply in read.plies] == [81, 81, 81]
    assert read.start_states[-1] == 2
    assert [(use.seat, use.library, use.pattern_ids) for use in read.uses] == [
        (2, Library.ENDGAME, (7, 9)),
        (1, Library.ENDGAME, (8,)),
    ]
    assert [(proposal.seat, proposal.ply) for proposal in read.proposals] == [(1, 3)]


def test_names_that_an_earlier_release_has_taken_are_read() -> None:
    request = report("c1", plies=1)
    request.contest.players[0].name = "b\u202eob"
    read = report_from_proto(events_pb2.ContestReported(report=request), go())
    assert read.contestants[0].name == "b\u202eob"


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda request: setattr(request.contest, "contest_id", ""), "contest_id: '' must be 1 to 128"),
        (lambda request: setattr(request.contest, "contest_id", "a b"), "contest_id: 'a b'"),
        (lambda request: setattr(request.contest, "contest_id", "x" * 129), "contest_id"),
        (lambda request: request.contest.players.pop(), "players: 1 given; go-9x9 has 2"),
        (lambda request: setattr(request.contest.players[1], "name", ""), r"players\[1\]\.name"),
        (lambda request: setattr(request.contest.players[0], "elo", float("nan")), r"players\[0\]\.elo: nan"),
        (lambda request: setattr(request.contest.players[0], "elo", 1e9), r"players\[0\]\.elo"),
        (lambda request: request.results.pop(), "results: 1 given for 2 players"),
        (lambda request: request.results.__setitem__(1, 0), r"results\[1\]: 0 is neither"),
        (lambda request: setattr(request, "termination", "x" * 300), "termination"),
        (
            lambda request: setattr(request.plies[4], "player", 3),
            r"plies\[4\]\.player: 3 must be from 1 to 2",
        ),
        (lambda request: setattr(request.plies[4], "player", 0), r"plies\[4\]\.player"),
        (lambda request: setattr(request.plies[4], "move", ""), r"plies\[4\]\.move"),
        (lambda request: setattr(request.plies[4], "move", "x" * 1025), r"plies\[4\]\.move"),
        (lambda request: setattr(request.plies[4], "board", "-" * 80), r"plies\[4\]\.board: a board of 80"),
        (
            lambda request: setattr(request.plies[4], "board", "-" * 80 + "B"),
            r"plies\[4\]\.board: letter 'B'",
        ),
        (lambda request: setattr(request, "start_board", "x"), "start_board"),
        (lambda request: setattr(request.plies[4].values[0], "value", 1.01), r"plies\[4\]\.values: 1.01"),
        (
            lambda request: setattr(request.plies[4].values[0], "value", float("nan")),
            r"plies\[4\]\.values: nan",
        ),
        (
            lambda request: setattr(request.plies[4].values[0], "player", 3),
            r"plies\[4\]\.values: there is no player 3",
        ),
        (lambda request: request.plies[4].values.append(request.plies[4].values[0]), "given twice"),
    ],
)
def test_a_report_out_of_order_is_refused(spoil: Spoil, complaint: str) -> None:
    request = report("c1", plies=10)
    report_from_proto(events_pb2.ContestReported(report=request), go())
    spoil(request)
    with pytest.raises(InvalidRecordError, match=complaint):
        report_from_proto(events_pb2.ContestReported(report=request), go())
