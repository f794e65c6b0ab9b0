"""What the lobby does about those who break its rules."""

import io
import threading
import time
from contextlib import ExitStack, redirect_stderr
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
import pytest

from academy.wire.addresses import ServerAddress
from academy.wire.tokens import digest_of
from arena.lobby.lobby import LobbyLimits
from arena.lobby.server import OpenLobby, background_lobby
from arena.match.game import play
from arena.runner.remote_players import NamedPlayers
from arena.v1 import players_pb2
from clients.connection import AcademyRefusedError
from tests.academy.service.raw_calls import RawCalls
from tests.arena.engines import python_player
from tests.arena.lobby.rooms import LOCAL, SECONDS, DialledIn, RawStream, job, open_lobby, remote
from tests.arena.service import serving

NORMAL = LobbyLimits(hello_seconds=SECONDS)


def refusal(stream: RawStream) -> tuple[grpc.StatusCode, str]:
    """How a stream ends: the status, and the reason in its details."""
    with pytest.raises(grpc.RpcError):
        while True:
            stream.hear()
    return serving.reason(stream.call)


def welcomed(lobby: OpenLobby, token: str = "") -> RawStream:
    """The stream of the player `one`, which is let in."""
    stream = RawStream(lobby, token=token)
    stream.hello("one")
    assert stream.hear().HasField("welcome")
    return stream


@pytest.mark.parametrize(
    ("token", "code", "reason"),
    [
        ("", grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID"),
        ("guessed", grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED"),
        ("x" * 600, grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MALFORMED"),
    ],
)
def test_a_wrong_token_is_refused(token: str, code: grpc.StatusCode, reason: str) -> None:
    with open_lobby({"one": digest_of("sesame")}, NORMAL) as lobby:
        stream = RawStream(lobby, token=token)
        stream.hello("one")
        assert refusal(stream) == (code, reason)


def test_the_right_token_is_let_in() -> None:
    with open_lobby({"one": digest_of("sesame")}, NORMAL) as lobby:
        welcomed(lobby, token="sesame")


def test_an_unexpected_player_is_refused() -> None:
    with open_lobby(limits=NORMAL) as lobby:
        bot = DialledIn(lobby, "three", lambda game: lambda turn: "pass")
        ended = bot.ended()
        assert isinstance(ended, AcademyRefusedError) and ended.code == "UNAUTHENTICATED"


def hello(**fields: object) -> players_pb2.PlayRequest:
    return players_pb2.PlayRequest(hello=players_pb2.Hello(**fields))  # type: ignore[arg-type]


READY = players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=99))


@pytest.mark.parametrize(
    "messages",
    [
        (READY,),
        (players_pb2.PlayRequest(),),
        (hello(player=""),),
        (hello(player="x" * 65),),
        (hello(player="o\u202ene"),),
        (hello(player="e\u0301"),),
        (hello(player="one", games_at_once=100_000),),
        (hello(player="one", engine_description="x" * 10_001),),
        (hello(player="one"), hello(player="one")),
        (hello(player="one"), READY),
        (hello(player="one"), players_pb2.PlayRequest()),
        (None,),
    ],
)
def test_a_message_that_breaks_the_protocol_is_refused(
    messages: tuple[players_pb2.PlayRequest | None, ...],
) -> None:
    with open_lobby(limits=NORMAL) as lobby:
        stream = RawStream(lobby)
        stream.say(*messages)
        assert refusal(stream) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")


@pytest.mark.parametrize("before", [b"", hello(player="one").SerializeToString()])
def test_bytes_that_are_not_a_message_are_refused(before: bytes) -> None:
    with open_lobby(limits=NORMAL) as lobby, grpc.insecure_channel(lobby.address) as channel:
        dial: Any = channel.stream_stream("/arena.v1.PlayerService/Play")
        call = dial(iter([before, b"\xff\xff"] if before else [b"\xff\xff"]), timeout=SECONDS)
        with pytest.raises(grpc.RpcError):
            list(call)
        assert call.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_too_long_ends_the_stream() -> None:
    with open_lobby(limits=NORMAL) as lobby:
        stream = welcomed(lobby)
        stream.say(players_pb2.PlayRequest(decline=players_pb2.Decline(reason="x" * 100_000)))
        with pytest.raises(grpc.RpcError):
            stream.hear()
        assert stream.call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_flood_ends_the_stream() -> None:
    with open_lobby(limits=replace(NORMAL, messages_per_second=0.001, message_burst=5)) as lobby:
        stream = welcomed(lobby)
        # To a seat that was given out, so that nothing else is wrong with it.
        game = threading.Thread(
            target=play, args=(job(remote(lobby, "one"), python_player("other")),), daemon=True
        )
        game.start()
        start = stream.hear_of("game_start")
        stream.say(*[players_pb2.PlayRequest(ready=players_pb2.Ready(seat_id=start.seat_id))] * 6)
        assert refusal(stream) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY")


def test_a_silent_client_is_not_waited_for() -> None:
    with open_lobby(limits=replace(NORMAL, hello_seconds=0.1)) as lobby:
        assert refusal(RawStream(lobby)) == (grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE")


def test_a_player_beyond_the_limit_is_refused() -> None:
    with open_lobby(limits=replace(NORMAL, players=1)) as lobby:
        _held = welcomed(lobby)
        second = RawStream(lobby)
        second.hello("two")
        assert refusal(second) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY")


def test_a_second_stream_of_a_player_ends_the_first() -> None:
    with open_lobby(limits=NORMAL) as lobby:
        first = welcomed(lobby)
        welcomed(lobby)
        assert refusal(first) == (grpc.StatusCode.ABORTED, "REPLACED")


def test_players_learn_that_the_arena_closes() -> None:
    with open_lobby(limits=NORMAL) as lobby:
        stream = welcomed(lobby)
    assert refusal(stream) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")


HELLO = hello(player="one").SerializeToString()
PLAY = "/arena.v1.PlayerService/Play"
WATCH = "/grpc.health.v1.Health/Watch"
CHECK = "/grpc.health.v1.Health/Check"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def raw_calls(lobby: OpenLobby) -> RawCalls:
    """A connection of somebody who reads nothing."""
    return RawCalls(ServerAddress.parse(lobby.address))


def comes_in_the_end(lobby: OpenLobby, player: str) -> None:
    """Have a player dial in again and again until there is room for it."""
    deadline = time.monotonic() + SECONDS
    while True:
        stream = RawStream(lobby)
        stream.hello(player)
        try:
            assert stream.hear().HasField("welcome")
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and time.monotonic() < deadline
        else:
            return
        finally:
            stream.vanish()


@pytest.mark.threat("held_places")
def test_players_who_read_nothing_lose_their_place() -> None:
    # With one player there is room for two streams.
    limits = replace(NORMAL, players=1, write_seconds=0.5)
    with open_lobby(limits=limits) as lobby, ExitStack() as connections:
        for _ in range(4):
            connections.enter_context(raw_calls(lobby)).begin(PLAY, HELLO, more=True)
            comes_in_the_end(lobby, "two")


@pytest.mark.threat("held_places")
def test_calls_that_need_no_token_hold_no_place_for_ever() -> None:
    limits = replace(NORMAL, players=1, write_seconds=0.5, health_watch_seconds=0.1)
    with open_lobby(limits=limits) as lobby, raw_calls(lobby) as deaf:
        for _ in range(2):
            deaf.begin(WATCH, b"")
            deaf.begin(REFLECT, b"", more=True)
            comes_in_the_end(lobby, "one")


@pytest.mark.parametrize("method", [WATCH, CHECK])
@pytest.mark.threat("held_places")
def test_calls_whose_message_never_comes_hold_no_place_for_ever(method: str) -> None:
    # With one player there is room for two calls.
    limits = replace(NORMAL, players=1, message_seconds=0.1, write_seconds=0.5, health_watch_seconds=0.1)
    with open_lobby(limits=limits) as lobby, raw_calls(lobby) as silent:
        calls = [silent.begin(method) for _ in range(2)]
        comes_in_the_end(lobby, "one")
        silent.until(lambda: set(calls) <= silent.ended)


def begin(channel: grpc.Channel) -> Any:
    """A call to a method of one message that sends what it likes."""
    return channel.stream_unary(CHECK)


def test_a_call_whose_message_is_late_is_refused_with_the_reason() -> None:
    limits, late = replace(NORMAL, message_seconds=0.1), threading.Event()
    with open_lobby(limits=limits) as lobby, grpc.insecure_channel(lobby.address) as channel:
        with pytest.raises(grpc.RpcError) as error:
            begin(channel)(iter(late.wait, True), timeout=SECONDS)
        late.set()
        assert serving.reason(error.value) == (grpc.StatusCode.DEADLINE_EXCEEDED, "MESSAGE_OVERDUE")


def test_a_call_of_no_message_or_of_nonsense_is_refused_with_the_reason() -> None:
    with open_lobby(limits=NORMAL) as lobby, grpc.insecure_channel(lobby.address) as channel:
        for messages in ([], [b"\xff"]):
            with pytest.raises(grpc.RpcError) as error:
                begin(channel)(iter(messages), timeout=SECONDS)
            assert serving.reason(error.value) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")


@pytest.mark.parametrize("method", [PLAY, WATCH, CHECK, REFLECT])
@pytest.mark.threat("flood")
def test_a_message_announced_as_too_large_writes_nothing_to_standard_error(method: str) -> None:
    stderr = io.StringIO()
    # To the lobby's end, as gRPC may have something to say after a call.
    with redirect_stderr(stderr), open_lobby(limits=NORMAL) as lobby, raw_calls(lobby) as stranger:
        for _ in range(10):
            call = stranger.begin(method)
            stranger.announce(call, 2**31 - 1)
            stranger.until(partial(stranger.ended.__contains__, call))
    assert stderr.getvalue() == ""


@pytest.mark.threat("flood")
def test_strangers_cannot_fill_the_log_or_hide_who_comes() -> None:
    noted: list[str] = []
    limits = replace(NORMAL, log_lines_per_second=0.0001, log_line_burst=3.0)
    authenticator = NamedPlayers({"one": None})
    with background_lobby(LOCAL, authenticator, lambda event, **_: noted.append(event), limits) as lobby:
        for _ in range(6):
            stranger = RawStream(lobby)
            stranger.hello("nobody")
            refusal(stranger)
        _held = welcomed(lobby)
        assert noted == ["player refused"] * 3 + ["player came"]
