"""Games registered, contests opened and reported: each counts once when sent twice."""

from typing import Any

import grpc
import pytest

from academy.store import keys
from academy.store.codec.packing import pack_message
from academy.store.environment import TableName, Transaction
from academy.store.tokens import Role
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import ENDGAME, contest, report
from tests.academy.service.running import Running, refusal


@pytest.mark.parametrize("make", [examples.tiny_go, examples.hunt, examples.ring, examples.hexagons])
def test_registered_game_is_read_back_unchanged(academy: Running, make) -> None:  # type: ignore[no-untyped-def]
    game = make(make.__name__)

    first, second = academy.register(game), academy.register(game)
    known = academy.bot("reader").contests.GetGame(contests_pb2.GetGameRequest(game_id=make.__name__)).game

    assert (first.created, second.created) == (True, False)
    assert first.game == second.game == known
    known.ClearField("settings")
    assert known == game


def test_settings_of_a_registered_game_are_stored(academy: Running) -> None:
    game = examples.tiny_go("with-settings")
    game.settings.endgame_capacity = 7

    settings = academy.register(game).game.settings

    assert (settings.endgame_capacity, settings.middle_game_capacity) == (7, 1_000)


def test_games_are_listed_page_by_page(fresh: Running) -> None:
    for number in range(5):
        fresh.register(examples.hunt(f"game-{number}"))
    bot = fresh.bot("reader")
    seen, token, pages = [], "", 0
    while True:
        page = bot.contests.ListGames(contests_pb2.ListGamesRequest(page_size=2, page_token=token))
        seen += [game.game_id for game in page.games]
        pages += 1
        token = page.next_page_token
        if not token:
            break

    assert seen == [f"game-{number}" for number in range(5)]
    assert pages == 3


def test_games_after_the_largest_page_are_listed(fresh: Running) -> None:
    names = [f"game-{number:04}" for number in range(1_002)]

    def put(transaction: Transaction) -> None:
        for name in names:
            game = game_pb2.Game(game_id=name)
            transaction.put(TableName.GAMES, keys.game(name), pack_message(game))

    fresh.store.environment.write(put)
    bot = fresh.bot("reader")
    first = bot.contests.ListGames(contests_pb2.ListGamesRequest(page_size=1_000))
    assert first.next_page_token
    last = bot.contests.ListGames(
        contests_pb2.ListGamesRequest(page_size=1_000, page_token=first.next_page_token)
    )
    assert [game.game_id for page in (first, last) for game in page.games] == names
    assert not last.next_page_token


def test_a_contest_opened_again_keeps_what_it_was_opened_with(academy: Running) -> None:
    academy.register(examples.tiny_go("reopened"))
    arena = academy.arena()
    played = contest("reopened/1", "reopened")
    first = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
    played.players[0].elo = 2000.0
    second = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))

    assert first.contest == second.contest
    assert second.contest.players[0].elo == 1500.0
    assert second.contest.state == contests_pb2.CONTEST_STATE_OPEN
    assert len(set(first.tickets) | set(second.tickets)) == 4


def test_an_arena_reads_its_players_last_ratings(academy: Running) -> None:
    for game in ("rated", "not-rated"):
        academy.register(examples.tiny_go(game))
    arena = academy.arena()
    academy.report(report(contest("rated/1", "rated"), ["c3"]))

    def ratings(game: str, *players: str) -> list[tuple[str, float]]:
        request = contests_pb2.GetRatingsRequest(game_id=game, players=players)
        return [(rating.player, rating.elo) for rating in arena.contests.GetRatings(request).ratings]

    # Where the arena tells none of after the contest, that of before is the last.
    assert ratings("rated", "bob", "nobody", "ann") == [("bob", 1550.0), ("ann", 1500.0)]
    played = report(contest("rated/2", "rated"), ["c3"])
    played.elo_after.extend([1512.25, 1537.75])
    academy.report(played)
    assert ratings("rated", "ann", "bob") == [("ann", 1512.25), ("bob", 1537.75)]
    assert ratings("not-rated", "ann") == []


def test_an_admin_reads_ratings_by_identity(academy: Running) -> None:
    academy.register(examples.tiny_go("rated-by-admin"))
    other = academy.client(academy.token("second-arena", Role.ARENA))
    for arena, contest_id in ((academy.arena(), "by-admin/1"), (other, "by-admin/2")):
        arena.contests.ReportContest(report(contest(contest_id, "rated-by-admin"), ["c3"]))
    admin = academy.admin()
    listed = admin.libraries.ListPlayerStatistics(
        libraries_pb2.ListPlayerStatisticsRequest(game_id="rated-by-admin")
    )
    names = sorted(player.player for player in listed.players)
    request = contests_pb2.GetRatingsRequest(game_id="rated-by-admin", players=names)
    ratings = {rating.player: rating.elo for rating in admin.contests.GetRatings(request).ratings}

    assert names == ["ann", "ann@second-arena", "bob", "bob@second-arena"] and sorted(ratings) == names
    # For an arena the same names are those of its own players.
    assert [
        rating.player
        for rating in other.contests.GetRatings(
            contests_pb2.GetRatingsRequest(game_id="rated-by-admin", players=["ann"])
        ).ratings
    ] == ["ann"]


@pytest.mark.parametrize(
    ("request_", "code", "what"),
    [
        ({"game_id": "none"}, grpc.StatusCode.NOT_FOUND, "'none' is not registered"),
        ({"game_id": "asked", "players": ["a\n"]}, grpc.StatusCode.INVALID_ARGUMENT, "players[0]"),
        ({"game_id": "asked", "players": ["a"] * 1_025}, grpc.StatusCode.INVALID_ARGUMENT, "more than 1,024"),
    ],
)
def test_questions_about_ratings_that_cannot_be_answered(
    academy: Running, request_: dict[str, Any], code: grpc.StatusCode, what: str
) -> None:
    academy.register(examples.tiny_go("asked"))
    refused = refusal(lambda: academy.arena().contests.GetRatings(contests_pb2.GetRatingsRequest(**request_)))
    assert refused.code is code and what in refused.message


@pytest.mark.parametrize("elo_after", [[1500.0], [1500.0, float("nan")], [1500.0, 6_001.0]])
def test_invalid_ratings_after_a_contest_are_refused(academy: Running, elo_after: list[float]) -> None:
    academy.register(examples.tiny_go("wrong-elo"))
    played = report(contest("wrong-elo/1", "wrong-elo"), ["c3"])
    played.elo_after.extend(elo_after)
    assert "elo_after" in refusal(lambda: academy.report(played)).message


@pytest.mark.threat("unproven_results")
def test_a_report_counts_once_and_needs_no_opening(academy: Running) -> None:
    academy.register(examples.tiny_go("once"))
    played = report(contest("once/1", "once"), ["c3", "b2"])

    first, second = (academy.report(played) for _ in range(2))

    assert (first.counted, second.counted) == (True, False)
    assert first.contest.state == second.contest.state == contests_pb2.CONTEST_STATE_REPORTED
    statistics = libraries_pb2.GetStatisticsRequest(game_id="once")
    assert academy.admin().libraries.GetStatistics(statistics).contests == 1


def test_nothing_is_learnt_from_a_void_contest(academy: Running) -> None:
    academy.register(examples.tiny_go("void"))
    arena = academy.arena()
    played = contest("void/1", "void")
    ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    ann = academy.client(ticket)
    ann.proposals.SubmitProposals(
        proposals_pb2.SubmitProposalsRequest(
            contest_id="void/1",
            proposals=[proposals_pb2.NewProposal(library=ENDGAME, cells="-", ply=1, value=0.9)],
        )
    )

    ended = academy.report(contests_pb2.ReportContestRequest(contest=played, void=True))

    assert (ended.counted, ended.accepted, ended.dropped) == (True, 0, 1)
    assert ended.contest.state == contests_pb2.CONTEST_STATE_VOID
    own = ann.proposals.ListProposals(proposals_pb2.ListProposalsRequest()).proposals
    assert [(proposal.verdict, proposal.reason) for proposal in own] == [
        (proposals_pb2.VERDICT_DROPPED, "the contest ended without a result")
    ]
    statistics = academy.admin().libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id="void"))
    assert (statistics.contests, statistics.endgame_patterns, statistics.held_proposals) == (0, 0, 0)


def test_contest_is_visible_to_its_players_and_arena(academy: Running) -> None:
    academy.register(examples.tiny_go("seen"))
    played = contest("seen/1", "seen")
    academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
    request = contests_pb2.GetContestRequest(contest_id="seen/1")

    for client in (academy.bot("ann"), academy.bot("bob"), academy.arena(), academy.admin()):
        assert client.contests.GetContest(request).contest.players == played.players
