"""What a player claims to expect when it asks for patterns is compared with what it tells the arena."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from academy.store import consultation_notes
from academy.store.maintenance.check import check
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, board, contest, propose, report
from tests.academy.service.running import Client, Running, refusal, serving

MOVES = ["a1", "b1", "c3", "d1", "e1", "e5"]
BOARDS = [board("-----", "-----", "-----", "-----", "xo---"[:ply] + "-----"[ply:]) for ply in (1, 2)] + [
    board("-----", "-----", "--x--", "-----", "xo-" + tail) for tail in ("--", "o-", "ox")
]
BOARDS.append(board("----o", "-----", "--x--", "-----", "xo-ox"))


def begun(academy: Running, name: str) -> Client:
    """A game and a contest of this name; the first player's client."""
    academy.register(examples.tiny_go(name))
    return academy.open(contest(name, name))[0]


def ask(player: Client, name: str, value: float, plies: int | None, *boards: str) -> None:
    positions = [
        consultation_pb2.Position(board=board, player=1, expected_value=value, plies=plies)
        for board in boards or (EMPTY,)
    ]
    request = consultation_pb2.MatchPatternsRequest(game_id=name, contest_id=name, positions=positions)
    player.consultation.MatchPatterns(request)


def claims_report(
    name: str,
    values: Sequence[float | None],
    before: Sequence[float | None] = (None, None, None),
    *,
    first: str = "DRAW",
    boards: Sequence[str] = BOARDS,
) -> contests_pb2.ReportContestRequest:
    """The contest's report: the first player's values after each of its moves, and before."""
    made = report(contest(name, name), MOVES, boards, first=first)
    for number, (value, earlier) in enumerate(zip(values, before, strict=True)):
        if value is not None:
            made.plies[2 * number].values.add(player=1, value=value, before=earlier)
    return made


def ended(
    academy: Running, player: Client, made: contests_pb2.ReportContestRequest, value: float
) -> proposals_pb2.Proposal:
    """What became of an endgame proposal for the player's last move."""
    propose(player, made.contest.contest_id, "x", value, ply=5)
    academy.report(made)
    (judged,) = player.proposals.ListProposals(
        proposals_pb2.ListProposalsRequest(contest_id=made.contest.contest_id)
    ).proposals
    return judged


def figures(client: Client, name: str, player: str = "") -> libraries_pb2.PlayerStatistics:
    request = libraries_pb2.ListPlayerStatisticsRequest(game_id=name, player=player)
    (statistics,) = client.libraries.ListPlayerStatistics(request).players
    return statistics


@pytest.mark.threat("lies")
def test_a_player_that_claims_less_than_it_tells_the_arena_loses_its_proposals(academy: Running) -> None:
    ann = begun(academy, "lies")
    for plies in (0, 2, 4):
        for _ in range(10):
            ask(ann, "lies", 0.0, plies)

    judged = ended(academy, ann, claims_report("lies", [0.9, 0.9, 0.9]), 0.9)

    assert judged.verdict == proposals_pb2.VERDICT_DROPPED
    assert judged.reason == (
        "the proposer asked for patterns with an expected value of 0 after 0 plies, but stated 0.9 to the "
        "arena (3 of 3 claims do not hold)"
    )
    for reader in (academy.admin(), academy.bot("ann")):
        known = figures(reader, "lies", "ann")
        assert (known.contests, known.claims, known.false_claims) == (1, 3, 3)
        assert (known.contests_with_false_claims, known.dropped_proposals) == (1, 1)
    assert refusal(lambda: figures(academy.bot("bob"), "lies", "ann")).reason == "NOT_PERMITTED"
    assert not list(check(academy.store.environment))


TABLE = {
    "one value is that before the move too": ([0.3, 0.3, 0.6], [None] * 3, [(0.3, 2)], True),
    "the value before counts, not the one after": ([0.9, 0.8, 0.6], [0.9, 0.2, None], [(0.2, 2)], True),
    "the value after does not": ([0.9, 0.2, 0.6], [0.9, 0.8, None], [(0.2, 2)], False),
    "a hundredth is rounding": ([0.9, 0.9, 0.6], [None, 0.31, None], [(0.3, 2)], True),
    "more than that is not": ([0.9, 0.9, 0.6], [None, 0.311, None], [(0.3, 2)], False),
    "where no value was reported the claim does not hold": ([0.9, None, 0.6], [None] * 3, [(0.3, 2)], False),
    "one of several is enough": ([0.2, 0.3, 0.6], [None] * 3, [(0.2, 0), (0.2, 2)], False),
    "what was claimed beyond the end": ([0.3, 0.3, 0.6], [None] * 3, [(0.3, 60)], False),
    "nothing can be reported of the last position": ([0.3, 0.3, 0.6], [None] * 3, [(0.3, 6)], False),
    "and who asks nothing claims nothing": ([0.9, 0.9, 0.6], [None] * 3, [], True),
}


@pytest.mark.parametrize("values, before, claims, holds", TABLE.values(), ids=TABLE)
@pytest.mark.threat("lies")
def test_claims_are_of_the_position_that_they_name(
    academy: Running,
    request: pytest.FixtureRequest,
    values: list[float | None],
    before: list[float | None],
    claims: list[tuple[float, int]],
    holds: bool,
) -> None:
    name = f"named-{list(TABLE).index(request.node.callspec.id)}"
    ann = begun(academy, name)
    for value, plies in claims:
        ask(ann, name, value, plies)
    judged = ended(academy, ann, claims_report(name, values, before), 0.6)
    assert (judged.verdict != proposals_pb2.VERDICT_DROPPED) == holds, judged.reason


@pytest.mark.threat("lies")
def test_a_player_that_tells_the_arena_the_same_lie_is_not_believed_for_long(academy: Running) -> None:
    ann = begun(academy, "agreed")
    for plies in (0, 2, 4):
        ask(ann, "agreed", 0.0, plies)
    judged = ended(academy, ann, claims_report("agreed", [0.9, 0.9, 0.9], [0.0, 0.0, 0.0]), 0.9)
    assert judged.verdict == proposals_pb2.VERDICT_DROPPED
    assert (
        "and stated the same to the arena, but its own values just before and after were 0.9 or more"
        in judged.reason
    )


@pytest.mark.threat("lies")
def test_without_plies_the_position_is_found_by_its_board(academy: Running) -> None:
    ann = begun(academy, "boards")
    # Boards after candidate moves come behind the one that the player is in.
    ask(ann, "boards", 0.3, None, BOARDS[1], EMPTY)
    assert (
        ended(academy, ann, claims_report("boards", [0.9, 0.3, 0.6]), 0.6).verdict
        != proposals_pb2.VERDICT_DROPPED
    )

    ann = begun(academy, "nowhere")
    ask(ann, "nowhere", 0.3, None, board("xxxxx", *["-----"] * 4))
    judged = ended(academy, ann, claims_report("nowhere", [0.3, 0.3, 0.6]), 0.6)
    assert "on a board that never stood in the contest" in judged.reason

    ann = begun(academy, "boardless")
    ask(ann, "boardless", 0.3, None, BOARDS[1])
    made = claims_report("boardless", [0.9, 0.3, 0.6], boards=())
    # Without boards nobody can say of which position the claim was.
    assert ended(academy, ann, made, 0.6).verdict == proposals_pb2.VERDICT_DROPPED


def test_resignation_after_a_question_is_not_a_lie(academy: Running) -> None:
    ann = begun(academy, "resigns")
    ask(ann, "resigns", 0.05, 6)
    made = claims_report("resigns", [0.3, 0.3, 0.1], first="LOSS")
    assert ended(academy, ann, made, 0.1).verdict != proposals_pb2.VERDICT_DROPPED


@pytest.mark.threat("lies")
def test_whose_adversary_resigns_in_its_turn_had_nothing_to_ask_about_the_last_position(
    academy: Running,
) -> None:
    ann = begun(academy, "resigned")
    ask(ann, "resigned", 0.05, 6)
    made = claims_report("resigned", [0.3, 0.3, 0.6], first="WIN")
    made.termination = "resignation"
    assert ended(academy, ann, made, 0.6).verdict == proposals_pb2.VERDICT_DROPPED


def test_late_proposal_is_checked_against_the_claims(academy: Running) -> None:
    ann = begun(academy, "late")
    ask(ann, "late", 0.0, 2)
    academy.report(claims_report("late", [0.9, 0.9, 0.9]))
    judged = propose(academy.bot("ann"), "late", "x", 0.9, ply=5)
    assert judged.verdict == proposals_pb2.VERDICT_DROPPED
    assert figures(academy.admin(), "late", "ann").dropped_proposals == 1


def test_more_plies_than_a_contest_has_are_refused(academy: Running) -> None:
    ann = begun(academy, "many")
    ask(ann, "many", 0.1, 100_000)
    refused = refusal(lambda: ask(ann, "many", 0.1, 100_001))
    assert refused.fields == ["positions[0].plies"]


def test_in_a_game_of_more_than_two_a_claim_says_after_how_many_plies_it_is(academy: Running) -> None:
    arena = academy.arena().contests
    academy.register(examples.ring("three"))
    players = contest("three", "three", ("ann", "bob", "carl"), (1500.0, 1500.0, 1500.0))
    ann, *_ = academy.open(players)
    position = consultation_pb2.Position(board="-----", player=1, expected_value=0.1)
    first = consultation_pb2.Position(board="-----", player=1, expected_value=0.1, plies=0)

    def match(*positions: consultation_pb2.Position, contest_id: str = "three") -> None:
        asker = ann if contest_id else academy.admin()
        asker.consultation.MatchPatterns(
            consultation_pb2.MatchPatternsRequest(game_id="three", contest_id=contest_id, positions=positions)
        )

    refused = refusal(lambda: match(position))
    assert (refused.code.name, refused.fields) == ("INVALID_ARGUMENT", ["positions[0].plies"])
    assert "must be given in a contest of three, which has 3 players" in refused.message
    move = consultation_pb2.CandidateMove(cells=[0], letters="x")
    successors = consultation_pb2.MatchSuccessorsRequest(
        game_id="three", contest_id="three", position=position, moves=[move]
    )
    assert refusal(lambda: ann.consultation.MatchSuccessors(successors)).fields == ["position.plies"]
    # The claim is of the first position, and outside of contests nothing is claimed.
    match(first, position)
    match(position, contest_id="")
    stated = contests_pb2.GetConsultationsRequest(contest_id="three")
    academy.report(contests_pb2.ReportContestRequest(contest=players, void=True))
    assert [seat.pattern_questions for seat in arena.GetConsultations(stated).seats] == [1, 0, 0]


def test_claims_outlive_the_server_that_took_them(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as first:
        ask(begun(first, "restarted"), "restarted", 0.0, 2)
    with serving(tmp_path / "data") as second:
        second.report(claims_report("restarted", [0.9, 0.9, 0.9]))
        assert figures(second.bot("ann"), "restarted").false_claims == 1


def test_claims_beyond_the_bound_discredit_the_player(
    academy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consultation_notes, "MAX_CLAIMS", 3)
    ann = begun(academy, "endless")
    for number in range(5):
        ask(ann, "endless", 0.3 + number / 1000, 2)
    judged = ended(academy, ann, claims_report("endless", [0.9, 0.3, 0.6]), 0.6)
    assert judged.verdict == proposals_pb2.VERDICT_DROPPED
    assert figures(academy.admin(), "endless", "ann").claims == 3


def test_the_arena_and_admins_read_what_players_asked_after_which_ply_and_what_they_were_answered(
    academy: Running,
) -> None:
    name = "questions"
    ann = begun(academy, name)
    examples.teach(academy, name, "taught", [("carl", "x", 0.9)])
    opening = consultation_pb2.LookUpOpeningRequest(game_id=name, contest_id=name, player=1)
    for _ in range(2):
        answer = ann.consultation.LookUpOpening(opening)
    ask(ann, name, 0.25, 4)
    # By its board alone: that after the third ply.
    ask(ann, name, 0.3, None, BOARDS[2])
    academy.report(claims_report(name, [0.5, 0.25, 0.5]))
    request = contests_pb2.GetConsultationsRequest(contest_id=name)

    for client in (academy.arena(), academy.admin()):
        first, second = client.contests.GetConsultations(request).seats
        assert (first.opening_questions, list(first.opening_plies)) == (1, [0])
        questions = [(question.plies, question.value) for question in first.questions]
        assert first.pattern_questions == 2 and questions == [(3, 0.3), (4, 0.25)]
        (kept,) = first.opening_answers
        assert (kept.move, kept.visits) == (answer.recommendation.move, answer.position.visits)
        assert kept.visits
        # No stone, no pattern of stones.
        assert [question.answer.patterns for question in first.questions] == [1, 0]
        assert [list(got.pattern_ids) for got in first.questions[0].answer.some] == [[1]]
        assert not second.opening_questions and not second.questions
    assert refusal(lambda: academy.bot("ann").contests.GetConsultations(request)).reason == "NOT_PERMITTED"
