"""Every holder of a token reads the ratings of a service's league, from any machine."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.league.database import LeagueDatabase
from arena.league.estimates import estimate_all
from arena.league.recording import take_in
from arena.league.source import competitions
from arena.results.database import ResultsDatabase, sqlite_url
from arena.v1 import leagues_pb2 as messages
from tests.arena.cli.command import arena
from tests.arena.league.leagues import filled
from tests.arena.service.serving import Service, refused

GAME = "go-9x9"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leagues")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    results = filled(folder / "cup.sqlite", 60)
    with (
        closing(LeagueDatabase.open(str(sqlite_url(folder / "league.db")))) as league,
        closing(ResultsDatabase.open(sqlite_url(results))) as database,
    ):
        for competition in competitions(database):
            take_in(league, database, competition)
        estimate_all(league)
    with closing(Service(folder, "--league", str(folder / "league.db"))) as running:
        yield running


def test_a_player_reads_the_rating_list_page_by_page(service: Service) -> None:
    games = service.call("ListRatedGames", messages.ListRatedGamesRequest(), "one", "League").games
    assert [(rated.game, rated.games, rated.players) for rated in games] == [(GAME, 60, 4)]
    whole = service.call("ListRatings", messages.ListRatingsRequest(game=GAME), "one", "League")
    assert (whole.ratings[0].player, whole.ratings[-1].player) == ("d", "a") and not whole.next_page_token
    assert sum(line.games for line in whole.ratings) == 120
    pages, token = [], ""
    while True:
        request = messages.ListRatingsRequest(game=GAME, page_size=3, page_token=token)
        answer = service.call("ListRatings", request, "one", "League")
        pages.append(list(answer.ratings))
        token = answer.next_page_token
        if not token:
            break
    assert [len(page) for page in pages] == [3, 1]
    assert [line for page in pages for line in page] == list(whole.ratings)


def test_a_player_reads_how_its_ratings_went(service: Service) -> None:
    request = messages.GetRatingHistoryRequest(player="d", game=GAME)
    points = service.call("GetRatingHistory", request, "one", "League").points
    best = messages.ListRatingsRequest(game=GAME, page_size=1)
    (line,) = service.call("ListRatings", best, "one", "League").ratings
    assert (points[-1].games, points[-1].likeliest, points[-1].elo) == (line.games, line.likeliest, line.elo)
    request.game = "hex-5x5"
    assert not service.call("GetRatingHistory", request, "one", "League").points


@pytest.mark.parametrize(
    ("method", "request_", "who", "why"),
    [
        ("ListRatings", messages.ListRatingsRequest(game="hex-5x5"), "one", "UNKNOWN_RATINGS"),
        ("ListRatings", messages.ListRatingsRequest(game=GAME, page_token="-1"), "one", "INVALID_REQUEST"),
        ("GetRatingHistory", messages.GetRatingHistoryRequest(player="nobody"), "one", "UNKNOWN_RATINGS"),
        ("ListRatedGames", messages.ListRatedGamesRequest(), "wrong", "TOKEN_INVALID"),
    ],
)
def test_a_question_that_the_league_cannot_answer_is_refused_with_the_reason(
    service: Service, method: str, request_: object, who: str, why: str
) -> None:
    assert refused(lambda: service.call(method, request_, who, "League")) == why


def test_the_command_shows_what_the_leagues_own_shows(service: Service, folder: Path) -> None:
    def rating(*words: str) -> str:
        done = service.arena("rating", *words, who="one")
        assert done.returncode == 0, done.stderr
        return done.stdout

    file = folder / "league.db"
    assert rating("list", GAME) == arena("league", "show", file, GAME).stdout
    assert rating("history", "d") == arena("league", "history", file, "d").stdout
    assert GAME in rating("list")
    best = json.loads(rating("list", GAME, "--limit", "1", "--json"))["ratings"]
    assert [line["player"] for line in best] == ["d"]
