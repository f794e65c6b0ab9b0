"""A bot's seat keeps to the rules of its contest, and goes on alone where it may not consult."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.fair_use import FairUse
from academy.knowledge.settings import Library
from academy.v1 import contests_pb2
from clients import Academy, Connection, Seat
from clients.bots.academy_seat import AcademySeat, mean_value
from clients.connection import AcademyUnavailableError
from clients.responses import PatternMatch
from tests.academy.service import examples
from tests.academy.service.running import Running, serving


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("seat") / "data") as running:
        game = examples.tiny_go("go")
        running.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        yield running


def seated(academy: Running, contest_id: str, game_id: str = "go", **rules: float) -> AcademySeat:
    wanted = examples.contest(contest_id, game_id)
    for name, value in rules.items():
        setattr(wanted.fair_use, name, value)
    request = contests_pb2.OpenContestRequest(contest=wanted)
    ticket = academy.arena().contests.OpenContest(request).tickets[0]
    connection = Connection(str(academy.address), ticket)
    geometry = SquareGeometry(5, 5)
    return AcademySeat(Academy(connection), Seat(game_id, geometry, 1, contest_id))


def test_a_bot_asks_no_more_than_its_contest_allows(academy: Running) -> None:
    bot = seated(academy, "strict", opening_moves_per_consultation=8, pattern_value_limit=0.2)
    assert bot.ask(lambda server: server.book_move(bot.seat, [], 0)) is None
    assert bot.seat.fair_use == FairUse(8, 0.2)
    # The client knows the rule: the server is not asked, and the bot goes on with ACADEMY.
    assert not bot.seat.allows_opening(4)
    assert bot.seat.allows_opening(8)
    assert bot.academy is not None


def test_a_bot_that_plays_alone_asks_nothing_and_tells_what_it_learnt(academy: Running) -> None:
    bot = seated(academy, "alone", consult_share=0.0)
    questions: list[str] = []
    assert bot.ask(lambda server: questions.append("openings")) is None
    assert (questions, bot.plays_alone) == ([], True)
    assert bot.academy is not None
    assert bot.tell(lambda server: server.contest("alone").contest_id) == "alone"


def test_a_refused_question_leaves_other_questions_and_proposals(
    academy: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = seated(academy, "refused")
    for _ in range(2):
        assert bot.ask(lambda server: server.opening(bot.seat, ["no such move"] * 200_000, 0)) is None
    assert bot.may_ask and bot.ask(lambda server: server.contest("refused").contest_id) == "refused"
    assert capsys.readouterr().err.count("ACADEMY refused this: ") == 1
    # Another player's contest stays closed to it, whatever it asks.
    other = seated(academy, "others")
    assert bot.ask(lambda server: server.contest("others")) is None
    assert not bot.may_ask and bot.ask(lambda server: server.contest("refused")) is None
    assert bot.tell(lambda server: server.contest("refused").contest_id) == "refused"
    assert "going on without ACADEMY's answers" in capsys.readouterr().err
    assert other.may_ask


def test_a_bot_whose_academy_is_away_waits_for_it_once(
    academy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = seated(academy, "away")
    calls: list[str] = []

    def away(server: Academy, name: str) -> None:
        calls.append(name)
        raise AcademyUnavailableError("it did not answer")

    monkeypatch.setattr(Academy, "game", away)
    monkeypatch.setattr(Academy, "contest", away)
    for _ in range(3):
        assert bot.ask(lambda server: server.book_move(bot.seat, [], 0)) is None
    assert calls == ["away"]


def test_a_bot_takes_the_name_of_a_forked_game_from_its_contest(academy: Running) -> None:
    fork = examples.tiny_go("go-fork")
    academy.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=fork))
    bot = seated(academy, "forked", "go-fork")
    bot.seat.game_id = "go"
    assert bot.ask(lambda server: server.opening(bot.seat, [], 0)) == []
    assert bot.seat.game_id == "go-fork"


def test_a_pattern_counts_as_often_as_it_was_proposed() -> None:
    pattern = PatternMatch(1, Library.ENDGAME, 4, 1200.0, 0.9, 0, 0, 0, False, "")
    assert mean_value([pattern, replace(pattern, value=0.4, proposers=1)]) == pytest.approx(0.8)
