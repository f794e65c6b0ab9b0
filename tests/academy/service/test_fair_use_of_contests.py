"""A competition may have stricter rules of fair use than the game; ACADEMY enforces them and keeps them."""

from typing import Any

import grpc
import pytest

from academy.store.contest_tables import contest_record
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, contest, position, propose, report
from tests.academy.service.running import Client, Running, refusal


def registered(academy: Running, game_id: str) -> None:
    """A game that allows more than LUDAE does."""
    game = examples.tiny_go(game_id)
    game.settings.opening_moves_per_consultation = 2
    game.settings.opening_plies_ahead = 4
    game.settings.pattern_value_limit = 0.5
    academy.register(game)


def opened(academy: Running, contest_id: str, game_id: str, **rules: Any) -> contests_pb2.OpenContestResponse:
    wanted = contest(contest_id, game_id)
    wanted.fair_use.CopyFrom(contests_pb2.FairUseRules(**rules))
    return academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=wanted))


def look_up(
    player: Client, game_id: str, contest_id: str, *moves: str
) -> consultation_pb2.LookUpOpeningResponse:
    return player.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id=game_id, contest_id=contest_id, player=1, moves=moves)
    )


def test_a_contest_has_the_stricter_rules_and_says_which(academy: Running) -> None:
    registered(academy, "strict")
    for number in range(6):
        played = contest(f"strict/{number}", "strict")
        academy.report(report(played, ["c3", "b2", "d4"]))
    response = opened(
        academy,
        "strict/now",
        "strict",
        opening_moves_per_consultation=4,
        opening_plies_ahead=0,
        pattern_value_limit=0.1,
        elo_margin=100,
    )
    in_force = contests_pb2.FairUseRules(
        opening_moves_per_consultation=4,
        opening_plies_ahead=0,
        pattern_value_limit=0.1,
        elo_margin=100,
        consult_share=1.0,
        local_weights=False,
    )
    assert response.contest.fair_use == in_force
    player = academy.client(response.tickets[0])
    first = look_up(player, "strict", "strict/now")
    assert (first.recommendation.move, list(first.recommendation.replies)) == ("c3", [])
    # In a contest by the game's rules the same question has what may follow.
    usual = opened(academy, "strict/usual", "strict")
    assert look_up(academy.client(usual.tickets[0]), "strict", "strict/usual").recommendation.replies
    moves = ("c3", "b2", "d4", "a1")
    assert refusal(lambda: look_up(player, "strict", "strict/now", *moves)).reason == "FAIR_USE_EXCEEDED"
    look_up(academy.client(usual.tickets[0]), "strict", "strict/usual", *moves)
    patterns = consultation_pb2.MatchPatternsRequest(
        game_id="strict", contest_id="strict/now", positions=[position(EMPTY, expected_value=0.2)]
    )
    refused = refusal(lambda: player.consultation.MatchPatterns(patterns))
    assert (refused.reason, refused.metadata["limit"]) == ("VALUE_NOT_LOW", "0.1")
    # An admin's change is for later contests, and the event has what was in force.
    changed = libraries_pb2.UpdateSettingsRequest(game_id="strict", fields=["pattern_value_limit"])
    changed.settings.pattern_value_limit = 0.05
    academy.admin().libraries.UpdateSettings(changed)
    patterns.positions[0].expected_value = 0.1
    player.consultation.MatchPatterns(patterns)
    academy.report(report(response.contest, ["c3"]))
    events = academy.admin().libraries.ListEvents(
        libraries_pb2.ListEventsRequest(game_id="strict", newest_first=True, page_size=1)
    )
    assert events.events[0].contest_reported.report.contest.fair_use == in_force


@pytest.mark.parametrize(
    ("rule", "value", "own", "bound"),
    [
        ("opening_moves_per_consultation", 1, "2", "at least 2"),
        ("opening_plies_ahead", 6, "4", "at most 4"),
        ("pattern_value_limit", 0.6, "0.5", "at most 0.5"),
        ("elo_margin", 201, "200", "at most 200"),
    ],
)
def test_a_looser_rule_is_refused_with_both_numbers(
    academy: Running, rule: str, value: float, own: str, bound: str
) -> None:
    registered(academy, "loose")
    refused = refusal(lambda: opened(academy, f"loose/{rule}", "loose", **{rule: value}))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "LOOSER_RULE")
    assert refused.metadata == {"field": f"fair_use.{rule}", "value": f"{value:g}", "limit": own}
    assert f"{rule} {value:g}: the game has {own}" in refused.message
    assert bound in refused.message


def test_a_rule_out_of_its_range_is_refused(academy: Running) -> None:
    registered(academy, "range")
    for share in (1.5, -0.1, float("nan")):
        refused = refusal(lambda share=share: opened(academy, "range/1", "range", consult_share=share))  # type: ignore[misc]
        assert (refused.reason, "consult_share" in refused.message) == ("INVALID_SETTINGS", True)


def test_opening_again_keeps_the_rules_and_other_rules_are_another_contest(academy: Running) -> None:
    registered(academy, "again")
    first = opened(academy, "again/1", "again", elo_margin=50)
    assert opened(academy, "again/1", "again", elo_margin=50).contest.fair_use == first.contest.fair_use
    assert opened(academy, "again/1", "again").contest.fair_use == first.contest.fair_use
    refused = refusal(lambda: opened(academy, "again/1", "again", elo_margin=60))
    assert (refused.reason, "fair_use" in refused.message) == ("CONTEST_CONFLICT", True)


def test_seats_that_play_alone_are_refused_and_may_propose(academy: Running) -> None:
    registered(academy, "alone")
    shares = [opened(academy, f"alone/{number}", "alone", consult_share=0.25) for number in range(40)]
    alone = [seat for response in shares for seat in response.contest.seats_alone]
    # Of 80 seats 60 are expected; the draw is the same on every machine.
    assert 50 <= len(alone) <= 70
    assert {*alone} == {1, 2}
    assert not any(opened(academy, f"alone/all/{n}", "alone").contest.seats_alone for n in range(10))
    response = next(response for response in shares if list(response.contest.seats_alone) == [1])
    contest_id = response.contest.contest_id
    again = opened(academy, contest_id, "alone", consult_share=0.25)
    assert list(again.contest.seats_alone) == [1]
    first, second = map(academy.client, again.tickets)
    refused = refusal(lambda: look_up(first, "alone", contest_id))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "PLAYS_ALONE")
    assert refused.metadata == {"seat": "1", "consult_share": "0.25"}
    # The game's settings have a share of 1.
    assert "by the contest's rules" in refused.message and "the game lets" not in refused.message
    # The other seat consults, and a contest by itself is not a way round.
    second.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id="alone", contest_id=contest_id, player=2, moves=["c3"])
    )
    assert refusal(lambda: look_up(first, "alone", "")).reason == "ANALYSIS_DURING_CONTEST"
    propose(first, contest_id, "x-\n-o", 0.5)
    advice = consultation_pb2.AdviseRequest(
        game_id="alone", contest_id=contest_id, position=position(EMPTY, expected_value=0.1)
    )
    assert refusal(lambda: first.consultation.Advise(advice)).reason == "PLAYS_ALONE"


@pytest.mark.parametrize(("board", "value"), [("x" + EMPTY[1:], 0.1), (EMPTY, 0.2)], ids=["board", "value"])
def test_who_contradicts_itself_gets_no_more_answers_in_the_contest(
    academy: Running, board: str, value: float
) -> None:
    registered(academy, "liars")
    contest_id = f"liars/{value}"
    response = opened(academy, contest_id, "liars")
    liar, other = map(academy.client, response.tickets)

    def advise(client: Client, board: str, value: float, plies: int, player: int = 1) -> None:
        where = position(board, player, value)
        where.plies = plies
        request = consultation_pb2.MatchPatternsRequest(
            game_id="liars", contest_id=contest_id, positions=[where]
        )
        client.consultation.MatchPatterns(request)

    advise(liar, EMPTY, 0.1, plies=0)
    # The same question again, and another position, do not contradict each other.
    advise(liar, EMPTY, 0.1, plies=0)
    advise(liar, "x" + EMPTY[1:], 0.3, plies=2)
    refused = refusal(lambda: advise(liar, board, value, plies=0))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CLAIMS_CONTRADICT")
    weights = consultation_pb2.DownloadWeightsRequest(game_id="liars", contest_id=contest_id, player=1)
    for ask in (
        lambda: advise(liar, EMPTY, 0.1, plies=0),
        lambda: advise(liar, EMPTY, 0.1, plies=4),
        lambda: look_up(liar, "liars", contest_id),
        lambda: liar.consultation.DownloadWeights(weights),
    ):
        assert refusal(ask).reason == "CLAIMS_CONTRADICT"
    # Once it is in the store, every other server knows it, too.
    kept = academy.store.keep_notes()
    assert kept is None or kept.result(10) is None
    assert academy.store.read(contest_record, contest_id).seats[0].claims_contradict
    assert refusal(lambda: look_up(liar, "liars", contest_id)).reason == "CLAIMS_CONTRADICT"
    # The adversary goes on asking, and the liar may propose.
    advise(other, EMPTY, 0.1, plies=1, player=2)
    propose(liar, contest_id, "x-\n-o", 0.5)
