"""What a bot may try for its own good or others' harm, and what comes of it."""

import base64
from pathlib import Path

import grpc
import pytest

from academy.service import paging
from academy.service.errors import StalePageTokenError
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, ENDGAME, contest, position, propose, teach
from tests.academy.service.running import Running, as_refused, limited, refusal

GAME = "hostile"


@pytest.mark.threat("vote_stuffing")
def test_however_often_a_bot_proposes_it_has_one_vote(fresh: Running) -> None:
    fresh.register(examples.tiny_go(GAME))
    teach(fresh, GAME, "stuffing", [("ann", "xo\n-x", 0.9)] * 12 + [("bob", "xo\n-x", 0.9)])

    request = libraries_pb2.ListPatternsRequest(game_id=GAME, library=ENDGAME)
    (pattern,) = fresh.admin().libraries.ListPatterns(request).patterns
    assert sorted(vote.player for vote in pattern.votes) == ["ann", "bob"]


@pytest.mark.threat("impersonation")
def test_a_bot_cannot_tell_a_contest_of_others_from_one_that_is_not(fresh: Running) -> None:
    fresh.register(examples.tiny_go(GAME))
    there, nowhere = "hostile/there", "hostile/none_"
    fresh.open(contest(there, GAME))
    spy = fresh.bot("spy")
    proposal = proposals_pb2.NewProposal(library=ENDGAME, cells="x", ply=1, value=0.5)

    def answers(contest_id: str) -> list[tuple[grpc.StatusCode, str, str]]:
        calls = [
            lambda: spy.contests.GetContest(contests_pb2.GetContestRequest(contest_id=contest_id)),
            lambda: spy.proposals.SubmitProposals(
                proposals_pb2.SubmitProposalsRequest(contest_id=contest_id, proposals=[proposal])
            ),
        ]
        refused = [refusal(call) for call in calls]
        return [(error.code, error.reason, error.message.replace(contest_id, "it")) for error in refused]

    assert answers(there) == answers(nowhere)
    listed = spy.proposals.ListProposals(proposals_pb2.ListProposalsRequest(contest_id=there))
    assert list(listed.proposals) == []


@pytest.mark.threat("bad_input")
def test_page_tokens_of_a_bots_own_making_are_refused(fresh: Running) -> None:
    fresh.register(examples.tiny_go(GAME))
    bot = fresh.bot("forger")
    games = contests_pb2.ListGamesRequest()
    statistics = libraries_pb2.ListPlayerStatisticsRequest(game_id=GAME)
    proposals = proposals_pb2.ListProposalsRequest()
    half = base64.urlsafe_b64decode(paging.page_token(games, ["x"])).replace(b"x", rb"\ud800")
    games.page_token = base64.urlsafe_b64encode(half).decode()
    statistics.page_token = paging.page_token(statistics, ["no number"])
    proposals.page_token = paging.page_token(proposals, ["no number"])

    for call in (
        lambda: bot.contests.ListGames(games),
        lambda: bot.libraries.ListPlayerStatistics(statistics),
        lambda: bot.proposals.ListProposals(proposals),
    ):
        assert refusal(call).reason == StalePageTokenError.reason
    # No key of the store is as long.
    proposals.page_token = paging.page_token(proposals, ["00" * 300])
    assert not bot.proposals.ListProposals(proposals).proposals


@pytest.mark.threat("vote_stuffing")
def test_patterns_that_lie_everywhere_do_not_swamp_an_answer(fresh: Running) -> None:
    fresh.register(examples.tiny_go(GAME))
    # Almost everything matches an empty board, wherever it is laid.
    loose = [("ann", "\n".join("#" * width for _ in range(height - 1)) + "\n" + "-" * width, 0.9)
             for width in (1, 2, 3) for height in (1, 2, 3)]  # fmt: skip
    teach(fresh, GAME, "loose", loose)
    request = consultation_pb2.MatchPatternsRequest(game_id=GAME, positions=[position(EMPTY)] * 64)

    answer = fresh.bot("reader").consultation.MatchPatterns(request)

    assert all(len(position.patterns) <= 256 for position in answer.positions)
    assert answer.positions[0].total >= len(answer.positions[0].patterns) > 0


def shown_to(
    academy: Running, contest_id: str, elo: float, board: str
) -> list[tuple[int, float, float, int]]:
    """What a player of this Elo receives in a contest for a position that it expects to lose."""
    played = contest(contest_id, GAME, ("reader", "other"), (elo, elo))
    reader, _ = academy.open(played)
    request = consultation_pb2.MatchPatternsRequest(
        game_id=GAME, contest_id=contest_id, positions=[position(board, 1, 0.1)]
    )
    table = reader.consultation.MatchPatterns(request).patterns
    return sorted(zip(table.pattern_ids, table.elos, table.values, table.proposers, strict=True))


@pytest.mark.threat("vote_stuffing")
def test_a_bot_that_loses_on_purpose_changes_nothing_that_others_receive(fresh: Running) -> None:
    fresh.register(examples.tiny_go(GAME))
    known = ["xo\n-x", "x-o", "xx\n-o"]
    for player in ("ann", "bob", "cy"):
        teach(fresh, GAME, f"taught-by-{player}", [(player, cells, 0.9) for cells in known], 1600)
    lying = examples.board("xo-x-", "-x--o", "xx---", "-o---", "-----")
    before = shown_to(fresh, "before", 1500, lying)
    assert len(before) == 3

    for number in range(15):
        played = contest(f"lost/{number}", GAME, ("loser", "ann"), (0, 1600))
        loser, _ = fresh.open(played)
        for cells in known:
            propose(loser, played.contest_id, cells, 0.0)
        fresh.report(examples.report(played, ["c3"], first="LOSS", values=[0.0]))

    assert shown_to(fresh, "after", 1500, lying) == before
    request = libraries_pb2.ListPatternsRequest(game_id=GAME, library=ENDGAME)
    for pattern in fresh.admin().libraries.ListPatterns(request).patterns:
        assert [vote.player for vote in pattern.silent_votes] == ["loser"]
    # The loser itself reads why.
    listed = fresh.bot("loser").proposals.ListProposals(proposals_pb2.ListProposalsRequest())
    assert "Elo 0 is 200 or more below 1600" in listed.proposals[0].reason


@pytest.mark.threat("flood")
def test_a_flood_from_one_bot_leaves_others_their_answers(tmp_path: Path) -> None:
    # On a slow machine, too, what is allowed is allowed at once, and no more comes with the time.
    with limited(tmp_path, questions_per_second=1.0) as academy:
        academy.register(examples.tiny_go(GAME))
        teach(academy, GAME, "flooded", [("ann", "--\n--", 0.9)])
        flood = academy.bot("flood")
        # As dear as a position can be.
        heavy = consultation_pb2.MatchPatternsRequest(
            game_id=GAME,
            positions=[position(EMPTY)] * 250,
            both_players=True,
            include_cells=True,
            max_matches=1_000,
            max_matches_each=9_999,
        )
        waiting = [flood.consultation.MatchPatterns.future(heavy) for _ in range(100)]
        other = academy.bot("other")
        plain = consultation_pb2.MatchPatternsRequest(game_id=GAME, positions=[position(EMPTY)])

        answers = [other.consultation.MatchPatterns(plain) for _ in range(50)]

        codes = [call.code() for call in waiting]
        assert all(answer.positions[0].total > 0 for answer in answers)
        # What is refused is refused for the flooder's own limits.
        assert codes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) > codes.count(grpc.StatusCode.OK) > 0
        assert {as_refused(call).reason for call in waiting if call.code() is not grpc.StatusCode.OK} <= {
            "RATE_EXCEEDED",
            "TOO_MANY_CALLS",
        }
