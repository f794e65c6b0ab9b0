"""Games registered, contests opened and reported: each counts once when sent twice."""

import pytest

from academy.store import keys
from academy.store.codec.packing import pack_message
from academy.store.environment import TableName, Transaction
from academy.store.tokens import Role
from academy.v1 import contests_pb2, game_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import contest, report
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


def test_a_contest_opened_again_keeps_what_it_was_opened_with_and_has_other_tickets(academy: Running) -> None:
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
    games = contests_pb2.ListGamesRequest()
    assert (
        refusal(lambda: academy.client(first.tickets[0]).contests.ListGames(games)).reason == "TOKEN_UNKNOWN"
    )
    academy.client(second.tickets[0]).contests.ListGames(games)


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
