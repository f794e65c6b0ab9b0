"""The service from outside: a real process, real sockets, real competitions."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from arena.runner.files import CompetitionFiles
from arena.v1 import competitions_pb2 as messages
from tests.arena.control_files import AWAITING_THE_TEST, PASSING, RANDOM, SLOW, write_control
from tests.arena.service.serving import SECONDS, Service, reason
from tests.asking_health import health_of
from tests.waiting import until

BOT = """
import random, sys
from clients.connection import Connection
from clients.remote_game import Engine
from clients.remote_play import dial_in

def new_game(game):
    chance = random.Random(game.seed + game.seat)
    return lambda turn: chance.choice(turn.legal_moves)

dial_in(Connection(sys.argv[1], token=sys.argv[3]), sys.argv[2], new_game, Engine(legal_moves=True))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the service serves: each test that plays has a competition of its own in it."""
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    write_control(folder, {"one": RANDOM, "two": RANDOM})
    with closing(Service(folder, environment={**os.environ, "GO_ON": str(folder)})) as running:
        yield running
        assert running.end() == 0


def test_a_competition_from_its_text_to_its_end(service: Service, folder: Path, tmp_path: Path) -> None:
    path = write_control(tmp_path, {"one": RANDOM, "two": RANDOM}, competition="rounds = 5")
    text = path.read_text()
    path.unlink()
    start = messages.StartCompetitionRequest(name="sent/cup", control=text)
    assert service.ask("StartCompetition", start).competition.name == "sent/cup"
    watched = list(
        service.ask("WatchCompetition", messages.WatchCompetitionRequest(name="sent/cup", after=0), "eye")
    )
    assert watched[0].competition.name == "sent/cup"
    assert watched[-1].competition.state == messages.COMPETITION_STATE_COMPLETED
    games = [event.game for event in watched if event.HasField("game")]
    assert sorted(game.game_id for game in games) == [f"AvB_{number}" for number in range(5)]
    # Pages, one game, and the table say the same.
    listed: list[messages.Game] = []
    page = messages.ListGamesRequest(name="sent/cup", page_size=2)
    while True:
        answer = service.ask("ListGames", page, "eye")
        assert len(answer.games) <= 2
        listed += answer.games
        if not answer.next_page_token:
            break
        page.page_token = answer.next_page_token
    assert listed == games
    whole = service.ask("GetGame", messages.GetGameRequest(name="sent/cup", game_id="AvB_3"), "eye")
    assert whole.game in games and whole.record.startswith("(;") and whole.record_extension == "sgf"
    assert [move.seat for move in whole.moves[:3]] == [1, 2, 1]
    # What the players wrote is for operators, and its own for each player.
    (folder / "sent" / "cup.protocol").mkdir()
    lines = ">> one: genmove b\n>> two: play b A1\n"
    (folder / "sent" / "cup.protocol" / "AvB_3.log").write_text(lines)
    wanted = messages.GetGameTextsRequest(name="sent/cup", game_id="AvB_3")
    texts = service.ask("GetGameTexts", wanted).players
    assert {kept.player: kept.protocol for kept in texts} == {
        "one": ">> genmove b\n",
        "two": ">> play b A1\n",
    }
    assert [kept.player for kept in service.ask("GetGameTexts", wanted, "two").players] == ["two"]
    with pytest.raises(grpc.RpcError) as error:
        service.ask("GetGameTexts", wanted, "eye")
    assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED
    standings = service.ask("GetStandings", messages.GetStandingsRequest(name="sent/cup"), "eye")
    assert standings.games == 5 and {line.player for line in standings.standings} == {"one", "two"}
    listing = service.ask("ListCompetitions", messages.ListCompetitionsRequest(), "eye")
    assert ("sent/cup", 5) in [(cup.name, cup.games_played) for cup in listing.competitions]


def test_a_competition_is_stopped_and_goes_on(tmp_path: Path) -> None:
    write_control(tmp_path, {"one": SLOW, "two": SLOW}, competition="rounds = 10_000")
    with closing(Service(tmp_path)) as service:
        assert service.get("contest").state == messages.COMPETITION_STATE_NEW
        start = messages.StartCompetitionRequest(name="contest")
        service.ask("StartCompetition", start)
        with pytest.raises(grpc.RpcError) as error:
            service.ask("StartCompetition", start)
        assert reason(error.value) == (grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_RUNNING")
        service.wait_for("contest", lambda cup: cup.games_played > 0)
        service.ask("StopCompetition", messages.StopCompetitionRequest(name="contest"))
        stopped = service.wait_for(
            "contest", lambda competition: competition.state == messages.COMPETITION_STATE_STOPPED
        )
        service.ask("StartCompetition", start)
        service.wait_for("contest", lambda cup: cup.games_played > stopped.games_played)
        # A service that ends takes what it runs with it.
        assert service.end() == 0
        assert not CompetitionFiles(tmp_path / "contest.toml").running()


def test_a_game_with_long_comments_is_sent_with_shorter_ones(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    talkative = 'protocol = "python"\ncommand = "tests.arena.engines:talkative"'
    write_control(
        tmp_path, {"one": talkative, "two": talkative, "three": PASSING}, competition="rounds = 1"
    ).rename(folder / "talk.toml")
    service.ask("StartCompetition", messages.StartCompetitionRequest(name="talk"))
    service.wait_for("talk", lambda cup: cup.state == messages.COMPETITION_STATE_COMPLETED)
    games = service.ask("ListGames", messages.ListGamesRequest(name="talk"), "eye").games
    assert len(games) == 3
    for game in games:
        whole = service.ask("GetGame", messages.GetGameRequest(name="talk", game_id=game.game_id), "eye")
        assert whole.game == game and [move.text for move in whole.moves] == ["pass", "pass"]
        # The record has the comments, too.
        assert whole.shortened and whole.record_extension == "sgf" and not whole.record
        comments = [move.comment for move in whole.moves if move.comment]
        written = "é" * 1_200_000
        assert comments == ([written] if len(comments) == 1 else [written[:599_999] + "…"] * 2)


def test_a_run_whose_control_file_was_spoilt_meanwhile_can_be_seen_and_stopped(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    file = write_control(tmp_path, {"one": SLOW, "two": SLOW}, competition="rounds = 10_000").rename(
        folder / "spoilt.toml"
    )
    service.ask("StartCompetition", messages.StartCompetitionRequest(name="spoilt"))
    # It has read its control file then.
    service.wait_for("spoilt", lambda cup: cup.games_played > 0)
    text = file.read_text()
    file.write_text(text.replace("rounds", "ruonds"))
    running = service.wait_for("spoilt", lambda cup: cup.state == messages.COMPETITION_STATE_RUNNING)
    assert "competition.ruonds: unknown setting" in running.remark
    service.ask("StopCompetition", messages.StopCompetitionRequest(name="spoilt"))
    until(lambda: not CompetitionFiles(file).running())
    file.write_text(text)
    stopped = service.wait_for("spoilt", lambda cup: cup.state == messages.COMPETITION_STATE_STOPPED)
    assert "ruonds" not in stopped.remark


def test_a_stop_is_heard_by_a_run_that_is_still_starting(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    write_control(tmp_path, {"one": SLOW, "two": SLOW}, competition="rounds = 10_000").rename(
        folder / "starting.toml"
    )
    files = CompetitionFiles(folder / "starting.toml")
    # It came too late for an earlier run.
    files.request_stop()
    service.ask("StartCompetition", messages.StartCompetitionRequest(name="starting"))
    assert not files.stop_requested() and not files.running()
    service.ask("StopCompetition", messages.StopCompetitionRequest(name="starting"))
    service.wait_for("starting", lambda cup: cup.state == messages.COMPETITION_STATE_STOPPED)


GET, GAMES = messages.GetCompetitionRequest, messages.ListGamesRequest
START = messages.StartCompetitionRequest
INVALID = ("INVALID_ARGUMENT", "INVALID_REQUEST")
BACKWARDS = messages.GameFilter(min_moves=2, max_moves=1)


@pytest.mark.parametrize(
    ("request_", "who", "code", "why"),
    [
        (GET(name="x"), "", "UNAUTHENTICATED", "TOKEN_INVALID"),
        (GET(name="x"), "guessed", "UNAUTHENTICATED", "TOKEN_INVALID"),
        (GET(name="x"), "one", "PERMISSION_DENIED", "NOT_PERMITTED"),
        (START(name="x"), "eye", "PERMISSION_DENIED", "NOT_PERMITTED"),
        (GET(name="x"), "eye", "NOT_FOUND", "UNKNOWN_COMPETITION"),
        (GET(name="../x"), "eye", *INVALID),
        (messages.GetStandingsRequest(name="contest"), "eye", "FAILED_PRECONDITION", "NO_RESULTS"),
        (messages.GetGameRequest(name="contest", game_id="x"), "eye", "FAILED_PRECONDITION", "NO_RESULTS"),
        (messages.StopCompetitionRequest(name="contest"), "me", "FAILED_PRECONDITION", "NOT_RUNNING"),
        (GAMES(name="contest", page_size=-1), "eye", *INVALID),
        (GAMES(name="contest", page_token="x"), "eye", *INVALID),
        (messages.GetScheduleRequest(name="contest", page_size=1_001), "eye", *INVALID),
        (messages.GetHistoryRequest(name="contest", points=1_001), "eye", *INVALID),
        (GAMES(name="contest", filter=BACKWARDS), "eye", *INVALID),
        (START(name="new", control="[competition"), "me", "INVALID_ARGUMENT", "INVALID_CONTROL"),
        (START(name="contest", parallel=1_024), "me", *INVALID),
    ],
)
def test_refusals_have_reasons(service: Service, request_: Any, who: str, code: str, why: str) -> None:
    method = type(request_).__name__.removesuffix("Request")
    with pytest.raises(grpc.RpcError) as error:
        service.ask(method, request_, who)
    assert reason(error.value) == (grpc.StatusCode[code], why)


def test_a_watcher_of_what_comes_after_any_game_sees_none(service: Service) -> None:
    watch = messages.WatchCompetitionRequest(name="contest", after=2**64 - 1)
    (event,) = service.ask("WatchCompetition", watch, "eye")
    assert event.HasField("competition")


def test_every_holder_of_a_token_learns_who_it_is(service: Service) -> None:
    for who, role in (("me", "OPERATOR"), ("eye", "WATCHER"), ("one", "PLAYER")):
        me = service.ask("GetCaller", messages.GetCallerRequest(), who)
        assert (me.name, messages.TokenRole.Name(me.role)) == (who, f"TOKEN_ROLE_{role}")


def test_health_and_reflection_answer_without_a_token(service: Service) -> None:
    health = health_of(service.channel)
    for name in ("", "arena.v1.CompetitionService", "arena.v1.PlayerService"):
        answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_remote_bots_play_a_competition_to_its_end_when_one_is_killed(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    dial_in = 'protocol = "grpc"\nreconnect_seconds = 0.5\nstart_seconds = 60'
    write_control(tmp_path, {"one": dial_in, "two": dial_in}, competition="rounds = 12").rename(
        folder / "dialled.toml"
    )
    bots: dict[str, subprocess.Popen[bytes]] = {}

    def launch(name: str) -> None:
        command = [sys.executable, "-c", BOT, service.address, name, service.tokens[name]]
        bots[name] = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})

    try:
        launch("one")
        launch("two")
        service.ask("StartCompetition", messages.StartCompetitionRequest(name="dialled"))
        service.wait_for("dialled", lambda cup: cup.games_played >= 3)
        bots["one"].kill()
        launch("one")
        done = service.wait_for(
            "dialled", lambda competition: competition.state != messages.COMPETITION_STATE_RUNNING
        )
    finally:
        for bot in bots.values():
            bot.kill()
            bot.wait()
    assert (done.state, done.games_played) == (messages.COMPETITION_STATE_COMPLETED, 12)


def test_a_watcher_sees_each_move_of_games_in_progress_as_it_is_made(
    service: Service, folder: Path, tmp_path: Path
) -> None:
    players = {"one": AWAITING_THE_TEST, "two": AWAITING_THE_TEST}
    write_control(tmp_path, players, competition="rounds = 2").rename(folder / "live.toml")
    service.ask("StartCompetition", messages.StartCompetitionRequest(name="live"))
    request = messages.WatchCompetitionRequest(name="live", in_progress=True)
    moves: dict[str, list[str]] = {}
    over: list[str] = []
    so_far: messages.GetGameResponse | None = None
    for event in service.ask("WatchCompetition", request, "eye"):
        if not event.HasField("in_progress"):
            continue
        live = event.in_progress
        seen = moves.setdefault(live.game_id, [])
        assert live.moves_before == len(seen) and list(live.players) in (["one", "two"], ["two", "one"])
        seen += [move.text for move in live.moves]
        over += [live.game_id] if live.over else []
        if so_far is None and seen:
            so_far = service.ask("GetGame", messages.GetGameRequest(name="live", game_id=live.game_id), "eye")
        if seen:
            (folder / live.game_id).touch()
    assert so_far is not None and so_far.in_progress and not so_far.record
    assert not so_far.HasField("seed")
    assert [move.text for move in so_far.moves] == ["pass"] * len(so_far.moves)
    assert sorted(over) == sorted(moves) and len(moves) == 2
    for game_id, seen in moves.items():
        whole = service.ask("GetGame", messages.GetGameRequest(name="live", game_id=game_id), "eye")
        assert not whole.in_progress and whole.HasField("seed")
        # A game's last moves may come with its end.
        assert seen and seen == [move.text for move in whole.moves][: len(seen)]
    assert not CompetitionFiles(folder / "live.toml").live.exists()
