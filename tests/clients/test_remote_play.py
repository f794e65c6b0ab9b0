"""What both ways to dial in share: when to dial again, and which game receives what."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast
from unittest.mock import Mock

import grpc
import pytest

from arena.v1 import players_pb2
from clients import remote_play
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from clients.remote_game import Answer, move_of
from clients.remote_play import MOST_AWAITED, GameSession, Tables, dial_in, run_bot
from clients.retries import Redialling
from tests.ports import free_ports

GONE = AcademyUnavailableError("nobody is there")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paused(redialling: Redialling, clock: Clock, most: int) -> list[float]:
    """The pauses after streams that were never let in, each waited for."""
    pauses: list[float] = []
    while len(pauses) < most and (pause := redialling.pause(False, GONE)) is not None:
        pauses.append(pause)
        clock.now += pause
    return pauses


def test_pauses_grow_to_some_seconds_and_start_over_once_a_stream_was_let_in() -> None:
    clock = Clock()
    redialling = Redialling(60.0, clock)
    assert paused(redialling, clock, 8) == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])
    assert redialling.pause(True, None) == pytest.approx(0.1)
    assert paused(redialling, clock, 2) == pytest.approx([0.2, 0.4])


def test_an_arena_that_was_there_is_given_up_when_it_has_been_away_for_too_long() -> None:
    clock = Clock()
    redialling = Redialling(60.0, clock)
    clock.now += 1_000.0
    assert redialling.pause(True, None) is not None
    left = clock.now
    waited = paused(redialling, clock, 1_000)
    assert len(waited) < 1_000
    assert 55.0 < clock.now - left <= 60.0


def test_an_arena_that_was_never_there_is_an_error_that_says_why() -> None:
    clock = Clock()
    with pytest.raises(AcademyUnavailableError, match="nobody is there"):
        paused(Redialling(1.0, clock), clock, 1_000)


def test_a_bot_without_an_arena_says_so_at_once_and_what_helps_at_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (port,) = free_ports(1)
    monkeypatch.setattr(remote_play, "dial_in", partial(dial_in, redial_seconds=1.0))
    with caplog.at_level(logging.WARNING), pytest.raises(SystemExit) as ended:
        run_bot("x", lambda game: lambda turn: None, address=f"127.0.0.1:{port}")
    # gRPC logs by asyncio, too, where the loops of earlier tests ended before its events came.
    logged = [record.getMessage() for record in caplog.records if record.name == remote_play.__name__]
    assert logged == [f"no arena answers at 127.0.0.1:{port}; trying for 1 s"]
    assert str(ended.value).startswith(f"x: no arena answers at 127.0.0.1:{port}: ")
    assert "(start it with `arena serve`, or give its address" in str(ended.value)


def test_streams_that_ended_without_a_reason_are_none() -> None:
    assert Redialling(0.0, Clock()).pause(False, None) is None


def start(seat_id: int, **more: Any) -> players_pb2.PlayResponse:
    game = players_pb2.GameStart(seat_id=seat_id, game_id=f"0_{seat_id}", settings_json="{}", **more)
    return players_pb2.PlayResponse(game_start=game)


def response(**message: Any) -> players_pb2.PlayResponse:
    return players_pb2.PlayResponse(**message)


def test_each_game_receives_what_concerns_it() -> None:
    begun: list[GameSession] = []
    tables = Tables(Connection("127.0.0.1:1"), begun.append, seats=[2])
    assert not tables.welcomed
    tables.take(response(welcome=players_pb2.Welcome()))
    tables.take(start(1))
    tables.take(start(2, resumed=True))
    made = [players_pb2.SeatMove(seat=1, text="C3")]
    tables.take(response(moves_made=players_pb2.MovesMade(seat_id=2, moves=made)))
    request = players_pb2.MoveRequest(seat_id=2, request=7, board="x--")
    tables.take(response(move_request=request))
    tables.take(response(game_end=players_pb2.GameEnd(seat_id=1)))

    first, second = begun
    assert (tables.welcomed, tables.games, list(tables.in_progress)) == (True, 1, [2])
    assert isinstance(first.inbox.get_nowait(), players_pb2.GameEnd)
    assert (second.inbox.get_nowait(), second.inbox.empty()) == (request, True)
    assert second.moves == [(1, "C3")]


def test_only_the_last_games_that_an_arena_awaited_are_remembered() -> None:
    tables = Tables(Connection("127.0.0.1:1"), lambda session: None)
    end = players_pb2.GameEnd()
    end.time_to_finish.FromSeconds(5)
    for seat_id in range(1, MOST_AWAITED + 11):
        tables.take(start(seat_id))
        end.seat_id = seat_id
        tables.take(response(game_end=end))
    assert sorted(tables.awaited) == list(range(11, MOST_AWAITED + 11))


def test_what_concerns_no_game_in_progress_is_nothing() -> None:
    begun: list[GameSession] = []
    tables = Tables(Connection("127.0.0.1:1"), begun.append)
    tables.take(start(1))
    for message in (
        response(moves_made=players_pb2.MovesMade(seat_id=9)),
        response(move_request=players_pb2.MoveRequest(seat_id=9)),
        response(game_end=players_pb2.GameEnd(seat_id=9)),
        players_pb2.PlayResponse(),
    ):
        tables.take(message)
    assert begun[0].inbox.empty() and list(tables.in_progress) == [1]


def test_a_move_answers_its_request() -> None:
    request = players_pb2.MoveRequest(seat_id=4, request=7)
    assert move_of(request, "C3") == players_pb2.Move(seat_id=4, request=7, text="C3")
    assert move_of(request, None).resign


@pytest.mark.parametrize(
    "answer", [5, ("d4", 0.5), Answer("d4", value=cast(Any, "0.5")), Answer(cast(Any, 5))]
)
def test_a_bot_learns_which_answer_of_its_is_not_a_move(answer: Any) -> None:
    request = players_pb2.MoveRequest(seat_id=4, request=7)
    with pytest.raises(TypeError) as error:
        move_of(request, answer)
    assert str(error.value).startswith(f"the bot answered {answer!r}: a move's text, None to resign, or an ")


@pytest.mark.parametrize(("reason", "helps"), [("TOKEN_INVALID", True), ("BANNED", False)])
def test_a_bot_without_a_good_token_reads_where_its_token_comes_from(
    monkeypatch: pytest.MonkeyPatch, reason: str, helps: bool
) -> None:
    refusal = AcademyRefusedError("UNAUTHENTICATED", "the call has no token", reason)
    monkeypatch.setattr(remote_play, "dial_in", Mock(side_effect=refusal))
    with pytest.raises(SystemExit) as ended:
        run_bot("x", lambda game: lambda turn: None)
    assert ("ARENA_TOKEN_FILE" in str(ended.value)) == helps


class Refusing(grpc.GenericRpcHandler):
    """An arena that lets nobody in, in words that would colour a terminal."""

    def service(self, handler_call_details: Any) -> Any:
        def refuse(requests: object, context: grpc.ServicerContext) -> Iterator[bytes]:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "no \x1b[31mentry")

        return grpc.stream_stream_rpc_method_handler(refuse)


def test_what_an_arena_refuses_a_bot_with_commands_no_terminal() -> None:
    server = grpc.server(ThreadPoolExecutor(1), handlers=[Refusing()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with pytest.raises(SystemExit, match=r"x: .*no \\x1b\[31mentry"):
            run_bot("x", lambda game: lambda turn: None, address=f"127.0.0.1:{port}")
    finally:
        server.stop(0)
